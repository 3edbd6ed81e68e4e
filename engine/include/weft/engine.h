// Engine: plans, compiles, caches and runs.
#pragma once

#include <weft/define.h>
#include <weft/disk_cache.h>
#include <weft/expr.h>
#include <weft/numerics.h>
#include <weft/reduce.h>
#include <weft/story.h>
#include <weft/tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

struct EngineOptions {
  /// "auto": tensors on the CPU by the tiers below, tensors on a CUDA device there.  Or one of
  /// "interp", "xbyak", "llvm", "nvrtc": then nothing else runs, and what it can't do is an
  /// UnsupportedError.  "nvrtc" computes tensors of the CPU on a device, too, by way of copies.
  std::string backend = "auto";
  Numerics numerics = Numerics::standard;
  int num_threads = 0;  ///< at most so many work on one call; 0: as many as there are processors

  // How backend "auto" goes from code that is there at once to code that is faster.  None of this
  // changes a result.
  std::string tiers = "xbyak,llvm";  ///< that may compile; the interpreter serves what is left
  /// Calls (4096 elements count as one more, each part of a call that is cut as one) that make a
  /// kernel hot; 0: its first plan does.
  int threshold = 64;
  bool background = true;  ///< compile hot kernels on a thread of their own; else in the call
  /// Calls, counted in the same way, of one expression on operands of the same sizes and strides
  /// after which LLVM compiles its kernel once more, with extents and strides as constants.  The
  /// engine keeps what it makes if it is faster.  Only rows of at most 128 elements gain.
  int shape_threshold = 16384;
  /// At most so many plans at a time have such code, or are having it compiled, those first that
  /// are hot first; 0: none.  It takes some hundred bytes to some KiB.  Plans for which it was not
  /// found to be faster keep it while they live, as a call may be in it; those for which it could
  /// not be compiled do not count.
  int max_shapes = 64;
  /// Where compiled kernels are kept for other processes; if not given, as the environment says.
  std::optional<DiskCacheOptions> disk_cache = std::nullopt;
  /// Calls that move so many bytes, read and written together, write past the caches; 0: by the
  /// sizes of the caches.  Calls that transpose go by what each thread moves, 4 MiB or more.
  std::int64_t streaming_bytes = 0;
};

/// Counters since the engine was made.
struct EngineStats {
  std::uint64_t plan_hits = 0;         ///< calls that found their finished plan
  std::uint64_t plan_misses = 0;       ///< calls that ran the iterator
  std::uint64_t plan_evictions = 0;    ///< plans dropped to make room for others
  std::uint64_t kernel_hits = 0;       ///< plans whose kernel was already compiled
  std::uint64_t kernel_misses = 0;     ///< compilations
  std::uint64_t kernel_evictions = 0;  ///< kernels without plans, dropped to make room for others
  double compile_us = 0;               ///< spent in them
  std::uint64_t code_bytes = 0;
  std::map<std::string, std::uint64_t> compiles_by_backend;
  std::uint64_t hot_kernels = 0;       ///< that were or will be compiled again, by the LLVM tier
  std::uint64_t promoted_kernels = 0;  ///< of those, that run their new code for good
  std::uint64_t demoted_kernels = 0;   ///< whose new code was found to be slower
  std::uint64_t failed_kernels = 0;    ///< that could not be compiled again
  std::uint64_t disk_loads = 0;        ///< kernels that came from the disk instead of a compiler
  std::uint64_t hot_shapes = 0;        ///< plans that got or will get code for their shape alone
  std::uint64_t promoted_shapes = 0;   ///< of those, that run it for good
  std::uint64_t demoted_shapes = 0;    ///< for which it was not found to be faster
  std::uint64_t failed_shapes = 0;     ///< for which it could not be compiled
  DiskCacheStats disk;

  /// One object, with these names.
  std::string json() const;
};

/// One call, planned and compiled but not run; the fields of `weft explain --json`.
struct Explanation {
  struct Operand {
    std::string name;
    std::string role;  ///< "output" or "input"
    DType dtype;
    std::vector<std::int64_t> stride_bytes;  ///< along `shape`
  };
  DType result_dtype;
  std::vector<std::int64_t> result_sizes;
  std::vector<std::int64_t> result_strides;  ///< in elements
  DType common_dtype;
  std::string fast_setup;
  std::vector<int> perm;
  std::vector<std::int64_t> shape;  ///< coalesced, fastest dimension first
  std::vector<Operand> operands;
  std::string signature;
  std::uint64_t signature_hash = 0;
  std::string backend;  ///< "precompiled": loops that were compiled with weft are all that runs
  std::vector<std::string>
      refusals;  ///< "xbyak: exp f32 has no row": why the tiers before it didn't take it
  std::string schedule;
  double compile_us = 0;
  /// The reductions and scans that run before the kernel described here, in this order; where the
  /// expression is itself one, it is the last of them, and the kernel computes what it reduces.
  /// Before them all, the parts of an expression that is too much for one kernel.
  std::vector<std::string> passes;
  /// A loop that was compiled with weft, and that the call runs in its reductions and scans.
  struct PrecompiledLoop {
    std::string name;             ///< "Loops::rows of jit/fold/loops.h, maximum f32"
    std::string instruction_set;  ///< "avx512"
    std::string purpose;          ///< "folds rows to one element each"
  };
  std::vector<PrecompiledLoop> precompiled;
  std::map<std::string, std::string>
      texts;    ///< "iter", "signature", "ir", "llvm", "asm", "cuda", "ptx", "sass": as asked for
  Story story;  ///< the same and the reasons, for people: story_text() of weft/story.h
};

