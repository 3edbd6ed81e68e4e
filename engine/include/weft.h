/* weft.h: weft for C, and for whatever calls C.
 *
 * Handles are opaque.  Functions that can fail return a weft_status and write their results through
 * the last pointers, which are left alone on failure; weft_last_error_message() says more.  Nothing
 * is thrown.  The ABI is stable: functions, values and the order of members stay as they are, new
 * ones come at the end.
 *
 * Sizes count elements; strides are in elements and may be negative; both are int64_t.  Dimensions
 * may be counted from the end, as negative numbers.
 *
 * Threads: an engine may be used by many threads at once, and so may a tensor that none of them
 * writes or destroys.  Who cancels a thread (pthread_cancel, deferred) finds it ended after the
 * call that it is in; weft_plan_run on a device may end with it.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct weft_engine weft_engine; /* plans, compiles, caches and runs: make one, keep it */
typedef struct weft_tensor weft_tensor; /* a view of memory: sizes, strides, dtype */
typedef struct weft_plan weft_plan;     /* an expression with everything but its values decided */

typedef int32_t weft_status;
enum {
  WEFT_OK = 0,
  WEFT_ERROR_ARGUMENT = 1,    /* what was asked for has no meaning: shapes, dtypes, text, null;
                                 or is not there: names, files to read */
  WEFT_ERROR_UNSUPPORTED = 2, /* it has one, and nothing in this build can do it */
  WEFT_ERROR_COMPILE = 3,     /* a backend failed to compile a kernel */
  WEFT_ERROR_DEVICE = 4,      /* the system or a driver refused */
  WEFT_ERROR_ARITHMETIC = 5,  /* a value made it impossible: integer division by zero */
  WEFT_ERROR_INTERNAL = 6,    /* a bug of weft */
  WEFT_ERROR_MEMORY = 7,      /* no memory for what weft itself needs */
  WEFT_ERROR_CANCELLED = 8    /* by a C++ program's token (weft/cancel.h) */
};

typedef int32_t weft_dtype;
enum {
  WEFT_BOOL = 0,
  WEFT_U8 = 1,
  WEFT_U16 = 2,
  WEFT_U32 = 3,
  WEFT_U64 = 4,
  WEFT_I8 = 5,
  WEFT_I16 = 6,
  WEFT_I32 = 7,
  WEFT_I64 = 8,
  WEFT_F16 = 9,
  WEFT_BF16 = 10,
  WEFT_F8E4M3FN = 11,
  WEFT_F8E5M2 = 12,
  WEFT_F32 = 13,
  WEFT_F64 = 14,
  WEFT_C32 = 15, /* complex: two halves */
  WEFT_C64 = 16,
  WEFT_C128 = 17
};

/* "0.1.0" */
const char* weft_version(void);
/* Of the last call in this thread that failed; "" before that.  Valid until the next one fails.
 * UTF-8; bytes of files and arguments that are none, or can't be printed, are shown as \x1b, or as
 * spaces where a line of the text points at a place in an expression. */
const char* weft_last_error_message(void);

/* ---- engines ---- */

typedef struct weft_engine_options {
  size_t struct_bytes; /* sizeof(weft_engine_options): members behind it are not read */
  const char* backend; /* "auto", "interp", "xbyak", "llvm" or "nvrtc"; null: "auto" */
  const char*
      numerics; /* "default", "strict", "fast", "layout_invariant", "exact"; null: "default" */
  int32_t num_threads; /* at most so many work on one call; 0: as many as there are processors */
} weft_engine_options;

/* `options` may be null. */
weft_status weft_engine_create(const weft_engine_options* options, weft_engine** engine);
/* Null is allowed, here and in the other functions that destroy. */
void weft_engine_destroy(weft_engine* engine);
/* Adds an operator to what expressions may call: ("swish(x, beta)", "x / (1 + exp(-x * beta))"). */
weft_status weft_engine_define(weft_engine* engine, const char* signature, const char* expression);
/* Returns when every kernel that was hot has been compiled again by the optimising compiler. */
weft_status weft_engine_wait_optimised(weft_engine* engine);

/* ---- tensors ---- */

/* New memory, contiguous, with undefined contents. */
weft_status weft_tensor_empty(weft_dtype dtype, int32_t ndim, const int64_t* sizes,
                              weft_tensor** tensor);
/* A view of the caller's memory.  Null strides: contiguous.  `release`, if not null, is called
 * once, with `data` and `context`, when the last view of the memory is gone; not if this call
 * fails. */
weft_status weft_tensor_from_blob(void* data, weft_dtype dtype, int32_t ndim, const int64_t* sizes,
                                  const int64_t* strides,
                                  void (*release)(void* data, void* context), void* context,
                                  weft_tensor** tensor);
/* Lets go of one handle; memory goes with its last view. */
void weft_tensor_destroy(weft_tensor* tensor);

/* What a tensor is.  For a null tensor -1 or null, with a message.  Pointers are valid as long as
 * the handle is, and until a call with it as output resizes it. */
weft_dtype weft_tensor_dtype(const weft_tensor* tensor);
int32_t weft_tensor_ndim(const weft_tensor* tensor);
int64_t weft_tensor_numel(const weft_tensor* tensor);
const int64_t* weft_tensor_sizes(const weft_tensor* tensor);
const int64_t* weft_tensor_strides(const weft_tensor* tensor);
void* weft_tensor_data(const weft_tensor* tensor); /* the element with all indices 0 */
int32_t weft_tensor_is_contiguous(const weft_tensor* tensor);
int32_t weft_tensor_is_read_only(const weft_tensor* tensor);
size_t weft_dtype_bytes(weft_dtype dtype);     /* of an element; 0 if there is no such dtype */
const char* weft_dtype_name(weft_dtype dtype); /* "f32"; null if there is no such dtype */

