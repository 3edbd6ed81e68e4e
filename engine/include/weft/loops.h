// Loops for user code over a planned iteration: run any C++ lambda on strided operands, as
// PyTorch's TensorIterator users do.  These loops are interpreted (strides at run time): what no IR
// exists for runs here.
//
//   Tensor out;
//   auto iter = TensorIterator::binary_op(out, a, b);
//   cpu_kernel(iter, [](float x, float y) { return x * x + y; });      // result: iter.output()
#pragma once

#include <weft/error.h>
#include <weft/inline_array.h>
#include <weft/iterator.h>
#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace [[gnu::visibility("default")]] weft {

/// Elements below which a loop stays in the caller's thread.   Mirrors: at::internal::GRAIN_SIZE.
inline constexpr std::int64_t default_grain_elements = 32768;

/// Addresses of one element of each operand; strides in bytes, one an operand; number of elements.
using Loop1d =
    std::function<void(std::byte** data, const std::int64_t* stride_bytes, std::int64_t n)>;
/// As Loop1d over two dimensions: the inner strides of all operands, then the outer ones.
using Loop2d = std::function<void(std::byte** data, const std::int64_t* stride_bytes,
                                  std::int64_t n_inner, std::int64_t n_outer)>;

/// Walks a linear range [begin, end) of a shape (fastest dimension first) in two-dimensional steps.
///
/// Mirrors: at::DimCounter.
class DimCounter {
 public:
  /// Errors: ArgumentError for negative sizes, and a range that is not part of [0, numel).
  DimCounter(IntSpan shape, std::int64_t begin, std::int64_t end);
  bool is_done() const { return offset_ >= end_; }
  IntSpan values() const { return {values_.data(), values_.size()}; }
  /// The largest step from here: elements of dimension 0, and rows of dimension 1 if whole rows
  /// fit.
  std::array<std::int64_t, 2> max_2d_step() const;
  void increment(const std::array<std::int64_t, 2>& step);

 private:
  IntSpan shape_;
  std::int64_t end_;
  std::int64_t offset_;
  detail::DimArray<std::int64_t> values_;
};

/// Calls `loop` for all elements, from several threads if there are more than `grain_elements`.  An
/// input that the loop would overwrite before it is read (TensorIterator::needs_temporary()) is
/// copied first, by this and all loops below.
///
/// Threads: the calls are on disjoint parts; `loop` must allow being called by several threads at
/// once.
/// Errors:  what `loop` throws reaches the caller, once; UnsupportedError if an operand has no
/// bytes (meta tensors); ArgumentError for an empty `loop`, and naming the operand if it is lazily
/// conjugated or negated: loops go through bytes, to which Engine::resolve_conj() and resolve_neg()
/// apply these bits.
void for_each(const TensorIterator& iterator, const Loop1d& loop,
              std::int64_t grain_elements = default_grain_elements);
void for_each_2d(const TensorIterator& iterator, const Loop2d& loop,
                 std::int64_t grain_elements = default_grain_elements);
/// The elements [begin, end) in linear order of iterator.shape(), in the caller's thread.
void serial_for_each(const TensorIterator& iterator, const Loop2d& loop, std::int64_t begin,
                     std::int64_t end);

/// Runs a loop that folds an input into an output: out = combine(out, in) for each pair.  `combine`
/// is associative, for partial results are folded by the same loop; the output holds the identity,
/// or what to continue from.
///
/// The parts that threads get depend on the shape alone, so that the bits of the result do too.
/// Threads: as for_each().
/// Errors:  as for_each(); ArgumentError unless there are one input and one output of one dtype.
void parallel_reduce(const TensorIterator& iterator, const Loop2d& loop);

/// Calls `function` once an output element, with an iterator over the inputs that are reduced into
/// it.
///
/// Threads: with `parallelize` and enough elements `function` is called by several threads at once.
/// Errors:  what `function` throws; ArgumentError unless there are an output and an input, for
/// lazily conjugated or negated operands, and for an empty `function`.
void foreach_reduced_elt(const TensorIterator& iterator,
                         const std::function<void(TensorIterator&)>& function,
                         bool parallelize = true);