struct ExplainOptions {
  std::string backend = "auto";
  std::string target = "host";    ///< host | avx2 | avx512
  std::string arch = {};          ///< with backend "nvrtc": sm_80, sm_90 ...; sm_90 if not given
  std::vector<std::string> emit;  ///< of iter, signature, ir, llvm, asm, cuda, ptx, sass
  Numerics numerics = Numerics::standard;
};

/// The tensor that a call would return.
struct Inferred {
  DType dtype = DType::f32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  ///< in elements
};

/// What Engine::to() changes; what is not given stays.
struct ToOptions {
  std::optional<DType> dtype;
  std::optional<Device> device;
  MemoryFormat memory_format = MemoryFormat::preserve;
  bool copy = false;  ///< a new tensor in any case
  /// Between CPU and device: returns before the copy is done where the memory of the host is
  /// pinned. To the CPU the new tensor is pinned then, and holds its values once
  /// cuda::synchronize() returns.
  bool non_blocking = false;
};

/// A call with everything but the addresses decided.  Runs on other pointers of the same layout.
///
/// Threads: run() may be called by many threads at once.
class PreparedPlan {
 public:
  /// Runs on the tensors that it was prepared with.
  void run() const;
  /// Runs on other memory: one address an operand, outputs first, then inputs in the order in which
  /// the expressions first read them, arguments from left to right; what is read twice by the same
  /// view is one input. The layouts must be those it was prepared with, an output must be an input
  /// where it was one then, and share no memory with others; nothing of this is checked.
  ///
  /// Errors: ArgumentError if there are not num_operands() addresses.
  void run(std::span<std::byte* const> data) const;
  int num_operands() const;
  const std::vector<Tensor>& outputs() const;

  struct State;
  /// Requires: `state` is not null.
  explicit PreparedPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  // What is moved is copied: no plan is ever without a state.
  PreparedPlan(const PreparedPlan&) = default;
  PreparedPlan& operator=(const PreparedPlan&) = default;

 private:
  std::shared_ptr<const State> state_;
};

