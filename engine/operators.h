// The registry's operators behind the public calls of Engine: for every row of the op table
// `weft::NAME` and `weft::NAME.out`, the same for every reduction, those with two results, then
// `weft::copy_`, `weft::eval` and the chain around copy_. Each call goes to the kernel that its
// operator's table names.  Where that is the engine's own for the CPU, the facade runs it without
// the detour of a call through the table.
#pragma once

#include <weft/dispatch.h>
#include <weft/engine.h>

#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace weft {

/// What Engine::eval() was asked for.  A schema has no type for expressions, so it waits here while
/// the call passes through the dispatcher.
struct PendingEval {
  std::span<const Expr> exprs;
  std::span<const Tensor> given;  ///< one an expression; undefined asks for a new tensor
  std::span<const Tensor* const> leaves;
};

/// Tells the kernels of this thread, while it lives, which engine they work for.
class [[nodiscard]] CurrentCall {
 public:
  explicit CurrentCall(Engine::State& state, const PendingEval* eval = nullptr);
  ~CurrentCall();
  CurrentCall(const CurrentCall&) = delete;
  CurrentCall& operator=(const CurrentCall&) = delete;

  /// Of the innermost call of this thread; without one, of an engine with default options.
  static Engine::State& state();
  /// Null outside of Engine::eval().
  static const PendingEval* eval();

 private:
  Engine::State& state_;
  const PendingEval* eval_;
  const CurrentCall* outer_;
};

namespace detail {
template <class Index>
struct TensorSignature;
template <std::size_t... index>
struct TensorSignature<std::index_sequence<index...>> {
  template <std::size_t>
  using Argument = const Tensor&;
  using type = Tensor(Argument<index>...);
};
/// An operator on so many tensors, a given output included.
template <std::size_t num_tensors>
using TensorHandle =
    TypedOperatorHandle<typename TensorSignature<std::make_index_sequence<num_tensors>>::type>;
}  // namespace detail

/// An operator of the engine, and its kernel for the CPU.
template <class Handle>
struct BuiltinOperator {
  Handle handle;
  OperatorHandle untyped;
  KernelFunction builtin;

  /// Whether a call with these keys ends at once in the engine's own kernel.
  bool is_builtin(DispatchKeySet arguments) const {
    return untyped.kernel_for(arguments).is_copy_of(builtin);
  }
};

/// Calls that give two results of one tensor.
enum class Pair : std::uint8_t { aminmax, var_mean, max, min, cummax, cummin };

/// All of them; defined in registry() when the first engine is made.
class Operators {
 public:
  using AnyTensorHandle =
      std::variant<detail::TensorHandle<1>, detail::TensorHandle<2>, detail::TensorHandle<3>,
                   detail::TensorHandle<4>, detail::TensorHandle<5>>;
  using TensorOperator = BuiltinOperator<AnyTensorHandle>;
  using Copy = TypedOperatorHandle<Tensor(const Tensor&, const Tensor&)>;
  using Eval = TypedOperatorHandle<std::vector<Tensor>(std::span<const Tensor>)>;
  using Formatted = TypedOperatorHandle<Tensor(const Tensor&, MemoryFormat)>;
  using To = TypedOperatorHandle<Tensor(const Tensor&, std::optional<DType>, std::optional<Device>,
                                        MemoryFormat, bool)>;
  using EmptyLike = TypedOperatorHandle<Tensor(const Tensor&, std::optional<DType>, MemoryFormat)>;
  using Reshape = TypedOperatorHandle<Tensor(const Tensor&, IntSpan)>;
  using Resolve = TypedOperatorHandle<Tensor(const Tensor&)>;
  using Fill = TypedOperatorHandle<Tensor(const Tensor&, const Scalar&)>;
  using Reduce = TypedOperatorHandle<Tensor(const Tensor&, IntSpan, bool, std::optional<DType>,
                                            double, double, bool, std::optional<std::string_view>)>;
  using ReduceOut =
      TypedOperatorHandle<Tensor(const Tensor&, IntSpan, bool, std::optional<DType>, double, double,
                                 bool, std::optional<std::string_view>, const Tensor&)>;
  using ReducePair = TypedOperatorHandle<std::tuple<Tensor, Tensor>(
      const Tensor&, IntSpan, bool, std::optional<DType>, double, double, bool,
      std::optional<std::string_view>)>;

  Operators();
  /// Null for structural ops and for another number of inputs than the op has.
  const TensorOperator* find(Op op, std::size_t num_inputs, bool has_output) const {
    const std::size_t index = static_cast<std::size_t>(op) - num_structural_ops;
    if (index >= num_ops_) return nullptr;
    const TensorOperator& found = (has_output ? given_result_ : new_result_)[index];
    return found.handle.index() + 1 == num_inputs + has_output ? &found : nullptr;
  }
  const BuiltinOperator<Reduce>& find(Reduction reduction) const {
    return reductions_[static_cast<std::size_t>(reduction)];
  }
  const BuiltinOperator<ReduceOut>& find_out(Reduction reduction) const {
    return reductions_out_[static_cast<std::size_t>(reduction)];
  }
  const BuiltinOperator<ReducePair>& find(Pair pair) const {
    return pairs_[static_cast<std::size_t>(pair)];
  }

 private:
  Library library_;
  std::size_t num_ops_;                                     ///< in both of these
  std::vector<TensorOperator> new_result_;                  ///< in the order of all_ops()
  std::vector<TensorOperator> given_result_;                ///< as above
  std::vector<BuiltinOperator<Reduce>> reductions_;         ///< in the order of all_reductions()
  std::vector<BuiltinOperator<ReduceOut>> reductions_out_;  ///< as above
  std::vector<BuiltinOperator<ReducePair>> pairs_;          ///< in the order of Pair

 public:
  BuiltinOperator<Copy> copy;
  BuiltinOperator<Eval> eval;
  EmptyLike empty_like;
  Formatted clone;
  Formatted contiguous;
  To to;
  Reshape reshape;
  Resolve resolve_conj;
  Resolve resolve_neg;
  Fill fill;
};
const Operators& operators();

/// Passes a call on to the kernel that its keys ask for; a given output comes last.
Tensor dispatch(Engine::State& state, const Operators::TensorOperator& op,
                std::span<const Tensor* const> tensors);
void dispatch_copy(Engine::State& state, const Tensor& dst, const Tensor& src);
std::vector<Tensor> dispatch_eval(Engine::State& state, const PendingEval& eval,
                                  DispatchKeySet keys);

// What the kernels for the CPU do.
Tensor compute_op(Engine::State& state, Op op, std::span<const Tensor* const> inputs,
                  const Tensor& given);
void compute_copy(Engine::State& state, const Tensor& dst, const Tensor& src);
std::vector<Tensor> compute_exprs(Engine::State& state, std::span<const Expr> exprs,
                                  std::span<const Tensor> given);

// The composite kernels of the chain.
Tensor new_like(const Tensor& self, std::optional<DType> dtype, MemoryFormat format);
Tensor clone_by_copy(const Tensor& self, MemoryFormat format);
Tensor contiguous_by_clone(const Tensor& self, MemoryFormat format);
Tensor to_by_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                  MemoryFormat format, bool copy);
Tensor reshape_by_view(const Tensor& self, IntSpan sizes);
Tensor resolve_conj_by_clone(const Tensor& self);
Tensor resolve_neg_by_clone(const Tensor& self);
Tensor fill_by_copy(const Tensor& self, const Scalar& value);

}  // namespace weft