namespace detail {

/// Where loops are, an address an operand.
using OperandPointers = InlineArray<std::byte*, 8>;

/// A reference through which a function could change an input, which may be lent for reading only.
template <class T>
inline constexpr bool writes_argument =
    std::is_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>;

template <class Function>
struct FunctionTraits : FunctionTraits<decltype(&std::remove_cvref_t<Function>::operator())> {};
template <class Result, class... Args>
struct FunctionTraits<Result (*)(Args...)> {
  using result = Result;
  using arguments = std::tuple<std::remove_cvref_t<Args>...>;
  static constexpr bool writes_arguments = (writes_argument<Args> || ...);
};
template <class Class, class Result, class... Args>
struct FunctionTraits<Result (Class::*)(Args...) const> : FunctionTraits<Result (*)(Args...)> {};
template <class Class, class Result, class... Args>
struct FunctionTraits<Result (Class::*)(Args...)>
    : FunctionTraits<Result (Class::*)(Args...) const> {};
template <class Class, class Result, class... Args>
struct FunctionTraits<Result (Class::*)(Args...) const noexcept>
    : FunctionTraits<Result (Class::*)(Args...) const> {};
template <class Class, class Result, class... Args>
struct FunctionTraits<Result (Class::*)(Args...) noexcept>
    : FunctionTraits<Result (Class::*)(Args...) const> {};
template <class Result, class... Args>
struct FunctionTraits<Result(Args...)> : FunctionTraits<Result (*)(Args...)> {};
template <class Result, class... Args>
struct FunctionTraits<Result (*)(Args...) noexcept> : FunctionTraits<Result (*)(Args...)> {};

template <class T>
struct Outputs {
  using tuple = std::tuple<T>;
};
template <>
struct Outputs<void> {
  using tuple = std::tuple<>;
};
template <class... T>
struct Outputs<std::tuple<T...>> {
  using tuple = std::tuple<T...>;
};

/// Operand and C++ type have to be the same: user lambdas are given no conversions.
void check_operand_dtype(const TensorIterator& iterator, int operand, DType expected);
void check_operand_count(const TensorIterator& iterator, int outputs, int inputs);

template <class Function>
class ElementLoop {
  using Traits = FunctionTraits<Function>;
  using Results = typename Outputs<typename Traits::result>::tuple;
  using Arguments = typename Traits::arguments;
  static constexpr std::size_t num_outputs = std::tuple_size_v<Results>;
  static constexpr std::size_t num_inputs = std::tuple_size_v<Arguments>;
  static_assert(!Traits::writes_arguments,
                "a function of elements takes values or references to const");

 public:
  static void check(const TensorIterator& iterator) {
    check_operand_count(iterator, static_cast<int>(num_outputs), static_cast<int>(num_inputs));
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (check_operand_dtype(iterator, static_cast<int>(i),
                           dtype_of<std::tuple_element_t<i, Results>>),
       ...);
    }
    (std::make_index_sequence<num_outputs>());
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (check_operand_dtype(iterator, static_cast<int>(num_outputs + i),
                           dtype_of<std::tuple_element_t<i, Arguments>>),
       ...);
    }
    (std::make_index_sequence<num_inputs>());
  }

  /// One row.  Strides are copied to locals so that the compiler sees that stores don't change
  /// them.
  static void run(Function& function, std::byte* const* data, const std::int64_t* stride_bytes,
                  std::int64_t n) {
    constexpr std::size_t count = num_outputs + num_inputs;
    std::array<std::int64_t, count> strides;
    std::copy_n(stride_bytes, count, strides.begin());
    for (std::int64_t i = 0; i < n; ++i)
      element(function, data, strides, i, std::make_index_sequence<num_outputs>(),
              std::make_index_sequence<num_inputs>());
  }

 private:
  template <std::size_t... out, std::size_t... in>
  static void element(Function& function, std::byte* const* data,
                      const std::array<std::int64_t, num_outputs + num_inputs>& strides,
                      std::int64_t i, std::index_sequence<out...>, std::index_sequence<in...>) {
    const auto address = [&](std::size_t operand) { return data[operand] + i * strides[operand]; };
    const auto call = [&]() -> decltype(auto) {
      return function(
          *reinterpret_cast<std::tuple_element_t<in, Arguments>*>(address(num_outputs + in))...);
    };
    if constexpr (std::is_void_v<typename Traits::result>) {
      call();
    } else if constexpr (num_outputs == 1 && std::is_same_v<typename Traits::result,
                                                            std::tuple_element_t<0, Results>>) {
      *reinterpret_cast<typename Traits::result*>(address(0)) = call();
    } else {
      const Results results = call();
      ((*reinterpret_cast<std::tuple_element_t<out, Results>*>(address(out)) =
            std::get<out>(results)),
       ...);
    }
  }
};