/// Where work is done.  Make one and keep it: it owns the kernel cache.
///
/// Outputs: a call with a given output writes it (resizing an output of the wrong size, as PyTorch
///          does with out=); a call without returns a new tensor in the memory format PyTorch would
///          choose.
///
/// Threads: all functions may be called by many threads at once.
///
/// Errors:  ArgumentError, UnsupportedError, CompileError, DeviceError, ArithmeticError; except for
///          the last, nothing has been written to any output when they are thrown.  CancelledError
///          (weft/cancel.h) leaves outputs half written.
class Engine {
 public:
  explicit Engine(EngineOptions options = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Copies `src` into `dst`, converting layout and dtype on the way.  `src` broadcasts to
  /// `dst.sizes()`.  `non_blocking` as in ToOptions.
  ///
  /// Aliasing: the same view twice is a no-op.
  ///
  /// Mirrors:  at::native::copy_.
  void copy(const Tensor& dst, const Tensor& src, bool non_blocking = false);

  Tensor unary(Op op, const Tensor& a);
  void unary(Op op, const Tensor& a, const Tensor& out);
  Tensor binary(Op op, const Tensor& a, const Tensor& b);
  void binary(Op op, const Tensor& a, const Tensor& b, const Tensor& out);
  /// In the order of the op table: masks first, that of masked_fill, too.
  Tensor ternary(Op op, const Tensor& a, const Tensor& b, const Tensor& c);
  void ternary(Op op, const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& out);

  /// Mantissa and exponent of each element, in one pass.  Mirrors: torch.frexp.
  std::pair<Tensor, Tensor> frexp(const Tensor& a);

  /// `a` reduced or scanned, as weft/reduce.h has it.  sum, nansum, prod, mean, cumsum and cumprod
  /// into a given output compute in its dtype where none is asked for; mean of integers is to be
  /// asked for one all the same.
  /// Errors: ArgumentError if an output for places is not i64.
  /// Mirrors: torch's functions of these names.
  Tensor reduce(Reduction reduction, const Tensor& a, const ReduceOptions& options = {});
  void reduce(Reduction reduction, const Tensor& a, const ReduceOptions& options,
              const Tensor& out);
  // Two results at once: the second of max, min, cummax and cummin says where the first is.  Of
  // equals that is the first place, of scans the last one so far; `reverse` scans begin at the end.
  std::pair<Tensor, Tensor> aminmax(const Tensor& a, const ReduceOptions& options = {});
  std::pair<Tensor, Tensor> var_mean(const Tensor& a, const ReduceOptions& options = {});
  std::pair<Tensor, Tensor> max(const Tensor& a, std::int64_t dim, bool keepdim = false);
  std::pair<Tensor, Tensor> min(const Tensor& a, std::int64_t dim, bool keepdim = false);
  std::pair<Tensor, Tensor> cummax(const Tensor& a, std::int64_t dim, bool reverse = false);
  std::pair<Tensor, Tensor> cummin(const Tensor& a, std::int64_t dim, bool reverse = false);

  /// Computes an expression in one pass over memory; reductions in it take a pass each.
  Tensor eval(const Expr& expr);
  void eval(const Expr& expr, const Tensor& out);
  /// Several results, each of the sizes of its own expression.  Those of equal sizes share a pass.
  /// `outs[i]` undefined asks for a new tensor.
  std::vector<Tensor> eval(std::span<const Expr> exprs, std::span<const Tensor> outs = {});

  /// Plans and compiles now, to run later and often.  A prepared plan is the built-in kernel:
  /// kernels that others registered for weft::eval, and Profile, see eval() and not its runs.
  ///
  /// Errors: as eval(); UnsupportedError also for what eval() copies or looks at first: an input
  ///         that `out` overlaps and would overwrite before it is read, as a stencil in place does,
  ///         and divisors of integers that are no numbers; and for several passes on a device.
  PreparedPlan prepare(const Expr& expr, const Tensor& out = {});
  /// Several results, as eval() has them.  What takes several passes, as most expressions with
  /// reductions do, is computed once while it is prepared, though not into `outs`.
  PreparedPlan prepare(std::span<const Expr> exprs, std::span<const Tensor> outs = {});

  /// Plans and compiles without running; the tensors may be unbacked layouts.  Backend "nvrtc"
  /// needs no GPU, and NVRTC only for "ptx" and "sass".
  Explanation explain(const Expr& expr, const Tensor& out = {}, const ExplainOptions& options = {});

  /// What eval() would return, without data: works on any device, unbacked and meta tensors
  /// included.
  Inferred infer(const Expr& expr, const Tensor& out = {}) const;

  // The contiguous chain, as PyTorch has it.
  Tensor clone(const Tensor& a, MemoryFormat format = MemoryFormat::preserve);
  /// `a` itself if it is contiguous in `format` already.
  Tensor contiguous(const Tensor& a, MemoryFormat format = MemoryFormat::contiguous);
  /// `a` itself if dtype, device and format are as wanted and no copy is asked for.
  Tensor to(const Tensor& a, const ToOptions& options);
  Tensor to(const Tensor& a, DType dtype);
  Tensor reshape(const Tensor& a, IntSpan sizes);  ///< a view if possible, else a copy
  Tensor reshape(const Tensor& a, std::initializer_list<std::int64_t> sizes) {
    return reshape(a, detail::span_of(sizes));
  }
  /// The same values without the lazy bit; `a` itself if it has none.
  Tensor resolve_conj(const Tensor& a);
  Tensor resolve_neg(const Tensor& a);
  /// Writes `value` to every element of `dst`, as a cast converts it.
  void fill(const Tensor& dst, const Scalar& value);

  // User operators: engine.define("swish", "x / (1 + exp(-x))"), then
  // engine.eval(engine.call("swish", {a})) or parse_expr("swish(a)", names, engine.definitions()).
  // weft/define.h has the rules.
  void define(std::string_view signature, std::string_view expression);
  void define(std::string_view name, int num_parameters, ExprBuilder builder);
  Expr call(std::string_view name, std::span<const Expr> args) const;
  Expr call(std::string_view name, std::initializer_list<Expr> args) const {
    return call(name, std::span(args.begin(), args.size()));
  }
  const Definitions& definitions() const;

  /// Returns when every kernel that was hot has been compiled again.  What it is worth is found by
  /// the next calls.
  void wait_optimised();

  /// At most so many threads work on one call from now on; 0: as many as there are processors.
  /// Results don't depend on it, and calls from within other parallel work use one. What was
  /// prepared before keeps its number.
  /// Errors: ArgumentError if `count` is negative.
  void set_num_threads(int count);
  int num_threads() const;

  EngineStats stats() const;
  const EngineOptions& options() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace weft
