// Tiles of calls that fit no cache, against the interpreter: what asks for lines ahead of their
// time, puts rows together, and writes past the caches.
#include "tests/jit/tiles/tile_harness.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weft::jit::testing {
namespace {

class LargeTile : public Tile {};

const std::vector<std::array<std::int64_t, 2>> large_sizes = {{3, 5000},  {64, 64},   {70, 1000},
                                                              {1000, 70}, {128, 256}, {280, 290}};

TEST_P(LargeTile, Copies) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c128})
    for (const std::int64_t gap : {0, 5, 64}) {
      const bool is_wide = itemsize_bytes(dtype) > 8;
      const Place across{.is_across = true, .gap_bytes = gap};
      const Place downwards{.is_across = true, .is_reversed = true, .gap_bytes = gap};
      const auto sizes =
          is_wide ? std::vector(large_sizes.begin(), large_sizes.begin() + 2) : large_sizes;
      compare_large(copy_kernel(dtype), {Place{.gap_bytes = gap}, gap == 5 ? downwards : across},
                    sizes);
      compare_large(copy_kernel(dtype), {across, Place{.gap_bytes = gap}}, sizes);
    }
}

/// Large calls of processors that differ in what their prefetchers do: Intel's, Zen 3 or 4, Zen 5,
/// and one of those with small caches, of which the last holds none of the planes.
std::vector<Target> processors(const Target& target) {
  std::vector<Target> found;
  for (const int amd_family : {0, 25, 26, 26}) {
    found.push_back(target);
    found.back().features.amd_family = amd_family;
    found.back().features.pages_in_turn = amd_family == 0;
  }
  found.back().features.l2_bytes = 256 << 10;
  found.back().features.l3_bytes = 1;
  return found;
}

/// Few rows that lie a multiple of a page apart.
TEST_P(LargeTile, CopiesToRowsAPageApart) {
  for (const Target& other : processors(target()))
    for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c128}) {
      const std::int64_t row = 4096 / static_cast<std::int64_t>(itemsize_bytes(dtype));
      compare_large(copy_kernel(dtype), {{}, {.is_across = true}},
                    {{1, row}, {20, row}, {33, 2 * row}, {100, row}}, other);
    }
}

/// Short lines, whose transposition asks for later ones, and long ones; rows that begin with a line
/// of the cache, and others.
TEST_P(LargeTile, CopiesOfShortAndLongLines) {
  for (const Target& other : processors(target()))
    for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c128})
      for (const std::int64_t gap : {0, 5}) {
        const std::int64_t long_line = 700 / static_cast<std::int64_t>(itemsize_bytes(dtype));
        compare_large(copy_kernel(dtype), {{}, {.is_across = true, .gap_bytes = gap}},
                      {{long_line, 20}, {20, long_line}, {48, 128}, {long_line, 256}, {64, 193}},
                      other);
      }
}

/// Rows that begin anywhere in a line of the cache, and are put together in several pieces.
TEST_P(LargeTile, RowsByWholeLines) {
  const Place odd{.gap_bytes = 5}, across{.is_across = true};
  const Place downwards{.is_across = true, .is_reversed = true, .gap_bytes = 5};
  for (const Target& other : processors(target())) {
    for (const DType dtype : {DType::u8, DType::u32, DType::c128}) {
      const std::int64_t side = 1100 / static_cast<std::int64_t>(itemsize_bytes(dtype)) + 33;
      compare_large(copy_kernel(dtype), {odd, across}, {{side, 601}, {40, 2 * side}}, other);
      compare_large(copy_kernel(dtype), {{}, downwards}, {{side, 477}}, other);
    }
    compare_large(op_kernel(Op::sub, DType::f32, DType::f32), {odd, {}, across}, {{300, 707}},
                  other);
    compare_large(op_kernel(Op::sub, DType::i16, DType::i16), {{}, across, odd},
                  {{300, 707}, {30, 4001}}, other);
    compare_large(op_kernel(Op::lt, DType::f32, DType::boolean), {{}, across, odd}, {{150, 1407}},
                  other);
    compare_large(cast_kernel(DType::f64, DType::u8), {{}, across}, {{61, 1407}}, other);
  }
}

