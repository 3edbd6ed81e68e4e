// Views that there are not: who asks for them is told what PyTorch says.
#include "tests/matchers.h"

#include <weft/error.h>
#include <weft/tensor.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;
using Index = std::vector<std::int64_t>;

Tensor scalar() { return weft::empty(Index{}); }

struct Refusal {
  const char* fragment;
  void (*call)(const Tensor& x);
};

/// `x` is f32[3, 4].  The fragments are PyTorch's.
constexpr Refusal refusals[] = {
    {"Dimension out of range (expected to be in range of [-2, 1], but got 2)",
     [](const Tensor& x) { x.transpose(0, 2); }},
    {"Dimension out of range (expected to be in range of [-2, 1], but got -3)",
     [](const Tensor& x) { x.size(-3); }},
    {"Dimension specified as 0 but tensor has no dimensions",
     [](const Tensor&) { scalar().size(0); }},
    {"Dimension out of range (expected to be in range of [-1, 0], but got 1)",
     [](const Tensor&) { scalar().transpose(0, 1); }},
    {"select() cannot be applied to a 0-dim tensor.", [](const Tensor&) { scalar().select(0, 0); }},
    {"select(): index 7 out of range for tensor of size [3, 4] at dimension 0",
     [](const Tensor& x) { x.select(0, 7); }},
    {"start (2) + length (3) exceeds dimension size (3).",
     [](const Tensor& x) { x.narrow(0, 2, 3); }},
    {"number of dimensions in the tensor input does not match the length of the desired ordering",
     [](const Tensor& x) { x.permute({0}); }},
    {"permute(): duplicate dims are not allowed.",
     [](const Tensor& x) {
       x.permute({0, -2});
     }},
    {"The expanded size of the tensor (5) must match the existing size (3) at non-singleton "
     "dimension "
     "0.  Target sizes: [5, 4].  Tensor sizes: [3, 4]",
     [](const Tensor& x) {
       x.expand({5, 4});
     }},
    {"the number of sizes provided (1) must be greater or equal to the number of dimensions in "
     "the "
     "tensor (2)",
     [](const Tensor& x) { x.expand({4}); }},
    {"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0",
     [](const Tensor& x) {
       x.expand({-1, 3, 4});
     }},
    {"The expanded size of the tensor (-2) must match the existing size (4)",
     [](const Tensor& x) {
       x.expand({3, -2});
     }},
    {"numel: integer multiplication overflow",
     [](const Tensor&) {
       scalar().expand({std::int64_t{1} << 40, std::int64_t{1} << 40});
     }},
    {"shape '[5, -1]' is invalid for input of size 12",
     [](const Tensor& x) {
       x.view({5, -1});
     }},
    {"only one dimension can be inferred",
     [](const Tensor& x) {
       x.view({-1, -1});
     }},
    {"invalid shape dimension -2",
     [](const Tensor& x) {
       x.view({-2, 6});
     }},
    {"view size is not compatible with input tensor's size and stride (at least one dimension "
     "spans "
     "across two contiguous subspaces). Use .reshape(...) instead.",
     [](const Tensor& x) { x.t().view({12}); }},
    {"cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension "
     "size -1 "
     "can be any value and is ambiguous",
     [](const Tensor&) {
       empty({0, 3}).view({-1, 0});
     }},
    {"dim 0 appears multiple times in the list of dims",
     [](const Tensor& x) {
       x.flip({0, -2});
     }},
    {"diagonal dimensions cannot be identical 0, 0", [](const Tensor& x) { x.diagonal(0, 0, 0); }},
    {"maximum size for tensor at dimension 0 is 3 but size is 4",
     [](const Tensor& x) { x.unfold(0, 4, 1); }},
    {"step is 0 but must be > 0", [](const Tensor& x) { x.unfold(0, 1, 0); }},
    {"t() expects a tensor with <= 2 dimensions, but self is 3D",
     [](const Tensor& x) { x.unsqueeze(0).t(); }},
    {"movedim: repeated dim in `source` ([0, 0])",
     [](const Tensor&) {
       ones({}).movedim(std::vector{0, 0}, std::vector{-1, -1});
     }},
    {"movedim: repeated dim in `source` ([0, 0])",
     [](const Tensor& x) {
       x.movedim(std::vector{0, 0}, std::vector{0, 1});
     }},
    {"movedim: repeated dim in `destination` ([1, 1])",
     [](const Tensor& x) {
       x.movedim(std::vector{0, 1}, std::vector{1, 1});
     }},
    {"movedim: Invalid source or destination dims: source ([0, 1] dims) should contain the same "
     "number "
     "of dims as destination ([0] dims)",
     [](const Tensor& x) {
       x.movedim(std::vector{0, 1}, std::vector{0});
     }},
    {"mismatch in length of strides and shape",
     [](const Tensor& x) {
       x.as_strided({2}, {1, 1});
     }},
    {"Tensor: invalid storage offset -1", [](const Tensor& x) { x.as_strided({2}, {1}, -1); }},
    {"setStorage: sizes [10, 10], strides [10, 1], storage offset 0, and itemsize 4 requiring a "
     "storage "
     "size of 400 are out of bounds for storage of size 48",
     [](const Tensor& x) {
       x.as_strided({10, 10}, {10, 1});
     }},
    {"reach 1 elements before the beginning of the storage",
     [](const Tensor& x) { x.as_strided({3}, {-1}, 1); }},
    {"Trying to create tensor with negative dimension -2: [-2]",
     [](const Tensor& x) { x.as_strided({-2}, {1}); }},
    {"Storage size calculation overflowed with sizes=[3] and strides=[9223372036854775807]",
     [](const Tensor& x) { x.as_strided({3}, {INT64_MAX}); }},
    {"slice() cannot be applied to a 0-dim tensor.",
     [](const Tensor&) { scalar().slice(0, 0, 1); }},
    {"slice step must not be zero", [](const Tensor& x) { x.slice(0, 0, 1, 0); }},
    {"flatten() has invalid args: start_dim cannot come after end_dim",
     [](const Tensor& x) { x.flatten_view(1, 0); }},
    {"self.size(-1) must be divisible by 4 to view f32 as c128",
     [](const Tensor& x) { x.slice(1, 0, 3).view(DType::c128); }},
    {"self.stride(-1) must be 1 to view f32 as f64",
     [](const Tensor& x) { x.t().view(DType::f64); }},
    {"self.dim() cannot be 0 to view f32 as i16", [](const Tensor&) { scalar().view(DType::i16); }},
    {"self.storage_offset() must be divisible by 2 to view f32 as f64",
     [](const Tensor& x) { x.slice(1, 1, 3).view(DType::f64); }},
    {"self.stride(0) must be divisible by 2 to view f32 as f64",
     [](const Tensor& x) {
       x.as_strided({2, 4}, {3, 1}).view(DType::f64);
     }},
    {"view_as_real is only supported for complex tensors",
     [](const Tensor& x) { x.view_as_real(); }},
    {"Tensor must have a last dimension of size 2", [](const Tensor& x) { x.view_as_complex(); }},
    {"Input tensor must have one or more dimensions",
     [](const Tensor&) { scalar().view_as_complex(); }},
    {"Tensor must have a stride divisible by 2 for all but last dimension",
     [](const Tensor& x) {
       x.as_strided({2, 2}, {3, 1}).view_as_complex();
     }},
    {"Tensor must have a last dimension with stride 1",
     [](const Tensor& x) {
       x.as_strided({2, 2}, {2, 2}).view_as_complex();
     }},
    {"Tensor must have a storage_offset divisible by 2",
     [](const Tensor& x) { x.as_strided({2}, {1}, 1).view_as_complex(); }},
    {"view_as_complex is only supported for half, float and double tensors",
     [](const Tensor&) { empty({2}, DType::i32).view_as_complex(); }},
    {"imag is not implemented for tensors with non-complex dtypes.",
     [](const Tensor& x) { x.imag(); }},
    {"view_as_real doesn't work on unresolved conjugated tensors.",
     [](const Tensor&) { empty({2}, DType::c64).conj().view_as_real(); }},
    {"Negation, the `-` operator, on a bool tensor is not supported.",
     [](const Tensor&) { empty({2}, DType::boolean).neg_view(); }},
    {"only tensors with up to 64 dims are supported",
     [](const Tensor&) { weft::empty(Index(64, 1)).unsqueeze(0); }},
    {"only one element tensors can be converted to Python scalars",
     [](const Tensor& x) { x.item(); }},
    {"expected a defined tensor", [](const Tensor&) { Tensor().sizes(); }},
    {"expected a tensor of dtype i32, got f32[3, 4] strides [4, 1] cpu",
     [](const Tensor& x) { x.data_as<std::int32_t>(); }},
};

TEST(View, RefusalsSayWhatPyTorchSays) {
  const Tensor x = empty({3, 4});
  for (const Refusal& refusal : refusals) {
    try {
      refusal.call(x);
      ADD_FAILURE() << "not refused: " << refusal.fragment;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(refusal.fragment));
    }
  }
}

}  // namespace
}  // namespace weft
