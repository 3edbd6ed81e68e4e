#include "engine/iterator/iter_plan.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/cancel.h>
#include <weft/loops.h>
#include <weft/parallel.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace weft {
namespace {

using Pointers = detail::OperandPointers;

/// Strides as loops take them: [dim][operand], at least two dimensions.
std::vector<std::int64_t> loop_strides(const TensorIterator& iterator) {
  const auto num_operands = static_cast<std::size_t>(iterator.ntensors());
  std::vector<std::int64_t> strides(num_operands *
                                    static_cast<std::size_t>(std::max(iterator.ndim(), 2)));
  for (std::size_t i = 0; i < num_operands; ++i) {
    const IntSpan own = iterator.stride_bytes(static_cast<int>(i));
    for (std::size_t dim = 0; dim < own.size(); ++dim) strides[dim * num_operands + i] = own[dim];
  }
  return strides;
}

/// Loops hand out bytes, in which the lazy bits of a tensor are not to be seen.
void check_lazy_bits(const TensorIterator& iterator) {
  for (int i = 0; i < iterator.ntensors(); ++i)
    WEFT_CHECK(!iterator.tensor(i).is_conj() && !iterator.tensor(i).is_neg(), ArgumentError,
               "expected operands of a loop without lazy bits, but operand ", i, " is ",
               describe(iterator.tensor(i)));
}

void check_given(bool is_given, std::string_view loop) {
  WEFT_CHECK(is_given, ArgumentError, loop, "() was given an empty function");
}

}  // namespace

namespace detail {

/// Where loops begin in each operand.  Inputs that the outputs overwrite before they are read are
/// copied first, with their strides.
class FirstElements {
 public:
  /// Requires: the iterator has elements.
  explicit FirstElements(const TensorIterator& iterator)
      : data_(static_cast<std::size_t>(iterator.ntensors())) {
    check_lazy_bits(iterator);
    for (int i = 0; i < iterator.ntensors(); ++i) {
      WEFT_CHECK(iterator.data(i) != nullptr, UnsupportedError, "operand ", i, " of a loop (",
                 describe(iterator.tensor(i)), ") has no bytes to go through");
      WEFT_CHECK(iterator.device(i).type != DeviceType::cuda, UnsupportedError, "operand ", i,
                 " of a loop on the CPU (", describe(iterator.tensor(i)), ") is on a device");
      const int input = i - iterator.noutputs();
      data_[static_cast<std::size_t>(i)] =
          input >= 0 && iterator.needs_temporary(input) ? copy_of(iterator, i) : iterator.data(i);
    }
  }
  const Pointers& data() const { return data_; }

  /// `iterator` with these in place of its own first elements, for as long as this lives.
  TensorIterator in_place_of(const TensorIterator& iterator) const {
    TensorIterator other = iterator;
    for (int i = 0; i < other.ntensors(); ++i) {
      other.operands_[i].data = data_[static_cast<std::size_t>(i)];
      other.operands_[i].needs_temporary = false;
    }
    return other;
  }

 private:
  std::byte* copy_of(const TensorIterator& iterator, int operand) {
    std::int64_t first = 0;  // in bytes, from the first element
    auto last = static_cast<std::int64_t>(itemsize_bytes(iterator.dtype(operand)));
    for (int dim = 0; dim < iterator.ndim(); ++dim) {
      const auto at = static_cast<std::size_t>(dim);
      const std::int64_t span = (iterator.shape()[at] - 1) * iterator.stride_bytes(operand)[at];
      (span < 0 ? first : last) += span;
    }
    const std::byte* const from = iterator.data(operand) + first;
    // Elements stay aligned as they were.
    const std::size_t shift = reinterpret_cast<std::uintptr_t>(from) % alignof(std::max_align_t);
    copies_.emplace_back(static_cast<std::size_t>(last - first) + shift);
    std::byte* const to = copies_.back().data() + shift;
    std::memcpy(to, from, static_cast<std::size_t>(last - first));
    return to - first;
  }

