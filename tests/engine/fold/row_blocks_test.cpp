// Which rows are taken together never changes a bit, of operands that would have it otherwise.
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

class RowBlockBits : public ::testing::Test {
 protected:
  /// A view of numbers around 0.
  Tensor numbers(const Sizes& sizes, const Sizes& strides) {
    std::int64_t count = 1;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) count += (sizes[dim] - 1) * strides[dim];
    const Tensor memory = new_tensor({count}, DType::f32);
    for (std::int64_t i = 0; i < count; ++i)
      memory.data_as<float>()[i] = static_cast<float>(random_() % 4'001) / 1000 - 2;
    return memory.as_strided(sizes, strides);
  }
  /// `x - fold` where the fold is of the same call, and of its own.
  void check(const Expr& x, const Expr& fold) {
    const Tensor apart = engine_.eval(fold);
    EXPECT_TRUE(same_tensor(engine_.eval(x - fold), engine_.eval(x - Expr(apart)))) << text(fold);
  }

  Engine engine_;
  Random random_{54};
};

/// In a block of one row, the other operand is as large as the one with rows.
TEST_F(RowBlockBits, OperandsWithoutRowsDontLead) {
  const ReduceOptions options{.dims = {1, 2}, .keepdim = true};
  for (std::int64_t num_rows = 1000; num_rows < 1008; ++num_rows) {
    const Expr x(numbers({num_rows, 40, 50}, {2000, 50, 1})), b(numbers({40, 50}, {1, 40}));
    check(x, ops::sum(b * x, options));
    check(x, ops::sum(x * b, options));
  }
  const Expr x(numbers({600, 30, 70}, {2100, 70, 1})), b(numbers({30, 70}, {1, 30}));
  check(x, ops::sum(b * x, options));
  const Expr wide(numbers({60, 90, 90}, {8100, 90, 1})), turned(numbers({90, 90}, {1, 90}));
  check(wide, ops::sum(turned * wide, options));
}

/// Nor do operands of which all rows together are as large as one row.
TEST_F(RowBlockBits, ShortRowsDontLead) {
  const ReduceOptions options{.dims = {1, 2}, .keepdim = true};
  const Expr x(numbers({1000, 40, 50}, {2000, 50, 1})), b(numbers({40, 50}, {1, 40}));
  check(x, ops::sum(Expr(numbers({1000, 1, 50}, {50, 50, 1})) * b * x, options));
  const Expr longer(numbers({3001, 40, 50}, {2000, 50, 1}));
  check(longer, ops::sum(Expr(numbers({3001, 1, 1}, {1, 1, 1})) * b * longer, options));
}

/// Rows that overlap merge with a dimension that is kept, of one row too short for columns.
TEST_F(RowBlockBits, OverlappingRowsAreLeftWhole) {
  const ReduceOptions options{.dims = {2}, .keepdim = true};
  for (const std::int64_t kept : {2, 3, 4, 7}) {
    const Expr x(numbers({600, kept, 1000}, {kept, 1, 1}));
    check(x, ops::mean(x, options));
  }
}

/// Whose rows and columns are equally far apart.
TEST_F(RowBlockBits, OfWindowsWalkAsTheWhole) {
  const ReduceOptions options{.dims = {1}, .keepdim = true};
  for (const Sizes& strides : {Sizes{1, 1}, Sizes{2, 2}, Sizes{2, 1}}) {
    const Expr x(numbers({1100, 1024}, strides));
    check(x, ops::mean(x, options));
    check(x, ops::logsumexp(x, options));
  }
}

}  // namespace
}  // namespace weft::testing
