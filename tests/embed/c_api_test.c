/* Every function of weft.h from C, with what it does when it is given something wrong.  C11, and the
 * shared library: what is not exported does not link. */
#define _POSIX_C_SOURCE 200809L

#include <weft.h>

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs that are compiled already know these numbers and places: what is added comes behind. */
_Static_assert(WEFT_OK == 0 && WEFT_ERROR_ARGUMENT == 1 && WEFT_ERROR_UNSUPPORTED == 2 &&
                   WEFT_ERROR_COMPILE == 3 && WEFT_ERROR_DEVICE == 4 &&
                   WEFT_ERROR_ARITHMETIC == 5 && WEFT_ERROR_INTERNAL == 6 &&
                   WEFT_ERROR_MEMORY == 7 && WEFT_ERROR_CANCELLED == 8,
               "statuses keep their numbers");
_Static_assert(WEFT_BOOL == 0 && WEFT_U64 == 4 && WEFT_I64 == 8 && WEFT_F16 == 9 &&
                   WEFT_F8E5M2 == 12 && WEFT_F32 == 13 && WEFT_C128 == 17,
               "dtypes keep their numbers");
_Static_assert(sizeof(weft_status) == 4 && sizeof(weft_dtype) == 4, "enumerations are of 32 bits");
_Static_assert(offsetof(weft_engine_options, struct_bytes) == 0 &&
                   offsetof(weft_engine_options, backend) == 8 &&
                   offsetof(weft_engine_options, numerics) == 16 &&
                   offsetof(weft_engine_options, num_threads) == 24,
               "members of the options keep their places");
_Static_assert(offsetof(weft_named_tensor, name) == 0 && offsetof(weft_named_tensor, tensor) == 8 &&
                   sizeof(weft_named_tensor) == 16,
               "arrays of named tensors have room for nothing else");

static int num_failures = 0;

#define CHECK(condition)                                                                         \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      printf("%s:%d: %s is false; last error: %s\n", __FILE__, __LINE__, #condition,             \
             weft_last_error_message());                                                         \
      ++num_failures;                                                                            \
    }                                                                                            \
  } while (0)
#define CHECK_OK(call) CHECK((call) == WEFT_OK)
#define CHECK_FAILS(call, status, text)                                                          \
  do {                                                                                           \
    CHECK((call) == (status));                                                                   \
    CHECK(strstr(weft_last_error_message(), (text)) != NULL);                                    \
  } while (0)

static weft_tensor* tensor_of(const float* values, int32_t ndim, const int64_t* sizes) {
  weft_tensor* tensor = NULL;
  CHECK_OK(weft_tensor_empty(WEFT_F32, ndim, sizes, &tensor));
  memcpy(weft_tensor_data(tensor), values, (size_t)weft_tensor_numel(tensor) * sizeof(float));
  return tensor;
}

static int has_values(const weft_tensor* tensor, const float* values, int64_t count) {
  if (weft_tensor_dtype(tensor) != WEFT_F32 || weft_tensor_numel(tensor) != count) return 0;
  return weft_tensor_is_contiguous(tensor) == 1 &&
         memcmp(weft_tensor_data(tensor), values, (size_t)count * sizeof(float)) == 0;
}

static int has_dims(const int64_t* dims, int32_t count, int64_t first, int64_t second) {
  return count == 2 && dims != NULL && dims[0] == first && dims[1] == second;
}

static void count_release(void* data, void* context) {
  (void)data;
  ++*(int*)context;
}

