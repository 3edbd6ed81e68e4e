#include "engine/dispatch/operators.h"

#include "engine/dispatch/meta_results.h"
#include "engine/dispatch/process_registry.h"
#include "engine/engine_state.h"
#include "engine/messages/torch_names.h"
#include "engine/plan/call.h"
#include "jit/background.h"
#include "runtime/fork_handlers.h"
#include "runtime/quiet_thread.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace weft {
namespace {

constinit thread_local const CurrentCall* innermost_call = nullptr;

/// For operators that are called by their handle, outside of any engine.
Engine::State& default_state() {
  keep_own_code();  // not under the lock of what follows
  // Never destroyed: other static objects may call operators at exit.
  static Engine::State& state = *[] {
    jit::prepare_for_fork();
    return new Engine::State;
  }();
  return state;
}

Tensor infer_op_on_meta(Op op, std::span<const Tensor* const> inputs, const Tensor& given) {
  std::vector<Expr> args;
  for (const Tensor* input : inputs) args.emplace_back(*input);
  const Expr expr = apply(op, std::span<const Expr>(args));
  return infer_on_meta(std::span(&expr, 1), std::span(&given, 1))[0];
}

/// Who calls the operator by name comes past the checks of Engine::copy().
void check_defined(const Tensor& self, const Tensor& src) {
  WEFT_CHECK(self.defined(), ArgumentError, "self is undefined");
  WEFT_CHECK(src.defined(), ArgumentError, "src is undefined");
}

Tensor copy_with_data(const Tensor& self, const Tensor& src) {
  check_defined(self, src);
  compute_copy(CurrentCall::state(), self, src);
  return self;
}

/// A copy into a tensor without data leaves nothing to do; one out of it has nothing to read.
Tensor copy_on_meta(const Tensor& self, const Tensor& src) {
  check_defined(self, src);
  WEFT_CHECK(self.device().type == DeviceType::meta, UnsupportedError,
             "Cannot copy out of meta tensor; no data!");
  static_cast<void>(src.expand(self.sizes()));  // refuses a source that doesn't broadcast
  return self;
}

const PendingEval& pending_eval(std::span<const Tensor> inputs) {
  const PendingEval* eval = CurrentCall::eval();
  WEFT_CHECK(eval != nullptr, ArgumentError,
             "weft::eval computes the expressions of Engine::eval() and is called only by it");
  const auto is_leaf = [](const Tensor& input, const Tensor* leaf) { return input.is_same(*leaf); };
  WEFT_CHECK(std::ranges::equal(inputs, eval->leaves, is_leaf), ArgumentError,
             "weft::eval must be redispatched with the inputs that it was called with");
  return *eval;
}

std::vector<Tensor> eval_with_data(std::span<const Tensor> inputs) {
  const PendingEval& eval = pending_eval(inputs);
  return compute_exprs(CurrentCall::state(), eval.exprs, eval.given);
}

std::vector<Tensor> eval_on_meta(std::span<const Tensor> inputs) {
  const PendingEval& eval = pending_eval(inputs);
  return infer_parts_on_meta(eval.exprs, eval.given);
}

using TensorKernel = Tensor (*)(Op op, std::span<const Tensor* const> inputs, const Tensor& given);

/// A kernel object with the signature of an operator on so many tensors.
template <class Index, bool has_output>
struct OpKernel;
template <std::size_t... index, bool has_output>
struct OpKernel<std::index_sequence<index...>, has_output> {
  Op op;
  TensorKernel kernel;
  template <std::size_t>
  using Argument = const Tensor&;

