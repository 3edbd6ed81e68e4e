// The walks of generated CUDA source through memory, on the CPU, against the interpreter: every
// schedule, ragged ends, bases that are not aligned, all sizes of items.
#include "tests/jit/nvrtc/batch.h"

#include <algorithm>

namespace weft::jit::test {
namespace {

constexpr ir::StrideClass any = ir::stride_any;

std::int64_t size_of(DType dtype) { return static_cast<std::int64_t>(itemsize_bytes(dtype)); }

/// Everything that a test of walks does with its kernels.
void run_and_compile(NvrtcBatch& batch) {
  if (testing::Test::HasFatalFailure()) return;
  batch.run();
  batch.compile_with_nvrtc("sm_90");
}

TEST(NvrtcWalks, RowsOfAnyLengthAndAlignment) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    const std::int64_t size = size_of(dtype);
    const auto widest = static_cast<int>(16 / size);
    for (const std::int64_t length : {1, 5, 255, 4103, 20000})
      for (const std::int64_t shift : {0, 1, 2, 8}) {
        batch.add(cuda_kernel(Op::add, dtype), {length}, {{size}, {size}, {size}}, {},
                  static_cast<std::size_t>(shift * size));
        // Halves of the widest access, until they are aligned.
        int expected = widest;
        while (shift % expected != 0) expected /= 2;
        EXPECT_EQ(batch.last_variant().items, expected) << name(dtype) << " " << shift;
      }
  }
  run_and_compile(batch);
}

TEST(NvrtcWalks, MixedSizesInOneVector) {
  NvrtcBatch batch;
  for (const auto& [from, to, items] : {std::tuple{DType::u8, DType::f32, 4},
                                        {DType::f64, DType::u8, 2},
                                        {DType::f32, DType::bf16, 4},
                                        {DType::boolean, DType::i64, 2},
                                        {DType::f8e4m3fn, DType::f16, 8}}) {
    batch.add(cuda_copy(from, to, {1}, {1}), {1027}, {{size_of(to)}, {size_of(from)}});
    EXPECT_EQ(batch.last_variant().items, items);
  }
  run_and_compile(batch);
}

TEST(NvrtcWalks, RowsWithBroadcastOperands) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::u8, DType::f16, DType::f32}) {
    const std::int64_t size = size_of(dtype);
    for (const std::int64_t row : {3, 48, 1000}) {
      const std::int64_t dense = row * size;
      const auto add = [&](std::vector<ir::StrideClass> y, std::vector<std::int64_t> strides) {
        batch.add(cuda_kernel(Op::sub, dtype, 2, {{any, 1}, {any, 1}, std::move(y)}), {7, row},
                  {{dense, size}, {dense, size}, std::move(strides)});
      };
      add({0, 1}, {0, size});    // one row for all
      add({any, 0}, {size, 0});  // one element for each row
      add({any, 0}, {0, 0});     // one for all
      add({any, 1}, {dense + 5 * size, size});
    }
    // A scalar beside a single row.
    batch.add(cuda_kernel(Op::sub, dtype, 1, {{1}, {1}, {0}}), {1001}, {{size}, {size}, {0}});
  }
  run_and_compile(batch);
}

TEST(NvrtcWalks, StridesOfAllKinds) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::boolean, DType::f32, DType::c64}) {
    const std::int64_t size = size_of(dtype);
    for (const ir::StrideClass known : {-1, 0, 2, 3, 4, int{any}}) {
      const std::int64_t items = known == any ? -7 : known;
      batch.add(cuda_kernel(Op::eq, dtype, 1, {{1}, {known}, {1}}), {777},
                {{1}, {items * size}, {size}});
      if (known != 0)
        batch.add(cuda_copy(dtype, dtype, {1}, {known}), {777}, {{items * size}, {size}});
    }
    // Four loops in no order, and a slice of every second item of a slice of the second rows.
    const std::vector<std::int64_t> extents{3, 4, 5, 6};
    batch.add(
        cuda_copy(dtype, dtype, {any, any, any, any}, {any, any, any, 1}), extents,
        {dense_strides(extents, {0, 1, 2, 3}, dtype), dense_strides(extents, {3, 1, 0, 2}, dtype)});
    batch.add(cuda_copy(dtype, dtype, {any, 2}, {any, 1}), {40, 50},
              {{50 * size, size}, {200 * size, 2 * size}});
    batch.add(cuda_copy(dtype, dtype, {any, -1}, {any, 1}), {40, 50},
              {{50 * size, size}, {-50 * size, -size}});
  }
  run_and_compile(batch);
}

