// Random operands against plain index arithmetic: every output element is visited once, and meets
// the input elements that broadcasting gives it.
#include <weft/error.h>
#include <weft/iterator.h>

#include "tests/engine/support/ints.h"

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

/// A tensor with bytes: dense with the dimensions in any order, or for inputs also with gaps,
/// backwards, broadcast or without leading dimensions.
Tensor backed_operand(std::mt19937& random, Ints sizes, bool is_output) {
  const auto one_in = [&](int count) { return random() % count == 0; };
  if (!is_output && one_in(3)) {
    sizes.erase(sizes.begin(), sizes.begin() + random() % (sizes.size() + 1));
  }
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  if (one_in(2)) std::shuffle(order.begin(), order.end(), random);
  Ints strides(sizes.size());
  std::int64_t stride = 1;
  std::int64_t offset = 0;
  for (std::size_t dim : order) {
    if (!is_output && one_in(6)) sizes[dim] = 1;
    strides[dim] = !is_output && one_in(8) ? 0 : stride;
    stride *= sizes[dim];
    if (!is_output && one_in(8)) stride += 1;
    if (!is_output && sizes[dim] > 0 && one_in(8)) {
      offset += (sizes[dim] - 1) * strides[dim];
      strides[dim] = -strides[dim];
    }
  }
  const std::int64_t buffer_sizes[] = {stride + offset + 64};
  return empty(buffer_sizes, {DType::f32, {}, {}}).as_strided(sizes, strides, offset);
}

void expect_same_plan(const TensorIterator& plan, const TensorIterator& expected) {
  ASSERT_EQ(plan.text(), expected.text());
  ASSERT_EQ(plan.fast_setup(), expected.fast_setup());
  ASSERT_EQ(plan.has_coalesced_dimensions(), expected.has_coalesced_dimensions());
  ASSERT_TRUE(std::ranges::equal(plan.perm(), expected.perm()));
  ASSERT_TRUE(std::ranges::equal(plan.sizes(), expected.sizes()));
  ASSERT_TRUE(std::ranges::equal(plan.shape(), expected.shape()));
  ASSERT_EQ(plan.is_read_write(0), expected.is_read_write(0));
  for (int i = 0; i < plan.ntensors(); ++i) {
    ASSERT_TRUE(std::ranges::equal(plan.stride_bytes(i), expected.stride_bytes(i)));
    ASSERT_EQ(plan.data(i), expected.data(i));
    if (i > 0) {
      ASSERT_EQ(plan.needs_temporary(i - 1), expected.needs_temporary(i - 1));
    }
  }
}

/// The same for operands in any order, broadcast, with gaps or backwards; set_common_dtype() keeps
/// the short cut out here too.
TEST(IteratorProperty, GivenOperandsArePlannedAsTheStagesDo) {
  std::mt19937 random(11);
  for (int i = 0; i < 40000; ++i) {
    Ints sizes(random() % 8);
    for (std::int64_t& size : sizes) size = random() % 16 == 0 ? 0 : 1 + random() % 4;
    const int num_inputs = 1 + static_cast<int>(random() % 4);
    const Tensor output = backed_operand(random, sizes, true);
    std::vector<Tensor> inputs;
    for (int k = 0; k < num_inputs; ++k) inputs.push_back(backed_operand(random, sizes, k == 0));
    if (random() % 4 == 0) inputs[random() % inputs.size()] = output;
    const bool is_linear = random() % 8 == 0;
    const auto plan = [&](bool by_stages) {
      TensorIteratorConfig config;
      if (by_stages) config.set_common_dtype(DType::f32);
      config.enforce_linear_iteration(is_linear).add_output(output);
      for (const Tensor& input : inputs) config.add_input(input);
      return config.build();
    };
    SCOPED_TRACE(i);
    expect_same_plan(plan(false), plan(true));
    if (HasFatalFailure()) return;
  }
}

bool is_planned_at_once(const Tensor& output, std::initializer_list<Tensor> inputs) {
  TensorIteratorConfig config;
  config.promote_inputs_to_common_dtype(true).add_output(output);
  for (const Tensor& input : inputs) config.add_input(input);
  return config.build().is_planned_at_once();
}