/// Runs `row(data, stride_bytes, n)`, which leaves `data` alone, on each row of two dimensions.
template <class Row>
Loop2d over_rows(Row row, int num_operands) {
  return [row, num_operands](std::byte** data, const std::int64_t* stride_bytes,
                             std::int64_t n_inner, std::int64_t n_outer) {
    OperandPointers at(std::span<std::byte* const>(data, static_cast<std::size_t>(num_operands)));
    for (std::int64_t j = 0; j < n_outer; ++j) {
      row(at.data(), stride_bytes, n_inner);
      for (int i = 0; i < num_operands; ++i)
        at[static_cast<std::size_t>(i)] += stride_bytes[num_operands + i];
    }
  };
}

template <class Function>
Loop2d element_loop_2d(Function& function, int num_operands) {
  const auto row = [&function](std::byte* const* data, const std::int64_t* stride_bytes,
                               std::int64_t n) {
    ElementLoop<Function>::run(function, data, stride_bytes, n);
  };
  return over_rows(row, num_operands);
}

}  // namespace detail

/// Applies `function` element by element: its parameters are the inputs, its result the output.  A
/// function that returns nothing is called for its effect, on an iterator without outputs; one that
/// returns a std::tuple writes several outputs.
///
/// Dtype:   the function's types must be those of the operands; nothing is converted.
/// Threads: `function` is called by several threads at once.
/// Errors:  as for_each(); ArgumentError naming the operand if a dtype or the number of operands
/// does not fit.
/// Mirrors: at::native::cpu_kernel (aten/src/ATen/native/cpu/Loops.h).
template <class Function>
void cpu_kernel(const TensorIterator& iterator, Function&& function,
                std::int64_t grain_elements = default_grain_elements) {
  detail::ElementLoop<std::remove_reference_t<Function>>::check(iterator);
  for_each_2d(iterator, detail::element_loop_2d(function, iterator.ntensors()), grain_elements);
}

/// As cpu_kernel() with a function that returns a std::tuple of the outputs.
template <class Function>
void cpu_kernel_multiple_outputs(const TensorIterator& iterator, Function&& function,
                                 std::int64_t grain_elements = default_grain_elements) {
  cpu_kernel(iterator, std::forward<Function>(function), grain_elements);
}

/// As cpu_kernel(), in the caller's thread and in linear order of iterator.shape(), over [begin,
/// end).
template <class Function>
void cpu_serial_kernel(const TensorIterator& iterator, Function&& function, std::int64_t begin,
                       std::int64_t end) {
  detail::ElementLoop<std::remove_reference_t<Function>>::check(iterator);
  serial_for_each(iterator, detail::element_loop_2d(function, iterator.ntensors()), begin, end);
}
template <class Function>
void cpu_serial_kernel(const TensorIterator& iterator, Function&& function) {
  cpu_serial_kernel(iterator, std::forward<Function>(function), 0, iterator.numel());
}

/// 16 bytes of T, one register on every x86-64, with the arithmetic of the compiler's vector types.
template <class T>
struct VecOf {
  using type __attribute__((vector_size(16))) = T;
};
template <class T>
using Vec = typename VecOf<T>::type;