static void test_engines(void) {
  weft_engine* engine = NULL;
  weft_engine_options options = {sizeof options, "interp", "strict", 1};
  CHECK_OK(weft_engine_create(&options, &engine));
  weft_engine_destroy(engine);
  options.struct_bytes = sizeof(size_t); /* a program that knows no member yet */
  options.backend = "nonsense";
  CHECK_OK(weft_engine_create(&options, &engine));
  weft_engine_destroy(engine);
  weft_engine_destroy(NULL);

  options.struct_bytes = offsetof(weft_engine_options, backend) + 4; /* half a pointer is none */
  CHECK_OK(weft_engine_create(&options, &engine));
  weft_engine_destroy(engine);

  engine = NULL;
  options.struct_bytes = sizeof options;
  CHECK_FAILS(weft_engine_create(&options, &engine), WEFT_ERROR_ARGUMENT, "nonsense");
  options.backend = NULL;
  options.numerics = "wild";
  CHECK_FAILS(weft_engine_create(&options, &engine), WEFT_ERROR_ARGUMENT, "wild");
  options.numerics = NULL;
  options.num_threads = -1;
  CHECK_FAILS(weft_engine_create(&options, &engine), WEFT_ERROR_ARGUMENT, "");
  options.struct_bytes = 0;
  CHECK_FAILS(weft_engine_create(&options, &engine), WEFT_ERROR_ARGUMENT, "struct_bytes");
  CHECK_FAILS(weft_engine_create(NULL, NULL), WEFT_ERROR_ARGUMENT, "a place for the engine");
  CHECK(engine == NULL);
}

static void test_tensors(void) {
  const int64_t sizes[] = {2, 3};
  const int64_t negative[] = {2, -3};
  const int64_t huge[] = {INT64_MAX / 2, INT64_MAX / 2};
  const int64_t strides[] = {1, 2};
  float values[6] = {0, 1, 2, 3, 4, 5};
  int num_releases = 0;
  weft_tensor* tensor = NULL;
  CHECK_OK(weft_tensor_empty(WEFT_BF16, 2, sizes, &tensor));
  CHECK(weft_tensor_dtype(tensor) == WEFT_BF16 && weft_tensor_ndim(tensor) == 2);
  CHECK(has_dims(weft_tensor_sizes(tensor), 2, 2, 3));
  CHECK(has_dims(weft_tensor_strides(tensor), 2, 3, 1));
  CHECK(weft_tensor_numel(tensor) == 6 && weft_tensor_is_read_only(tensor) == 0);
  weft_tensor_destroy(tensor);
  CHECK_OK(weft_tensor_empty(WEFT_I64, 0, NULL, &tensor));
  CHECK(weft_tensor_ndim(tensor) == 0 && weft_tensor_numel(tensor) == 1);
  weft_tensor_destroy(tensor);
  CHECK(strcmp(weft_dtype_name(WEFT_C128), "c128") == 0 && weft_dtype_bytes(WEFT_C128) == 16);
  CHECK(weft_dtype_name(18) == NULL && weft_dtype_bytes(-1) == 0);

  CHECK_OK(weft_tensor_from_blob(values, WEFT_F32, 2, sizes, strides, count_release, &num_releases,
                                 &tensor));
  CHECK(weft_tensor_data(tensor) == values && weft_tensor_is_contiguous(tensor) == 0);
  CHECK(has_dims(weft_tensor_strides(tensor), 2, 1, 2) && num_releases == 0);
  weft_tensor_destroy(tensor);
  CHECK(num_releases == 1);
  weft_tensor_destroy(NULL);

  tensor = NULL;
  CHECK_FAILS(weft_tensor_from_blob(NULL, WEFT_F32, 2, sizes, NULL, count_release, &num_releases,
                                    &tensor),
              WEFT_ERROR_ARGUMENT, "null");
  CHECK_FAILS(weft_tensor_from_blob(values, 99, 2, sizes, NULL, count_release, &num_releases,
                                    &tensor),
              WEFT_ERROR_ARGUMENT, "expected a dtype from 0 to 17, got 99");
  CHECK(num_releases == 1); /* what failed has not taken the memory over */
  CHECK_FAILS(weft_tensor_empty(WEFT_F32, 2, negative, &tensor), WEFT_ERROR_ARGUMENT, "-3");
  CHECK_FAILS(weft_tensor_empty(WEFT_F32, 2, huge, &tensor), WEFT_ERROR_ARGUMENT, "overflow");
  CHECK_FAILS(weft_tensor_empty(WEFT_F32, 2, NULL, &tensor), WEFT_ERROR_ARGUMENT,
              "expected 2 sizes, got a null pointer");
  CHECK_FAILS(weft_tensor_empty(WEFT_F32, -1, sizes, &tensor), WEFT_ERROR_ARGUMENT, "got -1");
  CHECK_FAILS(weft_tensor_empty(WEFT_F32, 2, sizes, NULL), WEFT_ERROR_ARGUMENT, "a place for");
  CHECK(tensor == NULL);
  CHECK(weft_tensor_dtype(NULL) == -1 && weft_tensor_ndim(NULL) == -1);
  CHECK(weft_tensor_numel(NULL) == -1 && weft_tensor_is_contiguous(NULL) == -1);
  CHECK(weft_tensor_is_read_only(NULL) == -1 && weft_tensor_sizes(NULL) == NULL);
  CHECK(weft_tensor_strides(NULL) == NULL && weft_tensor_data(NULL) == NULL);
}