/// Complex numbers lie at multiples of their parts, which is half of what a device moves at once.
TEST(NvrtcWalks, ComplexNumbersAtMultiplesOfTheirParts) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::c32, DType::c64, DType::c128}) {
    const std::int64_t size = size_of(dtype);
    const auto part = static_cast<std::size_t>(size / 2);
    const auto add = [&](const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
                         const std::vector<std::vector<std::int64_t>>& strides) {
      batch.add(kernel, extents, strides, {}, part);
      EXPECT_EQ(batch.last_variant().items, 1);
      EXPECT_TRUE(batch.last_variant().halves);
    };
    add(cuda_copy(dtype, dtype, {1}, {1}), {1000}, {{size}, {size}});
    add(cuda_copy(dtype, dtype, {3}, {1}), {1000}, {{size}, {3 * size}});
    add(cuda_copy(dtype, dtype, {any, 0}, {any, 1}), {9, 50}, {{50 * size, size}, {size, 0}});
    add(cuda_copy(dtype, dtype, {1, any}, {any, 1}), {40, 33},
        {{33 * size, size}, {size, 40 * size}});
    add(cuda_copy(dtype, dtype, {any, 1}, {1, any}), {40, 33},
        {{size, 40 * size}, {33 * size, size}});
    batch.add(cuda_copy(dtype, dtype, {3}, {1}), {1000}, {{size}, {3 * size}});
    EXPECT_FALSE(batch.last_variant().halves);
    // What is dense and aligned is still moved in vectors.
    batch.add(cuda_copy(dtype, dtype, {any, 0}, {any, 1}), {9, 48},
              {{48 * size, size}, {3 * size + size / 2, 0}});
    EXPECT_EQ(batch.last_variant(),
              (nvrtc::Variant{.items = static_cast<int>(16 / size), .halves = true}));
    // Computed with in parts, which are aligned.
    batch.add(cuda_kernel(Op::mul, dtype), {1000}, {{size}, {size}, {size}}, {}, part);
    EXPECT_FALSE(batch.last_variant().halves);
  }
  run_and_compile(batch);
}

/// Shapes of transposed matrices: whole tiles, ragged ones, and small ones.
const std::vector<std::vector<std::int64_t>> matrices = {{128, 256}, {64, 132}, {33, 65},
                                                         {100, 7},   {1, 40},   {96, 34}};

TEST(NvrtcWalks, TransposesOfAllSizesOfItems) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c128})
    for (const auto& extents : matrices) {
      batch.add(cuda_copy(dtype, dtype, {1, any}, {any, 1}), extents,
                {dense_strides(extents, {0, 1}, dtype), dense_strides(extents, {1, 0}, dtype)});
      // As wide as both sides allow.
      std::int64_t items = std::min<std::int64_t>(8, 16 / size_of(dtype));
      while (extents[0] % items != 0 || extents[1] % items != 0) items /= 2;
      EXPECT_EQ(batch.last_variant().items, items);
      // The output turned, the input dense.
      batch.add(cuda_copy(dtype, dtype, {any, 1}, {1, any}), extents,
                {dense_strides(extents, {1, 0}, dtype), dense_strides(extents, {0, 1}, dtype)});
    }
  run_and_compile(batch);
}