  Pointers data_;
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace detail

namespace {

using detail::FirstElements;

bool copies_inputs(const TensorIterator& iterator) {
  for (int i = 0; i < iterator.ninputs(); ++i)
    if (iterator.needs_temporary(i)) return true;
  return false;
}

/// serial_for_each() from other addresses than the iterator's.
void run_range(const TensorIterator& iterator, const Pointers& first,
               const std::vector<std::int64_t>& strides, const Loop2d& loop, std::int64_t begin,
               std::int64_t end) {
  const auto num_operands = static_cast<std::size_t>(iterator.ntensors());
  if (iterator.ndim() == 0) {
    Pointers data = first;
    if (begin < end) loop(data.data(), strides.data(), end - begin, 1);
    return;
  }
  for (DimCounter counter(iterator.shape(), begin, end); !counter.is_done();) {
    Pointers data = first;
    for (std::size_t dim = 0; dim < counter.values().size(); ++dim)
      for (std::size_t i = 0; i < num_operands; ++i)
        data[i] += counter.values()[dim] * strides[dim * num_operands + i];
    const auto step = counter.max_2d_step();
    loop(data.data(), strides.data(), step[0], step[1]);
    counter.increment(step);
  }
}

}  // namespace

DimCounter::DimCounter(IntSpan shape, std::int64_t begin, std::int64_t end)
    : shape_(shape), end_(end), offset_(begin), values_(shape.size()) {
  for (const std::int64_t size : shape)
    WEFT_CHECK(size >= 0, ArgumentError, "DimCounter: a size is ", size);
  const std::int64_t numel = iter::checked_numel(shape);
  WEFT_CHECK(0 <= begin && begin <= end && end <= numel, ArgumentError, "DimCounter: the range [",
             begin, ", ", end, ") is not part of [0, ", numel, ")");
  std::int64_t linear = begin;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    values_[dim] = shape[dim] > 0 ? linear % shape[dim] : 0;
    linear = shape[dim] > 0 ? linear / shape[dim] : 0;
  }
}

std::array<std::int64_t, 2> DimCounter::max_2d_step() const {
  if (shape_.empty()) return {end_ - offset_, 1};
  const std::int64_t inner = std::min(shape_[0] - values_[0], end_ - offset_);
  const bool takes_rows = inner == shape_[0] && inner > 0 && shape_.size() > 1;
  return {inner, takes_rows ? std::min(shape_[1] - values_[1], (end_ - offset_) / shape_[0]) : 1};
}

void DimCounter::increment(const std::array<std::int64_t, 2>& step) {
  offset_ += step[0] * step[1];
  // Several rows advance the second dimension; the first stays where it is, at 0.
  std::size_t dim = step[1] == 1 ? 0 : 1;
  std::int64_t carry = step[1] == 1 ? step[0] : step[1];
  for (; dim < shape_.size() && carry > 0; ++dim) {
    values_[dim] += carry;
    carry = values_[dim] >= shape_[dim] ? 1 : 0;
    if (carry > 0) values_[dim] -= shape_[dim];
  }
}

void serial_for_each(const TensorIterator& iterator, const Loop2d& loop, std::int64_t begin,
                     std::int64_t end) {
  check_given(loop != nullptr, "serial_for_each");
  WEFT_CHECK(0 <= begin && begin <= end && end <= iterator.numel(), ArgumentError,
             "serial_for_each(): the range [", begin, ", ", end, ") is not part of [0, ",
             iterator.numel(), ")");
  if (begin == end) return;
  const FirstElements elements(iterator);
  const std::vector<std::int64_t> strides = loop_strides(iterator);
  const CancellationToken* const token = CancellationScope::current();
  // Where a reduction is cut, its loop may round otherwise.
  if (token == nullptr || iterator.num_reduce_dims() != 0)
    return run_range(iterator, elements.data(), strides, loop, begin, end);
  while (begin < end) {
    token->throw_if_cancelled();
    const std::int64_t first = begin;
    begin += std::min(default_grain_elements, end - begin);
    run_range(iterator, elements.data(), strides, loop, first, begin);
  }
}

void for_each_2d(const TensorIterator& iterator, const Loop2d& loop, std::int64_t grain_elements) {
  check_given(loop != nullptr, "for_each_2d");
  const std::int64_t numel = iterator.numel();
  if (numel == 0) return;
  const FirstElements elements(iterator);
  const Pointers& first = elements.data();
  const std::vector<std::int64_t> strides = loop_strides(iterator);
  parallel_for(0, numel, std::max<std::int64_t>(grain_elements, 1),
               [&](std::int64_t begin, std::int64_t end) {
                 run_range(iterator, first, strides, loop, begin, end);
               });
}

void for_each(const TensorIterator& iterator, const Loop1d& loop, std::int64_t grain_elements) {
  check_given(loop != nullptr, "for_each");
  const int num_operands = iterator.ntensors();
  for_each_2d(
      iterator,
      [&loop, num_operands](std::byte** data, const std::int64_t* stride_bytes,
                            std::int64_t n_inner, std::int64_t n_outer) {
        Pointers row(std::span<std::byte* const>(data, static_cast<std::size_t>(num_operands)));
        for (std::int64_t j = 0; j < n_outer; ++j) {
          Pointers own = row;  // the loop may move them
          loop(own.data(), stride_bytes, n_inner);
          for (int i = 0; i < num_operands; ++i)
            row[static_cast<std::size_t>(i)] += stride_bytes[num_operands + i];
        }
      },
      grain_elements);
}

namespace {

/// Everything into one element: parts of fixed size, which are folded in order.  The number of
/// threads changes neither.  The first part goes on from what the output holds; each other one
/// starts from its own first element, and so needs no identity.
void reduce_to_one(const TensorIterator& iterator, const Loop2d& loop) {
  const std::int64_t numel = iterator.numel();
  const std::int64_t num_parts = (numel + default_grain_elements - 1) / default_grain_elements;
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(iterator.dtype(0)));
  std::vector<std::byte> partial(static_cast<std::size_t>(num_parts * itemsize));
  const std::vector<std::int64_t> strides = loop_strides(iterator);
  const Loop2d copy_element = [itemsize](std::byte** data, const std::int64_t*, std::int64_t,
                                         std::int64_t) {
    std::memcpy(data[0], data[1], static_cast<std::size_t>(itemsize));
  };
  const FirstElements elements(iterator);
  parallel_for(0, num_parts, 1, [&](std::int64_t first_part, std::int64_t last_part) {
    for (std::int64_t part = first_part; part < last_part; ++part) {
      Pointers first = elements.data();
      std::int64_t begin = part * default_grain_elements;
      if (part > 0) {
        first[0] = partial.data() + part * itemsize;
        run_range(iterator, first, strides, copy_element, begin, begin + 1);
        ++begin;
      }
      run_range(iterator, first, strides, loop, begin,
                std::min(numel, (part + 1) * default_grain_elements));
    }
  });
  std::array<std::byte*, 2> data{iterator.data(0), partial.data() + itemsize};
  const std::array<std::int64_t, 4> fold{0, itemsize, 0, 0};
  loop(data.data(), fold.data(), num_parts - 1, 1);
}

/// The outermost dimension that is not reduced, or -1.
int outermost_kept_dim(const TensorIterator& iterator) {
  for (int dim = iterator.ndim() - 1; dim >= 0; --dim)
    if (!iterator.is_dim_reduced(dim) && iterator.shape()[static_cast<std::size_t>(dim)] > 1)
      return dim;
  return -1;
}

/// Calls `function` on parts of the iteration along a dimension that is not reduced.
void for_each_part(const TensorIterator& iterator, int dim,
                   const std::function<void(TensorIterator&)>& function) {
  const std::int64_t extent = iterator.shape()[static_cast<std::size_t>(dim)];
  const std::int64_t grain = std::max<std::int64_t>(
      1, default_grain_elements / std::max<std::int64_t>(1, iterator.numel() / extent));
  parallel_for(0, extent, grain, [&](std::int64_t begin, std::int64_t end) {
    TensorIterator part = iterator;
    part.narrow(dim, begin, end - begin);
    function(part);
  });
}

}  // namespace