static void test_views(weft_engine* engine) {
  const int64_t sizes[] = {2, 3}, flat[] = {-1}, wrong[] = {4}, wide[] = {5, 2, 3};
  const int32_t swapped[] = {1, 0}, twice[] = {0, 0};
  const float values[6] = {0, 1, 2, 3, 4, 5}, turned[6] = {0, 3, 1, 4, 2, 5};
  weft_tensor* tensor = tensor_of(values, 2, sizes);
  weft_tensor *t = NULL, *view = NULL, *result = NULL;
  CHECK_OK(weft_tensor_permute(tensor, 2, swapped, &t));
  CHECK(has_dims(weft_tensor_sizes(t), 2, 3, 2) && has_dims(weft_tensor_strides(t), 2, 1, 3));
  CHECK_OK(weft_tensor_contiguous(engine, t, &result));
  CHECK(has_values(result, turned, 6));
  weft_tensor_destroy(result);
  CHECK_OK(weft_tensor_reshape(engine, t, 1, flat, &result));
  CHECK(weft_tensor_ndim(result) == 1 && has_values(result, turned, 6));
  weft_tensor_destroy(result);
  CHECK_OK(weft_tensor_slice(tensor, -1, WEFT_NOT_GIVEN, WEFT_NOT_GIVEN, 2, &view));
  CHECK(has_dims(weft_tensor_sizes(view), 2, 2, 2) && has_dims(weft_tensor_strides(view), 2, 3, 2));
  weft_tensor_destroy(view);
  CHECK_OK(weft_tensor_slice(tensor, 1, WEFT_NOT_GIVEN, 0, -1, &view));
  CHECK(has_dims(weft_tensor_strides(view), 2, 3, -1));
  CHECK(*(float*)weft_tensor_data(view) == 2);
  weft_tensor_destroy(view);
  CHECK_OK(weft_tensor_select(tensor, 0, -1, &view));
  CHECK(weft_tensor_ndim(view) == 1 && *(float*)weft_tensor_data(view) == 3);
  weft_tensor_destroy(view);
  CHECK_OK(weft_tensor_expand(tensor, 3, wide, &view));
  CHECK(weft_tensor_numel(view) == 30 && weft_tensor_strides(view)[0] == 0);
  weft_tensor_destroy(view);

  view = NULL;
  CHECK_FAILS(weft_tensor_permute(tensor, 2, twice, &view), WEFT_ERROR_ARGUMENT, "duplicate");
  CHECK_FAILS(weft_tensor_slice(tensor, 2, 0, 1, 1, &view), WEFT_ERROR_ARGUMENT, "out of range");
  CHECK_FAILS(weft_tensor_slice(tensor, 0, 0, 1, 0, &view), WEFT_ERROR_ARGUMENT, "step");
  CHECK_FAILS(weft_tensor_select(tensor, 0, 2, &view), WEFT_ERROR_ARGUMENT, "out of range");
  CHECK_FAILS(weft_tensor_expand(tensor, 1, wrong, &view), WEFT_ERROR_ARGUMENT, "expand");
  CHECK_FAILS(weft_tensor_reshape(engine, tensor, 1, wrong, &view), WEFT_ERROR_ARGUMENT, "[4]");
  CHECK_FAILS(weft_tensor_reshape(NULL, tensor, 1, flat, &view), WEFT_ERROR_ARGUMENT, "an engine");
  CHECK_FAILS(weft_tensor_contiguous(engine, NULL, &view), WEFT_ERROR_ARGUMENT, "a tensor");
  CHECK_FAILS(weft_tensor_permute(tensor, 2, swapped, NULL), WEFT_ERROR_ARGUMENT, "a place for");
  CHECK(view == NULL);
  weft_tensor_destroy(t);
  weft_tensor_destroy(tensor);
}