/// The last loops of a permutation: a block turns several of its small matrices at once.
TEST(NvrtcWalks, SmallMatricesAreTurnedTogether) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c128})
    for (const std::vector<std::int64_t>& extents :
         std::vector<std::vector<std::int64_t>>{{18, 28, 20}, {13, 7, 9}, {5, 64, 8}, {2, 3, 4}}) {
      const std::vector<std::int64_t> whole{3, extents[0], extents[1], extents[2]};
      const auto straight = dense_strides(whole, {0, 1, 2, 3}, dtype);
      // Batches next to rows in memory, and to nothing.
      for (const std::vector<std::size_t>& order :
           std::vector<std::vector<std::size_t>>{{3, 0, 1, 2}, {1, 0, 3, 2}}) {
        const auto turned = dense_strides(whole, order, dtype);
        batch.add(cuda_copy(dtype, dtype, {any, any, 1, any}, {any, any, any, 1}), whole,
                  {straight, turned});
        if (dtype == DType::u32) {
          EXPECT_GT(batch.last_variant().tile.batch, 1);
        }
        batch.add(cuda_copy(dtype, dtype, {any, any, any, 1}, {any, any, 1, any}), whole,
                  {turned, straight});
      }
    }
  run_and_compile(batch);
}

TEST(NvrtcWalks, TransposesFusedWithOpsAndCasts) {
  NvrtcBatch batch;
  for (const auto& [from, to] : {std::pair{DType::f32, DType::bf16},
                                 {DType::bf16, DType::f32},
                                 {DType::u8, DType::f32},
                                 {DType::f64, DType::u8},
                                 {DType::boolean, DType::f16}})
    for (const auto& extents : matrices)
      batch.add(cuda_copy(from, to, {1, any}, {any, 1}), extents,
                {dense_strides(extents, {0, 1}, to), dense_strides(extents, {1, 0}, from)});
  for (const DType dtype : {DType::u8, DType::f32})
    for (const auto& extents : matrices) {
      const auto straight = dense_strides(extents, {0, 1}, dtype);
      const auto turned = dense_strides(extents, {1, 0}, dtype);
      // a + b.t(); a column or a row for all; the output turned.
      batch.add(cuda_kernel(Op::add, dtype, 2, {{any, 1}, {any, 1}, {1, any}}), extents,
                {straight, straight, turned});
      batch.add(cuda_kernel(Op::sub, dtype, 2, {{any, 1}, {1, any}, {any, 0}}), extents,
                {straight, turned, {size_of(dtype), 0}});
      batch.add(cuda_kernel(Op::sub, dtype, 2, {{any, 1}, {1, any}, {0, 1}}), extents,
                {straight, turned, {0, size_of(dtype)}});
      batch.add(cuda_kernel(Op::sub, dtype, 2, {{1, any}, {any, 1}, {1, any}}), extents,
                {turned, straight, turned});
    }
  run_and_compile(batch);
}

TEST(NvrtcWalks, TransposesWithOuterLoopsPaddingAndReversedRows) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    const std::int64_t size = size_of(dtype);
    for (const std::vector<std::int64_t>& extents :
         {std::vector<std::int64_t>{3, 64, 68}, {2, 3, 36, 40}, {2, 2, 2, 33, 9}}) {
      const std::size_t n = extents.size();
      std::vector<std::size_t> straight(n), turned(n);
      for (std::size_t i = 0; i < n; ++i) straight[i] = turned[i] = i;
      std::swap(turned[n - 1], turned[n - 2]);
      std::vector<ir::StrideClass> dense(n, any), across(n, any);
      dense[n - 1] = across[n - 2] = 1;
      for (const std::int64_t padding : {0, 1, 4})
        batch.add(cuda_copy(dtype, dtype, across, dense), extents,
                  {dense_strides(extents, straight, dtype, padding),
                   dense_strides(extents, turned, dtype, padding)});
      // Reversed along the rows; a base that is not aligned.
      across[n - 2] = -1;
      auto reversed = dense_strides(extents, turned, dtype);
      reversed[n - 2] = -size;
      batch.add(cuda_copy(dtype, dtype, across, dense), extents,
                {dense_strides(extents, straight, dtype), reversed});
      across[n - 2] = 1;
      batch.add(cuda_copy(dtype, dtype, across, dense), extents,
                {dense_strides(extents, straight, dtype), dense_strides(extents, turned, dtype)},
                {}, static_cast<std::size_t>(size));
    }
  }
  run_and_compile(batch);
}