namespace detail {

/// The rows on which a vector function can run: every operand dense, or exactly one input a single
/// number.
template <class T, std::size_t num_inputs>
bool is_vector_row(const std::int64_t* stride_bytes) {
  if (stride_bytes[0] != sizeof(T)) return false;
  int num_constant = 0;
  for (std::size_t i = 1; i <= num_inputs; ++i) {
    if (stride_bytes[i] == 0)
      ++num_constant;
    else if (stride_bytes[i] != sizeof(T))
      return false;
  }
  return num_constant <= 1;
}

template <class T>
Vec<T> load_vec(const std::byte* address, bool is_constant) {
  Vec<T> value;
  if (is_constant) {
    T element;
    std::memcpy(&element, address, sizeof(T));
    for (std::size_t lane = 0; lane < sizeof(value) / sizeof(T); ++lane) value[lane] = element;
  } else {
    std::memcpy(&value, address, sizeof(value));
  }
  return value;
}

template <class T, class VectorFunction, std::size_t... in>
std::int64_t run_vectors(VectorFunction& function, std::byte* const* data,
                         const std::int64_t* stride_bytes, std::int64_t n,
                         std::index_sequence<in...>) {
  constexpr std::int64_t lanes = sizeof(Vec<T>) / sizeof(T);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vec<T> result = function(
        load_vec<T>(data[1 + in] + i * stride_bytes[1 + in], stride_bytes[1 + in] == 0)...);
    std::memcpy(data[0] + i * static_cast<std::int64_t>(sizeof(T)), &result, sizeof(result));
  }
  return i;
}

/// Vectors where a row can be walked in vectors, elements where it can't and at its end.
template <class Function, class VectorFunction>
Loop2d vector_loop_2d(Function& function, VectorFunction& vector_function) {
  using Traits = FunctionTraits<Function>;
  using T = typename Traits::result;
  constexpr std::size_t num_inputs = std::tuple_size_v<typename Traits::arguments>;
  const auto row = [&](std::byte* const* data, const std::int64_t* stride_bytes, std::int64_t n) {
    std::array<std::byte*, num_inputs + 1> rest;
    std::copy_n(data, num_inputs + 1, rest.begin());
    std::int64_t done = 0;
    if (is_vector_row<T, num_inputs>(stride_bytes)) {
      done = run_vectors<T>(vector_function, data, stride_bytes, n,
                            std::make_index_sequence<num_inputs>());
      for (std::size_t i = 0; i <= num_inputs; ++i) rest[i] += done * stride_bytes[i];
    }
    ElementLoop<Function>::run(function, rest.data(), stride_bytes, n - done);
  };
  return over_rows(row, static_cast<int>(num_inputs + 1));
}

}  // namespace detail

/// As cpu_kernel(), with a second function on Vec<T> that computes the same: it serves the rows in
/// which all operands are dense, or all but one input that is a single number.  All operands are of
/// one dtype.
///
/// Mirrors: at::native::cpu_kernel_vec.
template <class Function, class VectorFunction>
void cpu_kernel_vec(const TensorIterator& iterator, Function&& function,
                    VectorFunction&& vector_function,
                    std::int64_t grain_elements = default_grain_elements) {
  detail::ElementLoop<std::remove_reference_t<Function>>::check(iterator);
  for_each_2d(iterator, detail::vector_loop_2d(function, vector_function), grain_elements);
}

/// As cpu_kernel_vec(), in the caller's thread and in linear order, over [begin, end).
///
/// Mirrors: at::native::cpu_serial_kernel_vec.
template <class Function, class VectorFunction>
void cpu_serial_kernel_vec(const TensorIterator& iterator, Function&& function,
                           VectorFunction&& vector_function, std::int64_t begin, std::int64_t end) {
  detail::ElementLoop<std::remove_reference_t<Function>>::check(iterator);
  serial_for_each(iterator, detail::vector_loop_2d(function, vector_function), begin, end);
}
template <class Function, class VectorFunction>
void cpu_serial_kernel_vec(const TensorIterator& iterator, Function&& function,
                           VectorFunction&& vector_function) {
  cpu_serial_kernel_vec(iterator, std::forward<Function>(function),
                        std::forward<VectorFunction>(vector_function), 0, iterator.numel());
}

}  // namespace weft