static void test_calls(weft_engine* engine) {
  const int64_t size[] = {3}, other_size[] = {2};
  const float a_values[] = {1, -2, 3}, b_values[] = {10, 20, 30};
  const float absolute[] = {1, 2, 3}, sums[] = {11, 18, 33}, lerps[] = {10, -46, 84};
  weft_tensor *a = tensor_of(a_values, 1, size), *b = tensor_of(b_values, 1, size);
  weft_tensor *out = NULL, *whole = NULL, *two = tensor_of(a_values, 1, other_size);
  CHECK_OK(weft_unary(engine, "abs", a, &out));
  CHECK(has_values(out, absolute, 3));
  CHECK_OK(weft_binary(engine, "add", a, b, &out)); /* into what is there now */
  CHECK(has_values(out, sums, 3));
  CHECK_OK(weft_ternary(engine, "lerp", a, b, a, &out));
  CHECK(has_values(out, lerps, 3));
  CHECK_OK(weft_copy(engine, out, b));
  CHECK(has_values(out, b_values, 3));
  CHECK_OK(weft_tensor_empty(WEFT_I32, 1, size, &whole));
  CHECK_OK(weft_copy(engine, whole, a));
  CHECK(((int32_t*)weft_tensor_data(whole))[1] == -2);

  CHECK_FAILS(weft_unary(engine, "nonsense", a, &out), WEFT_ERROR_ARGUMENT, "unknown op 'nonsense'");
  CHECK_FAILS(weft_unary(engine, "load", a, &out), WEFT_ERROR_ARGUMENT, "unknown op 'load'");
  CHECK_FAILS(weft_binary(engine, "table_entry", a, a, &out), WEFT_ERROR_ARGUMENT,
              "unknown op 'table_entry'");
  CHECK_FAILS(weft_unary(engine, "add", a, &out), WEFT_ERROR_ARGUMENT, "add takes 2 operands, got 1");
  CHECK_FAILS(weft_unary(engine, NULL, a, &out), WEFT_ERROR_ARGUMENT, "the name of an op");
  CHECK_FAILS(weft_binary(engine, "add", a, two, &out), WEFT_ERROR_ARGUMENT, "must match");
  CHECK_FAILS(weft_binary(engine, "add", a, NULL, &out), WEFT_ERROR_ARGUMENT, "a tensor");
  CHECK_FAILS(weft_ternary(engine, "lerp", a, b, a, NULL), WEFT_ERROR_ARGUMENT, "a place for");
  CHECK_FAILS(weft_copy(engine, two, a), WEFT_ERROR_ARGUMENT, "");
  CHECK_FAILS(weft_copy(engine, NULL, a), WEFT_ERROR_ARGUMENT, "a tensor");
  CHECK(has_values(out, b_values, 3)); /* what fails writes nothing */
  weft_tensor_destroy(two);
  weft_tensor_destroy(whole);
  weft_tensor_destroy(out);
  weft_tensor_destroy(b);
  weft_tensor_destroy(a);
}