TEST(NvrtcWalks, InPlace) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::u8, DType::f32, DType::c64}) {
    const std::int64_t size = size_of(dtype);
    batch.add_in_place(cuda_kernel(Op::add, dtype), {20011}, {{size}, {size}, {size}}, 1);
    batch.add_in_place(cuda_kernel(Op::sub, dtype, 1, {{2}, {1}, {2}}), {1001},
                       {{2 * size}, {size}, {2 * size}}, 2);
    if (is_complex(dtype)) continue;
    for (const std::vector<std::int64_t>& extents :
         {std::vector<std::int64_t>{64, 132}, {33, 65}, {100, 7}}) {
      const auto straight = dense_strides(extents, {0, 1}, dtype);
      const auto turned = dense_strides(extents, {1, 0}, dtype);
      batch.add_in_place(cuda_kernel(Op::add, dtype, 2, {{1, any}, {1, any}, {any, 1}}), extents,
                         {turned, turned, straight}, 1);
      batch.add_in_place(cuda_kernel(Op::add, dtype, 2, {{any, 1}, {any, 1}, {1, any}}), extents,
                         {straight, straight, turned}, 1);
    }
  }
  batch.run();  // NVRTC has seen such kernels above
}

TEST(NvrtcWalks, WithIndicesOf64Bits) {
  NvrtcBatch batch;
  batch.use_64_bit_indices();
  for (const DType dtype : {DType::u8, DType::f32}) {
    const std::int64_t size = size_of(dtype);
    batch.add(cuda_kernel(Op::add, dtype), {4103}, {{size}, {size}, {size}});
    batch.add(cuda_kernel(Op::add, dtype), {4103}, {{size}, {size}, {size}}, {},
              static_cast<std::size_t>(size));
    batch.add(cuda_kernel(Op::sub, dtype, 2, {{any, 1}, {any, 1}, {any, 0}}), {7, 48},
              {{48 * size, size}, {60 * size, size}, {size, 0}});
    const std::vector<std::int64_t> extents{3, 4, 5, 6};
    batch.add(
        cuda_copy(dtype, dtype, {any, any, any, any}, {any, any, any, 1}), extents,
        {dense_strides(extents, {0, 1, 2, 3}, dtype), dense_strides(extents, {3, 1, 0, 2}, dtype)});
    batch.add(cuda_copy(dtype, dtype, {any, -1}, {any, 1}), {40, 50},
              {{50 * size, size}, {-50 * size, -size}});
    for (const std::vector<std::int64_t>& tiled :
         {std::vector<std::int64_t>{3, 64, 68}, {2, 2, 33, 9}}) {
      const std::size_t n = tiled.size();
      std::vector<std::size_t> straight(n), turned(n);
      for (std::size_t i = 0; i < n; ++i) straight[i] = turned[i] = i;
      std::swap(turned[n - 1], turned[n - 2]);
      std::vector<ir::StrideClass> dense(n, any), across(n, any);
      dense[n - 1] = across[n - 2] = 1;
      batch.add(cuda_copy(dtype, dtype, across, dense), tiled,
                {dense_strides(tiled, straight, dtype), dense_strides(tiled, turned, dtype)});
      EXPECT_EQ(batch.last_variant().index_bits, 64);
    }
  }
  run_and_compile(batch);
}

}  // namespace
}  // namespace weft::jit::test