void parallel_reduce(const TensorIterator& iterator, const Loop2d& loop) {
  check_given(loop != nullptr, "parallel_reduce");
  WEFT_CHECK(iterator.noutputs() == 1 && iterator.ninputs() == 1, ArgumentError,
             "parallel_reduce() takes one input and one output, but was given ", iterator.ninputs(),
             " and ", iterator.noutputs());
  WEFT_CHECK(iterator.dtype(0) == iterator.dtype(1), ArgumentError,
             "parallel_reduce(): the output is ", name(iterator.dtype(0)), ", the input ",
             name(iterator.dtype(1)));
  const std::int64_t numel = iterator.numel();
  if (numel < default_grain_elements) {
    serial_for_each(iterator, loop, 0, numel);
    return;
  }
  const int dim = outermost_kept_dim(iterator);
  if (dim < 0) {
    reduce_to_one(iterator, loop);
    return;
  }
  if (copies_inputs(iterator)) {  // before one of the parts writes
    const FirstElements elements(iterator);
    return parallel_reduce(elements.in_place_of(iterator), loop);
  }
  for_each_part(iterator, dim,
                [&](TensorIterator& part) { serial_for_each(part, loop, 0, part.numel()); });
}

void foreach_reduced_elt(const TensorIterator& iterator,
                         const std::function<void(TensorIterator&)>& function, bool parallelize) {
  check_given(function != nullptr, "foreach_reduced_elt");
  WEFT_CHECK(iterator.ninputs() >= 1 && iterator.noutputs() >= 1, ArgumentError,
             "foreach_reduced_elt() takes an output and an input");
  check_lazy_bits(iterator);
  if (iterator.output(0).numel() == 0) return;
  if (copies_inputs(iterator)) {  // before one of the calls writes
    const FirstElements elements(iterator);
    return foreach_reduced_elt(elements.in_place_of(iterator), function, parallelize);
  }
  const int dim = outermost_kept_dim(iterator);
  if (parallelize && dim >= 0 && iterator.numel() >= default_grain_elements) {
    for_each_part(iterator, dim,
                  [&](TensorIterator& part) { foreach_reduced_elt(part, function, false); });
    return;
  }
  const int num_reduced = iterator.num_reduce_dims();
  const IntSpan kept = iterator.shape().subspan(static_cast<std::size_t>(num_reduced));
  std::int64_t num_outputs = 1;
  for (const std::int64_t size : kept) num_outputs *= size;
  for (DimCounter counter(kept, 0, num_outputs); !counter.is_done(); counter.increment({1, 1})) {
    if (const CancellationToken* const token = CancellationScope::current())
      token->throw_if_cancelled();
    TensorIterator element = iterator;
    element.select_all_keeping_dim(num_reduced, counter.values());
    function(element);
  }
}

namespace detail {

void check_operand_dtype(const TensorIterator& iterator, int operand, DType expected) {
  WEFT_CHECK(iterator.dtype(operand) == expected, ArgumentError, "cpu_kernel(): operand ", operand,
             " is ", name(iterator.dtype(operand)), ", but the function's type for it is ",
             name(expected), "; convert the tensor or give the function this type");
}

void check_operand_count(const TensorIterator& iterator, int outputs, int inputs) {
  WEFT_CHECK(iterator.noutputs() == outputs && iterator.ninputs() == inputs, ArgumentError,
             "cpu_kernel(): the function has ", outputs, " outputs and ", inputs,
             " inputs, but the iterator ", iterator.noutputs(), " and ", iterator.ninputs());
}

}  // namespace detail
}  // namespace weft