TEST_P(LargeTile, Sums) {
  const Place along{}, spaced{.gap_bytes = 12}, across{.is_across = true};
  const Place downwards{.is_across = true, .is_reversed = true, .gap_bytes = 8};
  for (const DType dtype : {DType::u8, DType::f32, DType::f64}) {
    const ir::Kernel sum = op_kernel(Op::add, dtype, dtype);
    compare_large(sum, {along, along, across}, large_sizes);
    compare_large(sum, {spaced, downwards, across}, large_sizes);
    compare_large(sum, {across, along, spaced}, large_sizes);
  }
  compare_large(cast_kernel(DType::f32, DType::u8), {along, across}, large_sizes);
  compare_large(cast_kernel(DType::u8, DType::f64), {along, across}, large_sizes);
}

/// Transposed inputs of large calls, in a buffer and in registers.
TEST_P(LargeTile, SumsOfLargePlanes) {
  const Place along{}, spaced{.gap_bytes = 12}, across{.is_across = true};
  const std::vector<std::array<std::int64_t, 2>> sizes = {{512, 515}, {530, 640}, {511, 600}};
  for (const Target& target : processors(target_for(isa()))) {
    compare_large(op_kernel(Op::sub, DType::f32, DType::f32), {along, across, along},
                  {{512, 512}, {60, 1024}, {500, 513}}, target);
    compare_large(op_kernel(Op::sub, DType::i16, DType::i16), {along, across, spaced}, sizes,
                  target);
    compare_large(op_kernel(Op::lt, DType::i16, DType::boolean), {spaced, along, across}, sizes,
                  target);
  }
}

TEST_P(LargeTile, Pixels) {
  for (const DType dtype : {DType::u8, DType::f32}) {
    const Place pixels{.pixel_items = 3}, planes{};
    const std::vector<std::array<std::int64_t, 2>> sizes = {{3, 40}, {3, 1000}, {3, 20000}};
    compare_large(copy_kernel(dtype), {pixels, planes}, sizes);
    compare_large(copy_kernel(dtype), {planes, pixels}, sizes);
    compare_large(op_kernel(Op::add, dtype, dtype), {pixels, pixels, planes}, sizes);
    compare_large(op_kernel(Op::add, dtype, dtype), {pixels, pixels, pixels}, sizes);
    compare_large(op_kernel(Op::add, dtype, dtype), {planes, pixels, planes}, sizes);
  }
}

/// Pixels to planes whose rows begin with a line of the cache, which is filled at once, and end
/// within one.
TEST_P(LargeTile, PixelsToWholeLines) {
  for (const DType dtype : {DType::u8, DType::u16, DType::f32, DType::f64})
    for (const ir::StrideClass ways : {2, 3, 4})
      for (const std::int64_t row_bytes : {64, 96, 136, 640, 1312, 4064}) {
        const std::int64_t gap = 64 - row_bytes % 64;
        const auto columns = row_bytes / static_cast<std::int64_t>(itemsize_bytes(dtype));
        compare_large(copy_kernel(dtype), {{.gap_bytes = gap}, {.pixel_items = ways}},
                      {{ways, columns}});
      }
}

// Planes with short rows that follow one another in what is written are copied together, and so are
// those that follow one another in what is read.
TEST_P(LargeTile, CopiesOfManyPlanes) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    ir::Kernel kernel = copy_kernel(dtype);
    kernel.loops.resize(5);
    for (ir::Operand& operand : kernel.operands) operand.strides.assign(5, ir::stride_any);
    kernel.operands[0].strides[4] = 1;
    kernel.operands[1].strides[3] = 1;
    kernel = scheduled(kernel, isa());
    const auto item = static_cast<std::int64_t>(itemsize_bytes(dtype));
    const Comparison comparison(kernel, target(), backend());
    for (const auto& [runs, planes, rows, columns] : std::vector<std::array<std::int64_t, 4>>{
             {1, 7, 64, 40}, {1, 30, 33, 17}, {1, 100, 20, 5}, {7, 9, 32, 20}, {10, 12, 24, 30}}) {
      const std::int64_t repeats = (4 << 20) / (runs * planes * rows * columns * 2 * item) + 1;
      const jit::testing::Run run{
          .extents = {repeats, runs, planes, rows, columns},
          .stride_bytes = {
              {0, rows * planes * columns * item, columns * item, planes * columns * item, item},
              {0, rows * item, runs * rows * item, item, planes * runs * rows * item}}};
      ASSERT_TRUE(comparison.agree(run, random_)) << runs << " runs of " << planes << " planes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LargeTile, tile_targets(),
                         [](const auto& param) { return target_name(param); });

}  // namespace
}  // namespace weft::jit::testing
