/* plugin_test PLUGIN: closes a library that contains weft, whose threads go on. */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static float result = 0;

/* In a thread that ends, so that none of its objects keep the library. */
static void* use(void* library) {
  float (*run)(void) = NULL;
  void* const symbol = dlsym(library, "run_plugin");
  memcpy(&run, &symbol, sizeof run);
  if (run != NULL) result = run();
  return NULL;
}

int main(int count, char** arguments) {
  void* const library = dlopen(count == 2 ? arguments[1] : "", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, use, library) != 0 || pthread_join(thread, NULL) != 0) return 1;
  if (dlclose(library) != 0) return 1;
  const struct timespec a_while = {0, 200000000}; /* workers look for work, and then sleep */
  nanosleep(&a_while, NULL);
  printf("%g\n", (double)result);
  return result == 3 ? 0 : 1;
}
