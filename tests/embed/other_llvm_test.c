/* A program with an LLVM of its own, of another version and with its symbols visible to all, compiles and
 * runs kernels with weft's LLVM, and goes on using its own. */
#define _POSIX_C_SOURCE 200809L

#include <weft.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { skipped = 77 };

static void* other_llvm;

static void* find(const char* name) {
  void* function = dlsym(other_llvm, name);
  if (function == NULL) {
    printf("the other LLVM has no %s\n", name);
    exit(EXIT_FAILURE);
  }
  return function;
}

/* Makes an empty module with the other LLVM and returns whether its text names it. */
static int other_llvm_works(void) {
  void* (*create_context)(void);
  void* (*create_module)(const char*, void*);
  char* (*print_module)(void*);
  void (*dispose_message)(char*);
  void (*dispose_module)(void*);
  void (*dispose_context)(void*);
  *(void**)&create_context = find("LLVMContextCreate");
  *(void**)&create_module = find("LLVMModuleCreateWithNameInContext");
  *(void**)&print_module = find("LLVMPrintModuleToString");
  *(void**)&dispose_message = find("LLVMDisposeMessage");
  *(void**)&dispose_module = find("LLVMDisposeModule");
  *(void**)&dispose_context = find("LLVMContextDispose");
  void* context = create_context();
  void* module = create_module("of_the_other", context);
  char* text = print_module(module);
  const int works = strstr(text, "of_the_other") != NULL;
  dispose_message(text);
  dispose_module(module);
  dispose_context(context);
  return works;
}

/* Compiles an expression with weft's LLVM and returns whether the result is right. */
static int weft_works(void) {
  const weft_engine_options options = {sizeof options, "llvm", NULL, 1};
  float values[1000];
  const int64_t size[] = {1000};
  weft_engine* engine = NULL;
  weft_tensor *x = NULL, *y = NULL;
  for (int i = 0; i < 1000; ++i) values[i] = (float)i;
  if (weft_engine_create(&options, &engine) != WEFT_OK) return 0;
  if (weft_tensor_from_blob(values, WEFT_F32, 1, size, NULL, NULL, NULL, &x) != WEFT_OK) return 0;
  const weft_named_tensor names[] = {{"x", x}};
  if (weft_eval(engine, "maximum(2 * x - 3, sqrt(x))", 1, names, &y) != WEFT_OK) return 0;
  const float* result = weft_tensor_data(y);
  int is_right = result[1] == 1 && result[4] == 5 && result[999] == 1995;
  weft_tensor_destroy(y);
  weft_tensor_destroy(x);
  weft_engine_destroy(engine);
  return is_right;
}

int main(void) {
  other_llvm = dlopen("libLLVM-14.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (other_llvm == NULL) {
    printf("SKIPPED: there is no LLVM 14 to load: %s\n", dlerror());
    return skipped;
  }
  for (int round = 0; round < 2; ++round) {
    if (!other_llvm_works()) return printf("the other LLVM fails in round %d\n", round), EXIT_FAILURE;
    if (!weft_works()) return printf("weft fails: %s\n", weft_last_error_message()), EXIT_FAILURE;
  }
  printf("two LLVMs in one process\n");
  return EXIT_SUCCESS;
}
