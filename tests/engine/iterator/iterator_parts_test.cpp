// Iterators that are narrowed, cut in two, and stripped of operands.
#include <weft/iterator.h>

#include <weft/error.h>

#include "tests/engine/support/ints.h"
#include "tests/matchers.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;
using testing::Ints;
using testing::ints;

Tensor f32(std::initializer_list<std::int64_t> sizes) { return empty(sizes, DType::f32); }

/// A copy of a transposed matrix, which stays two dimensions.
TensorIterator transposed_copy(const Tensor& out, const Tensor& a) {
  return TensorIterator::unary_op(out, a);
}

TEST(IteratorParts, NarrowRefusesWhatWouldOverflow) {
  const Tensor a = zeros(std::vector<std::int64_t>{8});
  TensorIterator iterator = TensorIterator::unary_op(Tensor(), a);
  const std::byte* const data = iterator.data(1);
  EXPECT_THROW(iterator.narrow(0, std::numeric_limits<std::int64_t>::max(), 1), ArgumentError);
  EXPECT_THROW(iterator.narrow(0, 1, std::numeric_limits<std::int64_t>::max()), ArgumentError);
  EXPECT_EQ(iterator.data(1), data);
}

TEST(IteratorParts, NarrowSplitAndSelect) {
  const Tensor out = f32({4, 6});
  const Tensor a = f32({6, 4}).t();
  TensorIterator whole = transposed_copy(out, a);
  ASSERT_EQ(ints(whole.shape()), (Ints{6, 4}));
  TensorIterator selected = whole;
  selected.select_all_keeping_dim(0, Ints{2, 1});
  EXPECT_EQ(selected.data(0), out.data() + (1 * 6 + 2) * 4);
  EXPECT_EQ(selected.numel(), 1);
  TensorIterator outer = whole;
  outer.select_all_keeping_dim(1, Ints{3});
  EXPECT_EQ(outer.data(0), out.data() + 3 * whole.stride_bytes(0)[1]);
  EXPECT_EQ(ints(outer.shape()), (Ints{6, 1}));

  TensorIterator second = whole;
  const TensorIterator first = second.split(0);
  EXPECT_EQ(ints(first.shape()), (Ints{3, 4}));
  EXPECT_EQ(ints(second.shape()), (Ints{3, 4}));
  EXPECT_EQ(second.data(0), out.data() + 3 * 4);
  EXPECT_EQ(second.view_offsets(), (std::vector<std::int64_t>{3, 0}));
  EXPECT_TRUE(first.is_final_output());

  TensorIterator row = whole;
  row.narrow(0, 5, 1);
  EXPECT_EQ(ints(row.shape()), (Ints{4}));
  EXPECT_TRUE(row.is_trivial_1d());
  try {
    whole.narrow(0, 5, 2);
    FAIL() << "outside";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 elements from 5 on of dimension 0"));
  }
  whole.remove_operand(1);
  EXPECT_EQ(whole.ntensors(), 1);
  EXPECT_EQ(whole.compatible_stride(4), (std::vector<std::int64_t>{4, 24}));
}

TEST(IteratorParts, RemovedOperandsTakeTheirStridesAndNamesWithThem) {
  const Tensor out = f32({4, 6}), a = f32({6, 4}).t(), b = f32({6});
  TensorIterator iterator = TensorIteratorConfig()
                                .add_output(out)
                                .add_input(a)
                                .add_input(b)
                                .set_names({"out", "first", "second"})
                                .build();
  const Ints strides_of_b = ints(iterator.stride_bytes(2));
  iterator.remove_operand(1);
  ASSERT_EQ(iterator.ntensors(), 2);
  EXPECT_EQ(ints(iterator.stride_bytes(1)), strides_of_b);
  EXPECT_EQ(iterator.data(1), b.data());
  EXPECT_THAT(iterator.text(), HasSubstr("second"));
  EXPECT_EQ(iterator.text().find("first:"), std::string::npos);
}