  Tensor operator()(Argument<index>... tensors) const {
    const std::array<const Tensor*, sizeof...(index)> all{&tensors...};
    if constexpr (has_output) return kernel(op, std::span(all).first(all.size() - 1), *all.back());
    return kernel(op, all, Tensor());
  }
};

Tensor op_with_data(Op op, std::span<const Tensor* const> inputs, const Tensor& given) {
  return compute_op(CurrentCall::state(), op, inputs, given);
}

template <class Handle>
struct SignatureOf;
template <class Signature>
struct SignatureOf<TypedOperatorHandle<Signature>> {
  using type = Signature;
};

/// Defines an operator with one kernel for CPU and CUDA, and one for meta.
template <class Handle, class Kept = Handle, class F>
BuiltinOperator<Kept> define(Library& library, std::string_view schema, std::string_view name,
                             F with_data, F on_meta) {
  KernelFunction builtin = KernelFunction::typed(std::move(with_data));
  library.def(schema)
      .impl(name, DispatchKey::cpu, builtin)
      .impl(name, DispatchKey::cuda, builtin)
      .impl(name, DispatchKey::meta, std::move(on_meta));
  const OperatorHandle untyped = detail::process_registry().op(std::string("weft::").append(name));
  return {untyped.typed<typename SignatureOf<Handle>::type>(), untyped, std::move(builtin)};
}

template <std::size_t num_tensors, bool has_output>
Operators::TensorOperator define_op(Library& library, Op op) {
  static constexpr std::array<std::string_view, max_arity> names{"x", "y", "z", "w"};
  std::string operator_name(name(op));
  if (has_output) operator_name += ".out";
  std::string schema;
  schema.reserve(96);
  schema.append(operator_name).append("(");
  for (std::size_t i = 0; i < num_tensors - has_output; ++i)
    schema.append(i == 0 ? "" : ", ").append("Tensor ").append(names[i]);
  schema += has_output ? ", *, Tensor(a!) out) -> Tensor(a!)" : ") -> Tensor";
  using Kernel = OpKernel<std::make_index_sequence<num_tensors>, has_output>;
  return define<detail::TensorHandle<num_tensors>, Operators::AnyTensorHandle>(
      library, schema, operator_name, Kernel{op, op_with_data}, Kernel{op, infer_op_on_meta});
}

template <bool has_output>
Operators::TensorOperator define_row(Library& library, std::size_t index) {
  const Op op = all_ops()[index];
  switch (info(op).arity) {
    case 1: return define_op<1 + has_output, has_output>(library, op);
    case 2: return define_op<2 + has_output, has_output>(library, op);
    case 3: return define_op<3 + has_output, has_output>(library, op);
    default: return define_op<4 + has_output, has_output>(library, op);
  }
}

using ReduceExprs = std::vector<Tensor> (*)(std::span<const Expr> exprs,
                                            std::span<const Tensor> given);

std::vector<Tensor> reduce_with_data(std::span<const Expr> exprs, std::span<const Tensor> given) {
  return compute_exprs(CurrentCall::state(), exprs, given);
}

constexpr std::string_view reduce_arguments =
    "(Tensor self, int[] dim=[], bool keepdim=False, *, ScalarType? dtype=None, float p=2, "
    "float correction=1, bool reverse=False, str? numerics=None";

/// As a schema has it.
using NumericsName = std::optional<std::string_view>;

std::optional<Numerics> read(NumericsName name) {
  if (!name) return {};
  const std::optional<Numerics> found = parse_numerics(*name);
  WEFT_CHECK(found, ArgumentError, "unknown numerics '", *name,
             "'; a reduction can be layout_invariant or exact");
  return found;
}

/// A kernel object for one reduction, into a new tensor or a given one.
struct ReduceKernel {
  Reduction reduction;
  ReduceExprs compute;

  Tensor operator()(const Tensor& self, IntSpan dim, bool keepdim, std::optional<DType> dtype,
                    double p, double correction, bool reverse, NumericsName numerics) const {
    return into(Tensor(), self,
                {{dim.begin(), dim.end()}, keepdim, dtype, p, correction, reverse, read(numerics)});
  }
  Tensor into(const Tensor& given, const Tensor& self, const ReduceOptions& options) const {
    const Expr expr = reduce(reduction, self, options);
    return compute(std::span(&expr, 1), std::span(&given, 1))[0];
  }
};

/// Whether PyTorch computes in the dtype of a given output where none is asked for.
bool takes_dtype_of_output(Reduction reduction, DType input, DType output) {
  if (reduction == Reduction::mean && (is_integral(input) || is_integral(output))) return false;
  constexpr Reduction takers[] = {Reduction::sum,  Reduction::nansum, Reduction::prod,
                                  Reduction::mean, Reduction::cumsum, Reduction::cumprod};
  return std::ranges::find(takers, reduction) != std::end(takers);
}

struct ReduceOutKernel {
  ReduceKernel kernel;