/* Views: new handles to the same memory. */
weft_status weft_tensor_permute(const weft_tensor* tensor, int32_t num_dims, const int32_t* dims,
                                weft_tensor** view);
/* start, start + step, ... before stop, as Python slices; WEFT_NOT_GIVEN: from or to the end. */
#define WEFT_NOT_GIVEN INT64_MIN
weft_status weft_tensor_slice(const weft_tensor* tensor, int32_t dim, int64_t start, int64_t stop,
                              int64_t step, weft_tensor** view);
weft_status weft_tensor_select(const weft_tensor* tensor, int32_t dim, int64_t index,
                               weft_tensor** view);
/* -1 keeps a size. */
weft_status weft_tensor_expand(const weft_tensor* tensor, int32_t ndim, const int64_t* sizes,
                               weft_tensor** view);
/* A view where the layout allows one, else a copy; one size may be -1, and is inferred. */
weft_status weft_tensor_reshape(weft_engine* engine, const weft_tensor* tensor, int32_t ndim,
                                const int64_t* sizes, weft_tensor** result);
/* The tensor itself where it is contiguous, else a copy. */
weft_status weft_tensor_contiguous(weft_engine* engine, const weft_tensor* tensor,
                                   weft_tensor** result);

/* ---- DLPack ---- */

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* Views of others' memory.  On success the struct belongs to the tensor, which calls its deleter
 * once; on failure it is still the caller's. */
weft_status weft_tensor_from_dlpack(struct DLManagedTensor* managed, weft_tensor** tensor);
weft_status weft_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed,
                                              weft_tensor** tensor);
/* Lends the tensor's memory until the struct's deleter is called. */
weft_status weft_tensor_to_dlpack(const weft_tensor* tensor, struct DLManagedTensor** managed);
weft_status weft_tensor_to_dlpack_versioned(const weft_tensor* tensor,
                                            struct DLManagedTensorVersioned** managed);

/* ---- calls ----
 *
 * `out` is in and out: where *out is null it receives a new tensor, else *out is written, and
 * resized if it has other sizes: memory that it does not own can't grow, and holds what is smaller
 * from its beginning on. */

/* Converts layout and dtype on the way; `source` broadcasts to `destination`. */
weft_status weft_copy(weft_engine* engine, weft_tensor* destination, const weft_tensor* source);
/* An op by its name in the op table: "exp"; "add"; "where".  Masks come first, that of
 * "masked_fill", too: an expression, "masked_fill(input, mask, value)", has PyTorch's order. */
weft_status weft_unary(weft_engine* engine, const char* op, const weft_tensor* a,
                       weft_tensor** out);
weft_status weft_binary(weft_engine* engine, const char* op, const weft_tensor* a,
                        const weft_tensor* b, weft_tensor** out);
weft_status weft_ternary(weft_engine* engine, const char* op, const weft_tensor* a,
                         const weft_tensor* b, const weft_tensor* c, weft_tensor** out);

/* Names for the tensors that an expression reads. */
typedef struct weft_named_tensor {
  const char* name;
  const weft_tensor* tensor;
} weft_named_tensor;

/* "tanh(a * b + 1)", "sum(where(m, x, 0), dims=[1])": one pass over memory. */
weft_status weft_eval(weft_engine* engine, const char* expression, size_t num_names,
                      const weft_named_tensor* names, weft_tensor** out);
/* Several results: expressions[i] goes to outs[i], of its own sizes.  Those of equal sizes share a
 * pass over memory. */
weft_status weft_eval_many(weft_engine* engine, size_t num_expressions,
                           const char* const* expressions, size_t num_names,
                           const weft_named_tensor* names, weft_tensor** outs);

/* Plans and compiles now what weft_eval() would, to run later and often on the same tensors, which
 * the plan keeps alive. */
weft_status weft_prepare(weft_engine* engine, const char* expression, size_t num_names,
                         const weft_named_tensor* names, weft_tensor** out, weft_plan** plan);
/* May be called by many threads at once if they accept that all write the same output. */
weft_status weft_plan_run(const weft_plan* plan);
void weft_plan_destroy(weft_plan* plan);

/* What weft_eval() would do, as text: dtypes, layout, schedule, backend, and what `emit` lists of
 * iter, signature, ir, llvm, asm, cuda, ptx, sass, separated by commas; null: nothing of them. */
weft_status weft_explain(weft_engine* engine, const char* expression, size_t num_names,
                         const weft_named_tensor* names, const char* emit, char** text);
void weft_text_destroy(char* text);

/* ---- files ---- */

/* NumPy's .npy files. */
weft_status weft_npy_read(const char* path, weft_tensor** tensor);
weft_status weft_npy_write(const char* path, const weft_tensor* tensor);
/* One array of an .npz archive; an archive of several, deflated if `is_compressed` is not 0. */
weft_status weft_npz_read(const char* path, const char* name, weft_tensor** tensor);
weft_status weft_npz_write(const char* path, size_t num_names, const weft_named_tensor* names,
                           int32_t is_compressed);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
