// The registry's operators behind the public calls of Engine: for every row of the op table
// `weft::NAME` and `weft::NAME.out`, the same for every reduction, those with two results, then
// `weft::copy_`, `weft::eval` and the chain around copy_. Each call goes to the kernel that its
// operator's table names.  Where that is the engine's own for the CPU, the facade runs it without
// the detour of a call through the table.
#pragma once

#include <weft/dispatch.h>
#include <weft/engine.h>

#include <atomic>
#include <deque>
#include <mutex>
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

/// Operators of one kind, each defined in the registry when it is first asked for: a program calls
/// a few of some 300, and defining them all takes a millisecond.
///
/// Threads: any.
template <class Row>
class OperatorRows {
 public:
  using Define = Row (*)(Library& library, std::size_t index);

  /// `mutex` is held while one is defined in `library`.
  OperatorRows(std::size_t size, Define define, Library& library, std::mutex& mutex)
      : define_(define), library_(library), mutex_(mutex), rows_(size) {}
  std::size_t size() const { return rows_.size(); }
  const Row& operator[](std::size_t index) const {
    const Row* row = rows_[index].load(std::memory_order_acquire);
    return row != nullptr ? *row : defined(index);
  }

 private:
  [[gnu::noinline]] const Row& defined(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    if (const Row* row = rows_[index].load(std::memory_order_relaxed)) return *row;
    const Row& row = kept_.emplace_back(define_(library_, index));
    rows_[index].store(&row, std::memory_order_release);
    return row;
  }

  Define define_;
  Library& library_;
  std::mutex& mutex_;
  mutable std::deque<Row> kept_;  ///< guarded by the mutex
  mutable std::vector<std::atomic<const Row*>> rows_;
};

/// All of them.  Those with tables of their own are defined in the registry when they are first
/// called, or when registry() is: who asks it finds them all.
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

  /// What operators() does the first time.
  static const Operators& make(std::atomic<const Operators*>& made);

  /// Null for structural ops and for another number of inputs than the op has.
  const TensorOperator* find(Op op, std::size_t num_inputs, bool has_output) const {
    const std::size_t index = static_cast<std::size_t>(op) - num_structural_ops;
    if (index >= new_result_.size()) return nullptr;
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
  void define_all() const;

 private:
  Operators();

  /// Held while anything is defined, and by whoever forks; taken before the registry's.
  static constinit inline std::mutex mutex_;
  Library library_;
  mutable std::atomic<bool> are_all_defined_{false};
  OperatorRows<TensorOperator> new_result_;                  ///< in the order of all_ops()
  OperatorRows<TensorOperator> given_result_;                ///< as above
  OperatorRows<BuiltinOperator<Reduce>> reductions_;         ///< in the order of all_reductions()
  OperatorRows<BuiltinOperator<ReduceOut>> reductions_out_;  ///< as above
  OperatorRows<BuiltinOperator<ReducePair>> pairs_;          ///< in the order of Pair

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