  Tensor operator()(const Tensor& self, IntSpan dim, bool keepdim, std::optional<DType> dtype,
                    double p, double correction, bool reverse, NumericsName numerics,
                    const Tensor& out) const {
    // Of bytes these are bytes, which a given bool takes nevertheless.
    const bool is_truth = kernel.reduction == Reduction::all || kernel.reduction == Reduction::any;
    if (is_truth && !dtype && self.dtype() == DType::u8 && out.dtype() == DType::boolean)
      dtype = DType::boolean;
    if (!dtype && takes_dtype_of_output(kernel.reduction, self.dtype(), out.dtype()))
      dtype = out.dtype();
    const bool is_place = info(kernel.reduction).result == ReductionResult::index;
    WEFT_CHECK(!is_place || out.dtype() == DType::i64, ArgumentError, name(kernel.reduction),
               "(): Expected out tensor to have dtype long int, but got ", torch_name(out.dtype()),
               " instead");
    return kernel.into(
        out, self,
        {{dim.begin(), dim.end()}, keepdim, dtype, p, correction, reverse, read(numerics)});
  }
};

using MakePair = std::array<Expr, 2> (*)(const Tensor& self, const ReduceOptions& options);

std::int64_t only_dim(const ReduceOptions& options, std::string_view name) {
  WEFT_CHECK(options.dims.size() == 1, ArgumentError, name, "(): expects one dimension, not ",
             options.dims.size());
  return options.dims[0];
}

/// Extrema so far, and where they are.
std::array<Expr, 2> running(Reduction scan, Op op, const Tensor& self,
                            const ReduceOptions& options) {
  const std::int64_t dim = only_dim(options, name(scan));
  return {reduce(scan, self, {.dims = {dim}, .reverse = options.reverse}),
          scan_places(op, self, dim, options.reverse)};
}

struct PairRow {
  std::string_view name;
  MakePair make;
};
/// In the order of Pair.
constexpr PairRow pair_rows[] = {
    {"aminmax",
     [](const Tensor& self, const ReduceOptions& options) { return ops::aminmax(self, options); }},
    {"var_mean",
     [](const Tensor& self, const ReduceOptions& options) { return ops::var_mean(self, options); }},
    {"max.dim",
     [](const Tensor& self, const ReduceOptions& options) {
       only_dim(options, "max");
       return std::array{ops::max(self, options), ops::argmax(self, options)};
     }},
    {"min.dim",
     [](const Tensor& self, const ReduceOptions& options) {
       only_dim(options, "min");
       return std::array{ops::min(self, options), ops::argmin(self, options)};
     }},
    {"cummax.dim",
     [](const Tensor& self, const ReduceOptions& options) {
       return running(Reduction::cummax, Op::maximum, self, options);
     }},
    {"cummin.dim",
     [](const Tensor& self, const ReduceOptions& options) {
       return running(Reduction::cummin, Op::minimum, self, options);
     }},
};

/// A kernel object for what gives two results.
struct ReducePairKernel {
  MakePair make;
  ReduceExprs compute;

