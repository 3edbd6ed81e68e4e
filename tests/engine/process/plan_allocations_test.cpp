// Planning takes nothing from the heap up to six dimensions and four operands.  A program of its
// own, because it replaces operator new.
#include "tests/engine/support/counted_new.h"

#include <weft/iterator.h>

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

int allocations_of_planning(const Tensor& out, const std::vector<Tensor>& inputs) {
  const int before = num_allocations;
  {
    TensorIteratorConfig config;
    config.promote_inputs_to_common_dtype(true).add_output(out);
    for (const Tensor& input : inputs) config.add_input(input);
    const TensorIterator iterator = config.build();
    EXPECT_GT(iterator.numel(), 0);
  }
  return num_allocations - before;
}

Tensor tensor(const std::vector<std::int64_t>& sizes, DType dtype = DType::f32) {
  return zeros(IntSpan(sizes), {dtype, {}, MemoryFormat::contiguous});
}

TEST(PlanAllocations, NoneUpToSixDimensionsAndFourOperands) {
  const std::vector<std::int64_t> sizes = {2, 3, 2, 3, 2, 3};
  const Tensor out = tensor(sizes);
  EXPECT_EQ(allocations_of_planning(tensor({8}), {tensor({8}), tensor({8})}), 0);
  EXPECT_EQ(allocations_of_planning(out, {tensor(sizes), tensor(sizes), tensor(sizes)}), 0);
  const Tensor permuted = tensor({3, 2, 3, 2, 3, 2}).permute({5, 4, 3, 2, 1, 0});
  const Tensor row = tensor({3});
  EXPECT_EQ(allocations_of_planning(out, {permuted, row, tensor({2, 3, 1, 1, 2, 3})}), 0);
  EXPECT_EQ(allocations_of_planning(out, {permuted, tensor({3}, DType::i32), row}), 0);
}

TEST(PlanAllocations, AreCounted) {
  const std::vector<std::int64_t> sizes(7, 2);
  EXPECT_GT(allocations_of_planning(tensor(sizes), {tensor(sizes), tensor({2, 1})}), 0);
}

}  // namespace
}  // namespace weft