static void test_expressions(weft_engine* engine) {
  const int64_t size[] = {3};
  const float a_values[] = {1, -2, 3}, b_values[] = {10, 20, 30};
  const float zeros[] = {0, 0, 0};
  weft_tensor *a = tensor_of(a_values, 1, size), *b = tensor_of(b_values, 1, size);
  const weft_named_tensor names[] = {{"a", a}, {"b", b}};
  const weft_named_tensor broken[] = {{"a", a}, {"b", NULL}};
  const char* several[] = {"2 * b + a * a", "sum(a)"};
  weft_tensor *out = NULL, *outs[2] = {NULL, NULL};
  weft_plan* plan = NULL;
  char* text = NULL;
  CHECK_OK(weft_eval(engine, "a + 2 * b + (a < 0) - 0", 2, names, &out));
  CHECK(((float*)weft_tensor_data(out))[1] == 39);
  CHECK_OK(weft_engine_define(engine, "twice_and(x, y)", "2 * x + y"));
  CHECK_OK(weft_eval(engine, "twice_and(b, 1)", 2, names, &out));
  CHECK(((float*)weft_tensor_data(out))[2] == 61);
  CHECK_OK(weft_eval_many(engine, 2, several, 2, names, outs));
  CHECK(((float*)weft_tensor_data(outs[0]))[1] == 44);
  CHECK(weft_tensor_ndim(outs[1]) == 0); /* each result has its own sizes */
  CHECK(((float*)weft_tensor_data(outs[1]))[0] == 2);
  CHECK_OK(weft_eval(engine, "1 + 2", 0, NULL, outs));
  CHECK_OK(weft_engine_wait_optimised(engine));

  CHECK_OK(weft_prepare(engine, "a - a", 2, names, &out, &plan));
  CHECK_OK(weft_plan_run(plan));
  CHECK(has_values(out, zeros, 3));
  weft_plan_destroy(plan);
  weft_tensor_destroy(out);
  out = NULL;
  CHECK_OK(weft_prepare(engine, "a * 1", 2, names, &out, &plan));
  ((float*)weft_tensor_data(a))[0] = 5;
  CHECK_OK(weft_plan_run(plan));
  CHECK(((float*)weft_tensor_data(out))[0] == 5);
  weft_plan_destroy(plan);
  weft_plan_destroy(NULL);
  CHECK_OK(weft_explain(engine, "a + b", 2, names, "ir, signature ,", &text));
  CHECK(text != NULL && strstr(text, "result: f32[3]") != NULL);
  CHECK(text != NULL && strstr(text, "--- ir ---") != NULL && strstr(text, "add f32") != NULL);
  weft_text_destroy(text);
  weft_text_destroy(NULL);

  text = NULL;
  plan = NULL;
  CHECK_FAILS(weft_eval(engine, "a +", 2, names, &out), WEFT_ERROR_ARGUMENT, "^");
  CHECK_FAILS(weft_eval(engine, "a + c", 2, names, &out), WEFT_ERROR_ARGUMENT, "c");
  CHECK_FAILS(weft_eval(engine, "a + b", 2, broken, &out), WEFT_ERROR_ARGUMENT, "the name 'b'");
  CHECK_FAILS(weft_eval(engine, NULL, 2, names, &out), WEFT_ERROR_ARGUMENT, "an expression");
  CHECK_FAILS(weft_eval(engine, "a", 2, NULL, &out), WEFT_ERROR_ARGUMENT, "2 named tensors");
  CHECK_FAILS(weft_eval_many(engine, 2, several, 2, names, NULL), WEFT_ERROR_ARGUMENT, "2 places");
  CHECK_FAILS(weft_prepare(engine, "a", 2, names, &out, NULL), WEFT_ERROR_ARGUMENT, "the plan");
  CHECK_FAILS(weft_prepare(engine, "(a", 2, names, &out, &plan), WEFT_ERROR_ARGUMENT, "^");
  CHECK_FAILS(weft_plan_run(NULL), WEFT_ERROR_ARGUMENT, "a plan");
  CHECK_FAILS(weft_explain(engine, "a", 2, names, "nonsense", &text), WEFT_ERROR_ARGUMENT, "nonsense");
  CHECK_FAILS(weft_engine_define(engine, "exp(x)", "x"), WEFT_ERROR_ARGUMENT, "exp");
  CHECK_FAILS(weft_engine_define(engine, NULL, "x"), WEFT_ERROR_ARGUMENT, "a signature");
  CHECK_FAILS(weft_engine_wait_optimised(NULL), WEFT_ERROR_ARGUMENT, "an engine");
  CHECK(plan == NULL && text == NULL);
  weft_tensor_destroy(outs[1]);
  weft_tensor_destroy(outs[0]);
  weft_tensor_destroy(out);
  weft_tensor_destroy(b);
  weft_tensor_destroy(a);
}