/// What is called often must not need the stages: a plan is the same without them, but slower.
TEST(IteratorProperty, WhatIsCommonIsPlannedAtOnce) {
  const auto f32 = [](const Ints& sizes) { return empty(sizes, {DType::f32, {}, {}}); };
  for (const Ints& sizes : {Ints{5}, {3, 4}, {2, 3, 4}, {2, 3, 4, 5}, {2, 3, 4, 5, 6}}) {
    SCOPED_TRACE(sizes.size());
    const Tensor out = f32(sizes), a = f32(sizes), b = f32(sizes);
    EXPECT_TRUE(is_planned_at_once(out, {a}));
    EXPECT_TRUE(is_planned_at_once(out, {a, b}));
    EXPECT_TRUE(is_planned_at_once(out, {a, b, a}));
    EXPECT_TRUE(is_planned_at_once(out, {out, b}));
    const Tensor last = f32({sizes.back()});
    EXPECT_TRUE(is_planned_at_once(out, {a, last}));
    Ints wider = sizes;
    wider.back() += 3;
    EXPECT_TRUE(is_planned_at_once(out, {a, f32(wider).narrow(-1, 1, sizes.back())}));
    Ints reversed(sizes.rbegin(), sizes.rend());
    reversed.back() += 3;
    std::vector<int> order(sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<int>(order.size() - 1 - i);
    EXPECT_TRUE(
        is_planned_at_once(out, {a, f32(reversed).narrow(-1, 2, sizes.front()).permute(order)}));
    for (const DType dtype : {DType::u8, DType::i64, DType::f16, DType::c64}) {
      const Tensor other = empty(sizes, {dtype, {}, {}});
      EXPECT_TRUE(is_planned_at_once(other, {other, other})) << name(dtype);
    }
  }
}

TEST(IteratorProperty, WhatNeedsTheStagesGetsThem) {
  const auto f32 = [](const Ints& sizes) { return empty(sizes, {DType::f32, {}, {}}); };
  const Tensor out = f32({3, 4}), a = f32({3, 4});
  EXPECT_FALSE(is_planned_at_once(Tensor(), {a}));
  EXPECT_FALSE(is_planned_at_once(out, {a, empty({3, 4}, DType::f64)}));
  EXPECT_FALSE(is_planned_at_once(out, {f32({1, 4}), f32({1, 4})}));  // no input has every row
  EXPECT_FALSE(is_planned_at_once(out, {f32({3, 1}), f32({3, 1})}));
  EXPECT_FALSE(is_planned_at_once(f32({0, 4}), {f32({0, 4})}));
  EXPECT_FALSE(is_planned_at_once(f32({3, 4, 8}).narrow(-1, 0, 4), {f32({3, 4, 4})}));
  EXPECT_FALSE(is_planned_at_once(f32({4, 3}).t(), {f32({4, 3}).t()}));
}

/// Overlapping views of one buffer: what the short cut leaves to the stages.
TEST(IteratorProperty, OverlapIsLeftToTheStages) {
  const std::int64_t buffer_sizes[] = {64};
  const Tensor buffer = empty(buffer_sizes, {DType::f32, {}, {}});
  const Ints sizes = {4, 4};
  const Tensor output = buffer.as_strided(sizes, Ints{8, 2}, 1);
  const Tensor moved = buffer.as_strided(sizes, Ints{8, 2}, 3);
  const TensorIterator iterator =
      TensorIteratorConfig().add_output(output).add_input(moved).build();
  EXPECT_TRUE(iterator.needs_temporary(0));
  const Tensor dense = buffer.as_strided(sizes, Ints{1, 4}, 0);
  const Tensor shifted = buffer.as_strided(sizes, Ints{1, 4}, 1);
  EXPECT_THROW(TensorIteratorConfig().add_output(dense).add_input(shifted).build(), ArgumentError);
  // The third row of the input lies within the output, the first sixteen elements do not.
  const Tensor apart = buffer.as_strided(sizes, Ints{12, 1}, 0);
  const Tensor later = buffer.as_strided(sizes, Ints{4, 1}, 20);
  EXPECT_TRUE(TensorIteratorConfig().add_output(later).add_input(apart).build().needs_temporary(0));
  EXPECT_FALSE(
      TensorIteratorConfig().add_output(dense).add_input(dense).build().needs_temporary(0));
}

}  // namespace
}  // namespace weft
