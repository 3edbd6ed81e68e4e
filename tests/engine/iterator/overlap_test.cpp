// Checks the exact answers against marking every byte.  weft_conformance replays PyTorch's
// recordings.
#include <weft/overlap.h>

#include <weft/error.h>
#include <weft/iterator.h>

#include "engine/overlap/byte_set.h"
#include "engine/overlap/overlap_solver.h"
#include "tests/engine/support/ints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

namespace weft {
namespace {

using testing::Ints;

/// Bytes of every element, in row-major order.
std::vector<std::pair<Ints, std::int64_t>> elements(const Tensor& tensor) {
  std::vector<std::pair<Ints, std::int64_t>> result;
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
  for (std::int64_t linear = 0; linear < tensor.numel(); ++linear) {
    Ints index(tensor.dim());
    std::int64_t rest = linear;
    std::int64_t address = tensor.storage_offset();
    for (int dim = tensor.dim() - 1; dim >= 0; --dim) {
      index[dim] = rest % tensor.size(dim);
      rest /= tensor.size(dim);
      address += index[dim] * tensor.stride(dim);
    }
    result.emplace_back(index, address * itemsize);
  }
  return result;
}

std::optional<OverlapPair> naive_overlap(const Tensor& a, const Tensor& b, bool within_one) {
  const auto a_elements = elements(a);
  const auto b_elements = elements(b);
  const auto a_size = static_cast<std::int64_t>(itemsize_bytes(a.dtype()));
  const auto b_size = static_cast<std::int64_t>(itemsize_bytes(b.dtype()));
  for (std::size_t i = 0; i < a_elements.size(); ++i) {
    for (std::size_t j = within_one ? i + 1 : 0; j < b_elements.size(); ++j) {
      const std::int64_t difference = a_elements[i].second - b_elements[j].second;
      if (-a_size < difference && difference < b_size) {
        return OverlapPair{a_elements[i].first, b_elements[j].first};
      }
    }
  }
  return {};
}

/// A small view of `storage` with strides of either sign.
Tensor random_view(std::mt19937& random, const Tensor& whole) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  while (true) {
    const auto ndim = pick(0, 3);
    Ints sizes, strides;
    std::int64_t first = 0, last = 0;
    for (int i = 0; i < ndim; ++i) {
      sizes.push_back(pick(pick(0, 9) == 0 ? 0 : 1, 4));
      strides.push_back(pick(-9, 9));
      (strides.back() < 0 ? first : last) +=
          std::max<std::int64_t>(sizes.back() - 1, 0) * strides.back();
    }
    const std::int64_t room = whole.numel() - 1 - last;
    if (room < -first) continue;
    return whole.as_strided(sizes, strides, pick(-first, room));
  }
}

void expect_same(const std::optional<OverlapPair>& found, const std::optional<OverlapPair>& naive) {
  ASSERT_EQ(found.has_value(), naive.has_value());
  if (!found) return;
  EXPECT_EQ(found->a, naive->a);
  EXPECT_EQ(found->b, naive->b);
}

TEST(Overlap, ExactAnswersAreThoseOfTryingAllPairs) {
  std::mt19937 random(20251);
  const Tensor floats = empty({40}, DType::f32);
  const Tensor shorts = floats.view(DType::i16);
  int overlaps = 0;
  for (int i = 0; i < 4000; ++i) {
    const Tensor a = random_view(random, i % 3 == 0 ? shorts : floats);
    const Tensor b = random_view(random, i % 5 == 0 ? shorts : floats);
    SCOPED_TRACE(layout_text(a) + " and " + layout_text(b));
    const std::optional<OverlapPair> naive = naive_overlap(a, b, false);
    overlaps += naive.has_value();
    EXPECT_EQ(memory_overlaps_exactly(a, b), naive.has_value());
    expect_same(first_overlap(a, b), naive);
    const std::optional<OverlapPair> within = naive_overlap(a, a, true);
    EXPECT_EQ(overlaps_itself_exactly(a), within.has_value());
    expect_same(first_internal_overlap(a), within);
    if (HasFailure()) return;
  }
  EXPECT_GT(overlaps, 500);
  EXPECT_LT(overlaps, 3500);
}

TEST(Overlap, InterleavedViewsShareNothing) {
  const Tensor x = empty({1000000}, DType::f32);
  EXPECT_FALSE(memory_overlaps_exactly(x.slice(0, 0, {}, 2), x.slice(0, 1, {}, 2)));
  EXPECT_TRUE(memory_overlaps_exactly(x.slice(0, 0, {}, 2), x.slice(0, 3, {}, 3)));
}

TEST(Overlap, StoragesAtOverlappingAddressesAreSeen) {
  std::vector<float> memory(16);
  const Ints sizes = {8};
  const Tensor low = from_blob(memory.data(), sizes, DType::f32);
  const Tensor high = from_blob(memory.data() + 7, sizes, DType::f32);
  const Tensor apart = from_blob(memory.data() + 8, sizes, DType::f32);
  EXPECT_TRUE(memory_overlaps_exactly(low, high));
  EXPECT_FALSE(memory_overlaps_exactly(low, apart));
  TensorIteratorConfig config;
  const TensorIterator iterator = config.add_output(low).add_input(high).add_input(apart).build();
  EXPECT_TRUE(iterator.needs_temporary(0));
  EXPECT_FALSE(iterator.needs_temporary(1));
}

TEST(Overlap, MessagesNameTheFirstConflictingPair) {
  const Tensor x = empty({3, 4}, DType::f32);
  try {
    assert_no_internal_overlap(empty({1, 3}, DType::f32).expand({2, 3}), "output 0 `x`");
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("elements [0, 0] and [1, 0] of output 0 `x`"),
              std::string::npos)
        << error.what();
  }
  try {
    assert_no_partial_overlap(x.narrow(0, 0, 2), x.narrow(0, 1, 2));
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("element [1, 0] of the written-to tensor and element "
                        "[0, 0] of the input"),
              std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW(assert_no_partial_overlap(x, x));
  EXPECT_THROW(assert_no_overlap(x, x), ArgumentError);
}

/// What must be read before the first write, for out += in.
bool needs_temporary(const Tensor& out, const Tensor& in, bool exact = true) {
  TensorIteratorConfig config;
  return config.set_exact_mem_overlap(exact)
      .add_output(out)
      .add_input(out)
      .add_input(in)
      .build()
      .needs_temporary(1);
}

TEST(Overlap, ViewsThatPyTorchLetsThroughNeedATemporary) {
  const Tensor x = empty({10}, DType::f32);
  EXPECT_TRUE(needs_temporary(x.slice(0, 2, 10, 2), x.slice(0, 0, 8, 2)));
  EXPECT_FALSE(needs_temporary(x.slice(0, 2, 10, 2), x.slice(0, 0, 8, 2), false));
  EXPECT_FALSE(needs_temporary(x.slice(0, 1, 9, 2), x.slice(0, 0, 8, 2)));
  EXPECT_FALSE(needs_temporary(x.slice(0, 2, 10, 2), x.slice(0, 2, 10, 2)));
  EXPECT_TRUE(needs_temporary(x, x.flip({0})));
  const Tensor matrix = empty({3, 4}, DType::f32);
  EXPECT_TRUE(needs_temporary(matrix.narrow(1, 1, 2), matrix.narrow(1, 0, 2)));
  EXPECT_FALSE(needs_temporary(matrix.narrow(1, 2, 2), matrix.narrow(1, 0, 2)));
  // An output that overlaps itself is let through; what it reads is what was there before.
  const Tensor self_overlapping = x.as_strided({3, 2}, {1, 1});
  EXPECT_TRUE(needs_temporary(self_overlapping, self_overlapping));
}

TEST(ByteSets, AreThoseOfCopiesOneByOne) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = 1 + random() % 700;
    ByteSet set(size), other(size);
    std::vector<bool> naive(size);
    const std::size_t first = random() % size,
                      count = 1 + random() % std::min<std::size_t>(size - first, 16);
    set.add(first, count);
    for (std::size_t i = 0; i < count; ++i) naive[first + i] = true;
    for (int step = 0; step < 3; ++step) {
      const std::size_t distance = random() % 200, copies = 1 + random() % 9;
      if (random() % 4 == 0) {
        set.shift(distance);
        std::vector<bool> moved(size);
        for (std::size_t i = distance; i < size; ++i) moved[i] = naive[i - distance];
        naive = moved;
      } else {
        set.repeat(distance, copies);
        const std::vector<bool> one = naive;
        for (std::size_t copy = 1; copy < copies; ++copy)
          for (std::size_t i = copy * distance; i < size; ++i)
            if (one[i - copy * distance]) naive[i] = true;
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      ByteSet byte(size);
      byte.add(i, 1);
      ASSERT_EQ(set.intersects(byte), naive[i]) << i;
    }
  }
}