static void test_arithmetic_error(weft_engine* engine) {
  const int64_t size[] = {2};
  weft_tensor *a = NULL, *out = NULL;
  CHECK_OK(weft_tensor_empty(WEFT_I32, 1, size, &a));
  memset(weft_tensor_data(a), 0, 8);
  CHECK_FAILS(weft_binary(engine, "div_floor", a, a, &out), WEFT_ERROR_ARITHMETIC, "");
  CHECK(out == NULL);
  weft_tensor_destroy(a);
}

static void test_dlpack(void) {
  const int64_t sizes[] = {2, 3};
  const float values[] = {0, 1, 2, 3, 4, 5};
  weft_tensor *tensor = tensor_of(values, 2, sizes), *back = NULL, *versioned_back = NULL;
  struct DLManagedTensor* managed = NULL;
  struct DLManagedTensorVersioned* versioned = NULL;
  CHECK_OK(weft_tensor_to_dlpack(tensor, &managed));
  CHECK_OK(weft_tensor_to_dlpack_versioned(tensor, &versioned));
  weft_tensor_destroy(tensor);
  CHECK_OK(weft_tensor_from_dlpack(managed, &back));
  CHECK_OK(weft_tensor_from_dlpack_versioned(versioned, &versioned_back));
  CHECK(has_values(back, values, 6) && weft_tensor_data(back) == weft_tensor_data(versioned_back));
  weft_tensor_destroy(back);
  CHECK(has_values(versioned_back, values, 6));
  weft_tensor_destroy(versioned_back);
  back = NULL;
  CHECK_FAILS(weft_tensor_from_dlpack(NULL, &back), WEFT_ERROR_ARGUMENT, "null");
  CHECK_FAILS(weft_tensor_from_dlpack_versioned(NULL, &back), WEFT_ERROR_ARGUMENT, "null");
  CHECK_FAILS(weft_tensor_to_dlpack(NULL, &managed), WEFT_ERROR_ARGUMENT, "a tensor");
  CHECK_FAILS(weft_tensor_to_dlpack_versioned(NULL, &versioned), WEFT_ERROR_ARGUMENT, "a tensor");
  CHECK(back == NULL);
}

/* What could not be lent is not: memory on loan could not be resized. */
static void test_lending_nowhere(weft_engine* engine) {
  const int64_t sizes[] = {2}, more_sizes[] = {5};
  const float values[] = {0, 1, 2, 3, 4};
  weft_tensor *tensor = tensor_of(values, 1, sizes), *more = tensor_of(values, 1, more_sizes);
  const weft_named_tensor names[] = {{"a", more}};
  CHECK_FAILS(weft_tensor_to_dlpack(tensor, NULL), WEFT_ERROR_ARGUMENT, "a place for the struct");
  CHECK_FAILS(weft_tensor_to_dlpack_versioned(tensor, NULL), WEFT_ERROR_ARGUMENT,
              "a place for the struct");
  CHECK_OK(weft_eval(engine, "a + 0", 1, names, &tensor));
  CHECK(has_values(tensor, values, 5));
  weft_tensor_destroy(tensor);
  weft_tensor_destroy(more);
}

static void test_files(void) {
  const char* folder = getenv("TMPDIR");
  const int64_t sizes[] = {2, 3};
  const float values[] = {0, 1, 2, 3, 4, 5};
  char path[4096];
  weft_tensor *tensor = tensor_of(values, 2, sizes), *back = NULL;
  const weft_named_tensor names[] = {{"a", tensor}, {"b", tensor}};
  snprintf(path, sizeof path, "%s/weft_c_api_XXXXXX", folder == NULL ? "/tmp" : folder);
  const int descriptor = mkstemp(path);
  CHECK(descriptor >= 0);
  close(descriptor);
  CHECK_OK(weft_npy_write(path, tensor));
  CHECK_OK(weft_npy_read(path, &back));
  CHECK(has_values(back, values, 6));
  weft_tensor_destroy(back);
  CHECK_OK(weft_npz_write(path, 2, names, 1));
  CHECK_OK(weft_npz_read(path, "b", &back));
  CHECK(has_values(back, values, 6));
  weft_tensor_destroy(back);
  back = NULL;
  CHECK_FAILS(weft_npz_read(path, "c", &back), WEFT_ERROR_ARGUMENT, "it has a, b");
  CHECK_FAILS(weft_npz_read(path, NULL, &back), WEFT_ERROR_ARGUMENT, "the name of an array");
  CHECK_FAILS(weft_npy_read(path, &back), WEFT_ERROR_ARGUMENT, "not a .npy file");
  CHECK_FAILS(weft_npy_read("/nowhere/x", &back), WEFT_ERROR_ARGUMENT, "/nowhere/x");
  CHECK_FAILS(weft_npy_write("/nowhere/x", tensor), WEFT_ERROR_DEVICE, "/nowhere/x");
  CHECK_FAILS(weft_npz_write(path, 2, NULL, 0), WEFT_ERROR_ARGUMENT, "2 named tensors");
  CHECK(back == NULL);
  CHECK(remove(path) == 0);
  weft_tensor_destroy(tensor);
}