  std::tuple<Tensor, Tensor> operator()(const Tensor& self, IntSpan dim, bool keepdim,
                                        std::optional<DType> dtype, double p, double correction,
                                        bool reverse, NumericsName numerics) const {
    const std::array<Expr, 2> exprs = make(
        self, {{dim.begin(), dim.end()}, keepdim, dtype, p, correction, reverse, read(numerics)});
    const std::array<Tensor, 2> given;
    std::vector<Tensor> results = compute(exprs, given);
    return {std::move(results[0]), std::move(results[1])};
  }
};

BuiltinOperator<Operators::Reduce> define_reduction(Library& library, std::size_t index) {
  const Reduction reduction = all_reductions()[index];
  return define<Operators::Reduce>(
      library, detail::concat(name(reduction), reduce_arguments, ") -> Tensor"), name(reduction),
      ReduceKernel{reduction, reduce_with_data}, ReduceKernel{reduction, infer_on_meta});
}

BuiltinOperator<Operators::ReduceOut> define_reduction_out(Library& library, std::size_t index) {
  const Reduction reduction = all_reductions()[index];
  const std::string operator_name = detail::concat(name(reduction), ".out");
  return define<Operators::ReduceOut>(
      library, detail::concat(operator_name, reduce_arguments, ", Tensor(a!) out) -> Tensor(a!)"),
      operator_name, ReduceOutKernel{{reduction, reduce_with_data}},
      ReduceOutKernel{{reduction, infer_on_meta}});
}

BuiltinOperator<Operators::ReducePair> define_pair(Library& library, std::size_t index) {
  const PairRow& row = pair_rows[index];
  return define<Operators::ReducePair>(
      library, detail::concat(row.name, reduce_arguments, ") -> (Tensor, Tensor)"), row.name,
      ReducePairKernel{row.make, reduce_with_data}, ReducePairKernel{row.make, infer_on_meta});
}

template <class Handle, class F>
Handle define_composite(Library& library, std::string_view schema, DispatchKey key, F kernel) {
  const std::string name(schema.substr(0, schema.find('(')));
  library.def(schema).impl(name, key, kernel);
  return detail::process_registry()
      .op(detail::concat("weft::", name))
      .typed<typename SignatureOf<Handle>::type>();
}

}  // namespace

CurrentCall::CurrentCall(Engine::State& state, const PendingEval* eval)
    : state_(state), eval_(eval), outer_(std::exchange(innermost_call, this)) {}

CurrentCall::~CurrentCall() { innermost_call = outer_; }

Engine::State& CurrentCall::state() {
  return innermost_call != nullptr ? innermost_call->state_ : default_state();
}

const PendingEval* CurrentCall::eval() {
  return innermost_call != nullptr ? innermost_call->eval_ : nullptr;
}

Operators::Operators()
    : library_(detail::process_registry(), LibraryKind::definitions, "weft"),
      new_result_(all_ops().size(), define_row<false>, library_, mutex_),
      given_result_(all_ops().size(), define_row<true>, library_, mutex_),
      reductions_(all_reductions().size(), define_reduction, library_, mutex_),
      reductions_out_(all_reductions().size(), define_reduction_out, library_, mutex_),
      pairs_(std::size(pair_rows), define_pair, library_, mutex_),
      copy(define<Copy>(library_, "copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)", "copy_",
                        copy_with_data, copy_on_meta)),
      eval(define<Eval>(library_, "eval(Tensor[] inputs) -> Tensor[]", "eval", eval_with_data,
                        eval_on_meta)),
      empty_like(define_composite<EmptyLike>(library_,
                                             "empty_like(Tensor self, *, ScalarType? dtype=None, "
                                             "MemoryFormat memory_format=preserve) -> Tensor",
                                             DispatchKey::composite_explicit_autograd, new_like)),
      clone(define_composite<Formatted>(
          library_, "clone(Tensor self, *, MemoryFormat memory_format=preserve) -> Tensor",
          DispatchKey::composite_explicit_autograd, clone_by_copy)),
      contiguous(define_composite<Formatted>(
          library_, "contiguous(Tensor self, *, MemoryFormat memory_format=contiguous) -> Tensor",
          DispatchKey::composite_implicit_autograd, contiguous_by_clone)),
      to(define_composite<To>(library_,
                              "to(Tensor self, *, ScalarType? dtype=None, Device? device=None, "
                              "MemoryFormat memory_format=preserve, bool copy=False) -> Tensor",
                              DispatchKey::composite_implicit_autograd, to_by_copy)),
      reshape(define_composite<Reshape>(library_, "reshape(Tensor self, int[] shape) -> Tensor",
                                        DispatchKey::composite_implicit_autograd, reshape_by_view)),
      resolve_conj(define_composite<Resolve>(library_, "resolve_conj(Tensor self) -> Tensor",
                                             DispatchKey::composite_implicit_autograd,
                                             resolve_conj_by_clone)),
      resolve_neg(define_composite<Resolve>(library_, "resolve_neg(Tensor self) -> Tensor",
                                            DispatchKey::composite_implicit_autograd,
                                            resolve_neg_by_clone)),
      fill(define_composite<Fill>(library_, "fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)",
                                  DispatchKey::composite_explicit_autograd, fill_by_copy)) {}