// Layouts that the search often gives up, once with each element 2^30 times.
TEST(Overlap, IsTriedOutInTheTimeOfTheBytesAndNotOfTheElements) {
  std::mt19937 random(1);
  int overlaps = 0;
  for (int round = 0; round < 40; ++round) {
    Ints sizes(9), strides(9), other_strides(9);
    for (std::size_t dim = 0; dim < 9; ++dim) {
      sizes[dim] = 2 + static_cast<std::int64_t>(random() % 2);
      strides[dim] = 1000 + static_cast<std::int64_t>(random() % 3000000);
      other_strides[dim] = 1000 + static_cast<std::int64_t>(random() % 3000000);
    }
    const Tensor bytes = unbacked(Ints{60000000}, Ints{1}, DType::u8);
    const Tensor a = bytes.as_strided(sizes, strides, 0);
    const Tensor b =
        bytes.as_strided(sizes, other_strides, static_cast<std::int64_t>(random() % 50));
    std::set<std::int64_t> of_a, both;
    for (const auto& [index, address] : elements(a)) of_a.insert(address);
    for (const auto& [index, address] : elements(b))
      if (of_a.contains(address)) both.insert(address);
    overlaps += !both.empty();
    ASSERT_EQ(memory_overlaps_exactly(a, b), !both.empty()) << layout_text(b);
    ASSERT_EQ(overlaps_itself_exactly(a), std::ssize(of_a) < a.numel()) << layout_text(a);
    Ints many_sizes = {std::int64_t{1} << 30}, many_strides = {0};
    many_sizes.insert(many_sizes.end(), sizes.begin(), sizes.end());
    many_strides.insert(many_strides.end(), strides.begin(), strides.end());
    const Tensor many = bytes.as_strided(many_sizes, many_strides, 0);
    ASSERT_EQ(memory_overlaps_exactly(many, b), !both.empty());
    ASSERT_EQ(memory_overlaps_exactly(b, many), !both.empty());
  }
  EXPECT_GT(overlaps, 2);
  EXPECT_LT(overlaps, 38);
}