static void write_release(void* data, void* path) {
  const int descriptor = open(path, O_WRONLY);
  (void)data;
  CHECK(write(descriptor, "released", 8) == 8);
  close(descriptor);
}

/* write() would be where a thread ends that was cancelled before. */
static void* write_cancelled(void* path) {
  const int64_t sizes[] = {3};
  const float values[] = {0, 1, 2};
  weft_tensor* const tensor = tensor_of(values, 1, sizes);
  pthread_cancel(pthread_self());
  CHECK_OK(weft_npy_write(path, tensor));
  weft_tensor_destroy(tensor);
  static float memory[3];
  weft_tensor* lent = NULL;
  CHECK_OK(weft_tensor_from_blob(memory, WEFT_F32, 1, sizes, NULL, write_release, path, &lent));
  weft_tensor_destroy(lent);
  pthread_testcancel();
  CHECK(!"the thread goes on");
  return NULL;
}

static void test_cancelled_threads(void) {
  const char* folder = getenv("TMPDIR");
  char path[4096];
  pthread_t thread;
  void* result = NULL;
  snprintf(path, sizeof path, "%s/weft_c_api_XXXXXX", folder == NULL ? "/tmp" : folder);
  const int descriptor = mkstemp(path);
  CHECK(descriptor >= 0);
  close(descriptor);
  CHECK(pthread_create(&thread, NULL, write_cancelled, path) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED);
  CHECK(remove(path) == 0);
}

static void* message_of_new_thread(void* unused) {
  (void)unused;
  return (void*)(weft_last_error_message()[0] == '\0' ? "empty" : NULL);
}

static void test_messages(void) {
  pthread_t thread;
  void* result = NULL;
  CHECK(weft_tensor_ndim(NULL) == -1);
  CHECK(strcmp(weft_last_error_message(), "expected a tensor, got a null pointer") == 0);
  CHECK(pthread_create(&thread, NULL, message_of_new_thread, NULL) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result != NULL); /* each thread has its own */
  /* Whatever is quoted can be printed. */
  weft_tensor* none = NULL;
  CHECK_FAILS(weft_npy_read("/no\x1b[31m\xff\xc3\xa9\xed\xa0\x80", &none), WEFT_ERROR_ARGUMENT,
              "/no\\x1b[31m\\xff\xc3\xa9\\xed\\xa0\\x80");
}

int main(void) {
  weft_engine* engine = NULL;
  int major = -1, minor = -1, patch = -1;
  CHECK(weft_last_error_message()[0] == '\0');
  CHECK(sscanf(weft_version(), "%d.%d.%d", &major, &minor, &patch) == 3 && major >= 0);
  test_engines();
  CHECK_OK(weft_engine_create(NULL, &engine));
  test_tensors();
  test_views(engine);
  test_calls(engine);
  test_expressions(engine);
  test_arithmetic_error(engine);
  test_dlpack();
  test_lending_nowhere(engine);
  test_files();
  test_cancelled_threads();
  test_messages();
  weft_engine_destroy(engine);
  printf(num_failures == 0 ? "weft.h does what it says\n" : "%d checks failed\n", num_failures);
  return num_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