TEST(IteratorParts, ThePlanIsCutWhereItReachesFarthest) {
  // Both dimensions of the input reach 4 bytes far: the outer one is cut.
  const TensorIterator tie =
      TensorIterator::unary_op(Tensor(), unbacked(Ints{2, 3}, Ints{4, 2}, DType::u8));
  ASSERT_EQ(ints(tie.shape()), (Ints{3, 2}));
  EXPECT_EQ(tie.get_dim_to_split(), 1);
  EXPECT_THROW(
      TensorIterator::unary_op(Tensor(), unbacked(Ints{0}, Ints{1}, DType::u8)).get_dim_to_split(),
      ArgumentError);
  const TensorIterator empty_plan = TensorIterator::unary_op(
      Tensor(), unbacked(Ints{0, 2}, Ints{1, std::int64_t{1} << 40}, DType::u8));
  EXPECT_TRUE(empty_plan.can_use_32bit_indexing());
  const TensorIterator far_apart =
      TensorIterator::unary_op(Tensor(), unbacked(Ints{2}, Ints{std::int64_t{1} << 40}, DType::u8));
  EXPECT_FALSE(far_apart.can_use_32bit_indexing());
}

TEST(IteratorParts, OnlyOneRunOfNeighboursIsContiguous) {
  const Tensor rows = f32({4, 8}).narrow(1, 0, 6);
  const TensorIterator iterator = TensorIterator::unary_op(f32({4, 6}), rows);
  ASSERT_EQ(iterator.ndim(), 2);
  EXPECT_TRUE(iterator.has_contiguous_first_dim());
  EXPECT_FALSE(iterator.is_contiguous());
  EXPECT_TRUE(TensorIterator::unary_op(f32({4, 6}), f32({4, 6})).is_contiguous());
  EXPECT_FALSE(TensorIterator::unary_op(f32({6}), f32({12}).as_strided({6}, {2})).is_contiguous());
}

TEST(IteratorParts, SplittingAReducedDimensionAccumulates) {
  const Tensor a = f32({8});
  const Tensor out = f32({1}).as_strided({8}, {0});
  TensorIterator second = TensorIterator::reduce_op(out, a);
  const TensorIterator first = second.split(0);
  EXPECT_FALSE(first.is_final_output());
  EXPECT_TRUE(second.is_final_output());
  EXPECT_TRUE(second.should_accumulate());
}

TEST(IteratorParts, NothingIsReducedOfOneElement) {
  const TensorIterator one = TensorIterator::reduce_op(f32({1}).as_strided({1}, {0}), f32({1}));
  ASSERT_EQ(one.ndim(), 1);
  EXPECT_FALSE(one.is_dim_reduced(0));
}

TEST(IteratorParts, LargePlansFallIntoPartsOf32Bits) {
  const Ints sizes = {3, std::int64_t{1} << 30};
  const Ints strides = {std::int64_t{1} << 31, 2};
  const Tensor a = unbacked(sizes, strides, DType::u8);
  const TensorIterator whole = TensorIterator::unary_op(Tensor(), a);
  EXPECT_FALSE(whole.can_use_32bit_indexing());
  EXPECT_EQ(whole.get_dim_to_split(), 0);
  std::int64_t numel = 0;
  for (const TensorIterator& part : whole.with_32bit_indexing()) {
    EXPECT_TRUE(part.can_use_32bit_indexing());
    numel += part.numel();
  }
  EXPECT_EQ(numel, whole.numel());
}

TEST(IteratorParts, WhereAllStandsStillTheDimensionWithElementsIsCut) {
  const Ints sizes = {1, std::int64_t{1} << 33}, strides = {0, 0};
  const TensorOptions meta{DType::u8, {DeviceType::meta, 0}};
  const Tensor a = empty({1}, meta).as_strided(sizes, strides);
  TensorIteratorConfig config;
  const TensorIterator whole =
      config.set_check_mem_overlap(false).add_output(a).add_input(a).build();
  std::int64_t numel = 0;
  for (const TensorIterator& part : whole.with_32bit_indexing()) numel += part.numel();
  EXPECT_EQ(numel, whole.numel());
}

}  // namespace
}  // namespace weft
