// Random operands against plain index arithmetic: every output element is visited once, and meets
// the input elements that broadcasting gives it.
#include <weft/iterator.h>

#include "tests/engine/recordings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace weft {
namespace {

using testing::Ints;

constexpr int num_cases = 100000;

class RandomCase {
 public:
  explicit RandomCase(std::uint32_t seed) : random_(seed) {
    const int ndim = static_cast<int>(pick(0, 7));
    for (int dim = 0; dim < ndim; ++dim) shape_.push_back(pick(0, 24) == 0 ? 0 : pick(1, 4));
    const int num_inputs = static_cast<int>(pick(1, 3));
    for (int i = 0; i < num_inputs; ++i) inputs_.push_back(operand(i > 0, true));
    if (pick(0, 1) == 0) return;
    shape_ = broadcast_of_inputs();
    output_ = operand(false, false);
  }

  const Tensor& output() const { return output_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }

  /// Of the inputs, dimension by dimension.
  Ints broadcast_of_inputs() const {
    std::size_t ndim = 0;
    for (const Tensor& input : inputs_) ndim = std::max<std::size_t>(ndim, input.dim());
    Ints result(ndim, 1);
    for (const Tensor& input : inputs_) {
      const std::size_t missing = ndim - input.dim();
      for (int dim = 0; dim < input.dim(); ++dim) {
        if (input.sizes()[dim] != 1) result[missing + dim] = input.sizes()[dim];
      }
    }
    return result;
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  /// A view with the dimensions in any order in memory, with gaps, some backwards; inputs broadcast
  /// too.
  Tensor operand(bool may_drop, bool may_broadcast) {
    const std::size_t first =
        may_drop && pick(0, 2) == 0 ? pick(0, static_cast<std::int64_t>(shape_.size())) : 0;
    Ints sizes(shape_.begin() + static_cast<std::ptrdiff_t>(first), shape_.end());
    std::vector<std::size_t> order(sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
    if (pick(0, 1) == 0) std::shuffle(order.begin(), order.end(), random_);
    Ints strides(sizes.size());
    std::int64_t stride = pick(0, 3) == 0 ? 2 : 1;
    std::int64_t offset = 0;
    for (std::size_t dim : order) {
      if (may_broadcast && pick(0, 5) == 0) sizes[dim] = 1;
      strides[dim] = stride;
      if (may_broadcast && pick(0, 15) == 0) strides[dim] = 0;
      if (strides[dim] != 0) stride *= std::max<std::int64_t>(sizes[dim], 1);
      if (pick(0, 7) == 0) stride += 1;
      if (pick(0, 7) == 0 && sizes[dim] > 0) {
        offset += (sizes[dim] - 1) * strides[dim];
        strides[dim] = -strides[dim];
      }
    }
    return unbacked(sizes, strides, pick(0, 1) == 0 ? DType::f32 : DType::f64, offset);
  }

  std::mt19937 random_;
  Ints shape_;
  std::vector<Tensor> inputs_;
  Tensor output_;
};

/// The byte offset of the element of `tensor` that broadcasts to `index`.
std::int64_t offset_at(const Tensor& tensor, const Ints& index) {
  std::int64_t offset = 0;
  const std::size_t missing = index.size() - tensor.dim();
  for (int dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.sizes()[dim] != 1) offset += index[missing + dim] * tensor.strides()[dim];
  }
  return offset * static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
}

/// Moves to the next index in `shape`, last dimension first; false after the last.
bool advance(Ints& index, IntSpan shape) {
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    if (++index[dim] < shape[dim]) return true;
    index[dim] = 0;
  }
  return false;
}

using Visits = std::vector<Ints>;  ///< the byte offsets of all operands, output first

Visits visits_of_plan(const TensorIterator& iterator) {
  Visits visits;
  if (iterator.numel() == 0) return visits;
  Ints index(iterator.ndim());
  do {
    Ints& offsets = visits.emplace_back();
    for (int i = 0; i < iterator.ntensors(); ++i) {
      std::int64_t offset = 0;
      for (int dim = 0; dim < iterator.ndim(); ++dim) {
        offset += index[dim] * iterator.stride_bytes(i)[dim];
      }
      offsets.push_back(offset);
    }
  } while (advance(index, iterator.shape()));
  return visits;
}

Visits visits_by_index(const Tensor& output, const std::vector<Tensor>& inputs) {
  Visits visits;
  if (output.numel() == 0) return visits;
  Ints index(output.dim());
  do {
    Ints& offsets = visits.emplace_back();
    offsets.push_back(offset_at(output, index));
    for (const Tensor& input : inputs) offsets.push_back(offset_at(input, index));
  } while (advance(index, output.sizes()));
  return visits;
}

TEST(IteratorProperty, PlansVisitEveryElementOnceWithItsInputs) {
  const char* seed_text = std::getenv("WEFT_SEED");
  const std::uint32_t seed = seed_text != nullptr ? std::strtoul(seed_text, nullptr, 10) : 1;
  for (std::uint32_t i = 0; i < num_cases; ++i) {
    const RandomCase random_case(seed + i);
    TensorIteratorConfig config;
    config.promote_inputs_to_common_dtype(true).add_output(random_case.output());
    for (const Tensor& input : random_case.inputs()) config.add_input(input);
    const TensorIterator iterator = config.build();
    ASSERT_EQ(testing::ints(iterator.output().sizes()), random_case.broadcast_of_inputs())
        << "WEFT_SEED=" << seed + i;
    Visits planned = visits_of_plan(iterator);
    Visits expected = visits_by_index(iterator.output(), random_case.inputs());
    std::ranges::sort(planned);
    std::ranges::sort(expected);
    ASSERT_EQ(planned, expected) << "WEFT_SEED=" << seed + i << "\n" << iterator.text();
    const auto repeated = std::ranges::adjacent_find(
        planned, [](const Ints& a, const Ints& b) { return a[0] == b[0]; });
    ASSERT_EQ(repeated, planned.end()) << "WEFT_SEED=" << seed + i << "\n" << iterator.text();
  }
}

/// The short cut for plain calls and the stages must agree; set_common_dtype() keeps the short cut
/// out.
TEST(IteratorProperty, PlainCallsArePlannedAsTheStagesDo) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    Ints sizes(random() % 6);
    for (std::int64_t& size : sizes) size = 1 + random() % 4;
    Tensor operands[3];
    for (Tensor& operand : operands) operand = empty(sizes, {DType::f32, {}, {}});
    const bool in_place = random() % 2 == 0;
    const auto plan = [&](bool by_stages) {
      TensorIteratorConfig config;
      if (by_stages) config.set_common_dtype(DType::f32);
      config.add_output(operands[0])
          .add_input(operands[in_place ? 0 : 1])
          .add_const_input(operands[2]);
      return config.build();
    };
    const TensorIterator plain = plan(false);
    const TensorIterator staged = plan(true);
    ASSERT_EQ(plain.text(), staged.text());
    for (int operand = 0; operand < 3; ++operand) {
      ASSERT_EQ(plain.data(operand), staged.data(operand));
      ASSERT_EQ(plain.dtype(operand), staged.dtype(operand));
    }
  }
}

}  // namespace
}  // namespace weft