TEST(OverlapSolver, GivesUpRatherThanRunOn) {
  // Even coefficients never make an odd sum, which the common divisor shows without a search.
  const std::vector<BoundedTerm> even = {{6, 0, 1000000}, {10, 0, 1000000}, {-4, 0, 1000000}};
  EXPECT_EQ(solve(even, 7, 7, 10), Solvable::no);
  EXPECT_EQ(solve(even, 8, 8, 100), Solvable::yes);
  const std::vector<BoundedTerm> many = {{1000003, 0, 40}, {1000033, 0, 40}, {1000037, 0, 40},
                                         {1000039, 0, 40}, {1000081, 0, 40}, {1000099, 0, 40}};
  EXPECT_EQ(solve(many, 100005001, 100005001, 3), Solvable::unknown);
}

TEST(OverlapSolver, LeavesOpenWhatNoMachineAddresses) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(solve({{most / 4, 0, 6}}, 0, 0), Solvable::unknown);
  EXPECT_EQ(solve({{-most - 1, -most, most}}, 0, 0), Solvable::unknown);
  EXPECT_EQ(solve({{most, 1, 0}, {most, 0, most}}, 0, 0), Solvable::no);
  // A stride of 0 reaches nothing, however often it is taken.
  EXPECT_EQ(first_solution({{0, 1 - most, most - 1}, {4, 0, 9}}, 8, 8),
            (std::vector<std::int64_t>{1 - most, 2}));
}

}  // namespace
}  // namespace weft