void Operators::define_all() const {
  if (are_all_defined_.load(std::memory_order_acquire)) return;
  const auto define = [&](const auto& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) static_cast<void>(rows[i]);
  };
  define(new_result_);
  define(given_result_);
  define(reductions_);
  define(reductions_out_);
  define(pairs_);
  are_all_defined_.store(true, std::memory_order_release);
}

const Operators& Operators::make(std::atomic<const Operators*>& made) {
  // A child must not find a definition that another thread of its parent was at: nobody would end
  // it.  The registry's own lock, and what it makes once, are within.
  static const bool forks_wait = [] {
    const auto unlock = [] { mutex_.unlock(); };
    around_fork([] { mutex_.lock(); }, unlock, unlock);
    return true;
  }();
  static_cast<void>(forks_wait);
  const std::lock_guard lock(mutex_);
  // Never destroyed, like the registry that holds the kernels.
  if (made.load(std::memory_order_relaxed) == nullptr)
    made.store(new Operators(), std::memory_order_release);
  return *made.load(std::memory_order_relaxed);
}

const Operators& operators() {
  static constinit std::atomic<const Operators*> made{nullptr};
  const Operators* const known = made.load(std::memory_order_acquire);
  return known != nullptr ? *known : Operators::make(made);
}

Registry& registry() {
  operators().define_all();
  return detail::process_registry();
}

std::string registry_text() { return registry().text(); }

Tensor dispatch(Engine::State& state, const Operators::TensorOperator& op,
                std::span<const Tensor* const> tensors) {
  const CurrentCall current(state);
  const auto call = [&]<std::size_t... index>(const auto& handle, std::index_sequence<index...>) {
    return handle.call(*tensors[index]...);
  };
  switch (tensors.size()) {
    case 1: return call(std::get<0>(op.handle), std::make_index_sequence<1>());
    case 2: return call(std::get<1>(op.handle), std::make_index_sequence<2>());
    case 3: return call(std::get<2>(op.handle), std::make_index_sequence<3>());
    case 4: return call(std::get<3>(op.handle), std::make_index_sequence<4>());
    default: return call(std::get<4>(op.handle), std::make_index_sequence<5>());
  }
}

void dispatch_copy(Engine::State& state, const Tensor& dst, const Tensor& src) {
  const Operators& table = operators();
  if (table.copy.is_builtin(dispatch_keys_of(dst) | dispatch_keys_of(src))) [[likely]] {
    compute_copy(state, dst, src);
    return;
  }
  const CurrentCall current(state);
  table.copy.handle.call(dst, src);
}

std::vector<Tensor> dispatch_eval(Engine::State& state, const PendingEval& eval,
                                  DispatchKeySet keys) {
  std::vector<Tensor> inputs;
  for (const Tensor* leaf : eval.leaves) inputs.push_back(*leaf);
  const CurrentCall current(state, &eval);
  const Operators& table = operators();
  return table.eval.handle.redispatch(table.eval.untyped.selected_keys(keys), inputs);
}

}  // namespace weft
