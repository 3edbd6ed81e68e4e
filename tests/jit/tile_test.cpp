// The tile schedule against the interpreter: every item size, ragged sizes, gaps, and directions.
#include "jit/tiles/tile.h"
#include "tests/required_backends.h"
#include "xbyak_harness.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>

namespace weft::jit::testing {
namespace {

using ir::no_value;
using ir::Role;
using ir::stride_any;
using ir::StrideClass;
using ir::ValueId;

/// How the elements of one operand lie, in a nest of two loops: rows, and columns innermost.
struct Place {
  bool is_across = false;       ///< dense along the rows' loop
  bool is_reversed = false;     ///< downwards
  std::int64_t gap_bytes = 0;   ///< between what is dense
  StrideClass pixel_items = 0;  ///< dense pixels of so many channels; needs as many rows, or fewer
};

/// The kernel of one loop with another around it, and classes that fit the places.
ir::Kernel nested(ir::Kernel kernel, const std::vector<Place>& places) {
  kernel.loops.resize(2);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const auto dense = static_cast<StrideClass>(place.is_reversed ? -1 : 1);
    if (place.pixel_items != 0)
      kernel.operands[i].strides = {1, place.pixel_items};
    else if (place.is_across)
      kernel.operands[i].strides = {dense, stride_any};
    else
      kernel.operands[i].strides = {stride_any, 1};
  }
  return kernel;
}

/// The strides that the places have with so many rows and columns.
Run layout_run(const ir::Kernel& kernel, const std::vector<Place>& places, std::int64_t rows,
               std::int64_t columns, Placement placement) {
  Run result{.extents = {rows, columns}, .placement = placement};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(kernel.operands[i].dtype));
    const std::int64_t dense = place.is_reversed ? -itemsize : itemsize;
    if (place.pixel_items != 0)
      result.stride_bytes.push_back({itemsize, place.pixel_items * itemsize});
    else if (place.is_across)
      result.stride_bytes.push_back({dense, rows * itemsize + place.gap_bytes});
    else
      result.stride_bytes.push_back({columns * itemsize + place.gap_bytes, itemsize});
  }
  return result;
}

/// The backend and the instructions.
class Tile : public ::testing::TestWithParam<std::tuple<std::string_view, Isa>> {
 protected:
  void SetUp() override {
    const std::string reason = unavailable_reason(backend());
    if (!reason.empty()) leave_out_without(backend(), reason);
  }

  static std::string_view backend() { return std::get<0>(GetParam()); }
  static Isa isa() { return std::get<1>(GetParam()); }
  static Target target() { return target_for(isa()); }

  void compare(const ir::Kernel& body, const std::vector<Place>& places,
               const std::vector<std::array<std::int64_t, 2>>& sizes) {
    const ir::Kernel kernel = scheduled(nested(body, places), isa());
    ASSERT_EQ(kernel.schedule, ir::Schedule::tile);
    const Comparison comparison(kernel, target(), backend());
    for (const auto& [rows, columns] : sizes)
      for (const Placement placement : {Placement::at_end, Placement::at_start})
        ASSERT_TRUE(comparison.agree(layout_run(kernel, places, rows, columns, placement), random_))
            << rows << " rows, " << columns << " columns";
  }

  /// The same, with a loop around that repeats the work until a call no longer fits the caches.
  void compare_large(const ir::Kernel& body, const std::vector<Place>& places,
                     const std::vector<std::array<std::int64_t, 2>>& sizes) {
    compare_large(body, places, sizes, target());
  }
  void compare_large(const ir::Kernel& body, const std::vector<Place>& places,
                     const std::vector<std::array<std::int64_t, 2>>& sizes, const Target& target) {
    constexpr std::int64_t large_bytes = 4 << 20;
    ir::Kernel kernel = nested(body, places);
    kernel.loops.resize(3);
    std::int64_t item_bytes = 0;
    for (ir::Operand& operand : kernel.operands) {
      operand.strides.insert(operand.strides.begin(), stride_any);
      item_bytes += static_cast<std::int64_t>(itemsize_bytes(operand.dtype));
    }
    kernel = scheduled(kernel, isa());
    ASSERT_EQ(kernel.schedule, ir::Schedule::tile);
    const Comparison comparison(kernel, target, backend());
    for (const auto& [rows, columns] : sizes)
      for (const Placement placement : {Placement::at_end, Placement::at_start}) {
        jit::testing::Run run = layout_run(kernel, places, rows, columns, placement);
        run.extents.insert(run.extents.begin(), large_bytes / (rows * columns * item_bytes) + 1);
        for (auto& strides : run.stride_bytes) strides.insert(strides.begin(), 0);
        ASSERT_TRUE(comparison.agree(run, random_)) << rows << " rows, " << columns << " columns";
      }
  }

  Random random_{seed()};
};

ir::Kernel copy_kernel(DType dtype) {
  ir::Kernel kernel = make_kernel({dtype, dtype}, 1);
  kernel.body = {
      {.op = Op::load, .dtype = dtype, .operand = 1},
      {.op = Op::store, .dtype = dtype, .operand = 0, .args = {0, no_value, no_value, no_value}}};
  return kernel;
}

const std::vector<std::array<std::int64_t, 2>> ragged_sizes = {
    {1, 1},   {2, 2},   {3, 5},    {4, 4},   {7, 9},    {8, 16},   {16, 8},   {15, 17},
    {16, 16}, {17, 33}, {31, 100}, {64, 64}, {65, 130}, {100, 63}, {130, 67}, {1, 200},
    {200, 1}, {3, 300}, {300, 3},  {5, 700}, {700, 5},  {129, 15}, {16, 255}, {255, 16}};

TEST_P(Tile, CopiesOfEveryItemSize) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c128})
    for (const bool output_is_across : {false, true})
      for (const bool is_reversed : {false, true})
        for (const std::int64_t gap : {0, 5}) {
          const Place across{.is_across = true, .is_reversed = is_reversed, .gap_bytes = gap};
          const Place along{.gap_bytes = gap};
          compare(copy_kernel(dtype),
                  output_is_across ? std::vector{across, along} : std::vector{along, across},
                  ragged_sizes);
        }
}

TEST_P(Tile, CopiesOfPixels) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64})
    for (const StrideClass ways : {2, 3, 4})
      for (const bool output_is_pixels : {false, true}) {
        const Place pixels{.pixel_items = ways};
        const Place planes{.gap_bytes = 3};
        std::vector<std::array<std::int64_t, 2>> sizes;
        for (std::int64_t rows = ways; rows > ways - 2; --rows)  // all channels, or one left out
          for (const std::int64_t columns : {1, 2, 15, 16, 31, 32, 33, 64, 100, 1000})
            sizes.push_back({rows, columns});
        compare(copy_kernel(dtype),
                output_is_pixels ? std::vector{pixels, planes} : std::vector{planes, pixels},
                sizes);
      }
}

TEST_P(Tile, BytesWithoutVbmi) {
  Target target = target_for(isa());
  target.features.avx512_vbmi = false;
  const std::vector<Place> places = {{.pixel_items = 3}, {}};
  const ir::Kernel kernel = scheduled(nested(copy_kernel(DType::u8), places), isa());
  const Comparison comparison(kernel, target, backend());
  for (const std::int64_t columns : {1, 31, 32, 33, 100})
    ASSERT_TRUE(
        comparison.agree(layout_run(kernel, places, 3, columns, Placement::at_end), random_));
}

TEST_P(Tile, Sums) {
  const std::vector<std::array<std::int64_t, 2>> sizes = {
      {1, 1}, {3, 5}, {16, 16}, {17, 70}, {70, 17}, {64, 64}, {130, 130}, {3, 2000}, {2000, 3}};
  const Place along{}, spaced{.gap_bytes = 7};
  const Place across{.is_across = true}, downwards{.is_across = true, .is_reversed = true};
  for (const DType dtype : {DType::u8, DType::i16, DType::f32, DType::f64}) {
    const ir::Kernel sum = op_kernel(Op::add, dtype, dtype);
    compare(sum, {along, along, across}, sizes);
    compare(sum, {along, across, across}, sizes);
    compare(sum, {spaced, downwards, across}, sizes);
    compare(sum, {across, along, along}, sizes);
    compare(sum, {across, across, spaced}, sizes);
    compare(sum, {across, across, downwards}, sizes);
  }
}

/// Around the steps of rows and columns whose transposed inputs stay in registers, and the columns
/// that are walked down together.
TEST_P(Tile, SumsByWholeSteps) {
  const std::vector<std::array<std::int64_t, 2>> sizes = {
      {1, 31},  {2, 8},   {3, 9},   {4, 16},  {5, 15},   {7, 40},  {8, 32},   {9, 33},
      {12, 48}, {15, 64}, {16, 17}, {20, 72}, {13, 300}, {34, 31}, {64, 515}, {67, 256}};
  const Place along{}, spaced{.gap_bytes = 7};
  const Place across{.is_across = true}, apart{.is_across = true, .gap_bytes = 5};
  for (const DType dtype : {DType::i16, DType::i32, DType::f32, DType::i64, DType::f64}) {
    compare(op_kernel(Op::add, dtype, dtype), {along, along, across}, sizes);
    compare(op_kernel(Op::sub, dtype, dtype), {spaced, across, apart}, sizes);
    compare(op_kernel(Op::lt, dtype, DType::boolean), {along, apart, spaced}, sizes);
  }
}

/// Pixels as they lie with operands that are the same for every pixel, one of them by channel.
TEST_P(Tile, PixelsAndConstants) {
  const auto none = no_value;
  for (const DType dtype : {DType::u8, DType::f32, DType::f64})
    for (const StrideClass ways : {2, 3, 4}) {
      ir::Kernel kernel = make_kernel({dtype, dtype, dtype, dtype}, 2, stride_any);
      kernel.params = {dtype};
      kernel.body = {
          {.op = Op::load, .dtype = dtype, .operand = 1},
          {.op = Op::load, .dtype = dtype, .operand = 2},
          {.op = Op::load, .dtype = dtype, .operand = 3},
          {.op = Op::param, .dtype = dtype, .operand = 0},
          {.op = Op::mul, .dtype = dtype, .args = {0, 1, none, none}},
          {.op = Op::add, .dtype = dtype, .args = {4, 2, none, none}},
          {.op = Op::sub, .dtype = dtype, .args = {5, 3, none, none}},
          {.op = Op::store, .dtype = dtype, .operand = 0, .args = {6, none, none, none}}};
      for (const std::size_t i : {0, 1}) kernel.operands[i].strides = {1, ways};
      for (const std::size_t i : {2, 3}) kernel.operands[i].strides = {stride_any, 0};
      kernel = scheduled(kernel, isa());
      ASSERT_EQ(kernel.schedule, ir::Schedule::tile);
      const Comparison comparison(kernel, target(), backend());
      const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
      for (const std::int64_t rows : {int{ways}, ways - 1})
        for (const std::int64_t columns : {1, 5, 511, 512, 513, 1600}) {
          const std::vector<std::int64_t> pixels = {itemsize, ways * itemsize};
          const jit::testing::Run run{.extents = {rows, columns},
                                      .stride_bytes = {pixels, pixels, {3 * itemsize, 0}, {0, 0}}};
          ASSERT_TRUE(comparison.agree(run, random_)) << rows << " x " << columns;
        }
    }
}

TEST_P(Tile, CastsOnTheWay) {
  const std::vector<std::array<std::int64_t, 2>> sizes = {{3, 5}, {33, 66}, {100, 37}, {3, 999}};
  for (const DType from :
       {DType::boolean, DType::u8, DType::i16, DType::f16, DType::f32, DType::f64})
    for (const DType to : {DType::u8, DType::f16, DType::bf16, DType::f32, DType::f64})
      if (from != to) {
        compare(cast_kernel(from, to), {{}, {.is_across = true}}, sizes);
        compare(cast_kernel(from, to), {{.is_across = true}, {}}, sizes);
        compare(cast_kernel(from, to), {{}, {.pixel_items = 3}}, {{3, 5}, {3, 999}, {2, 200}});
        compare(cast_kernel(from, to), {{.pixel_items = 3}, {}}, {{3, 5}, {3, 999}, {2, 200}});
      }
}

/// $0 = where($1 < $2, $3, #0), over operands of several sizes and layouts.
TEST_P(Tile, Choices) {
  ir::Kernel kernel = make_kernel({DType::f64, DType::f32, DType::f32, DType::f64}, 1);
  kernel.params = {DType::f64};
  const auto none = no_value;
  kernel.body = {
      {.op = Op::param, .dtype = DType::f64, .operand = 0},
      {.op = Op::load, .dtype = DType::f32, .operand = 1},
      {.op = Op::load, .dtype = DType::f32, .operand = 2},
      {.op = Op::load, .dtype = DType::f64, .operand = 3},
      {.op = Op::lt, .dtype = DType::f32, .args = {1, 2, none, none}},
      {.op = Op::where, .dtype = DType::f64, .args = {4, 3, 0, none}},
      {.op = Op::store, .dtype = DType::f64, .operand = 0, .args = {5, none, none, none}}};
  const Place along{}, across{.is_across = true};
  for (int mask = 1; mask < 15; ++mask) {
    std::vector<Place> places;
    for (int i = 0; i < 4; ++i) places.push_back((mask >> i & 1) != 0 ? across : along);
    compare(kernel, places, {{5, 9}, {64, 100}, {70, 33}});
  }
}

/// So many staged operands that a tile becomes small.
TEST_P(Tile, FifteenTransposedOperands) {
  ir::Kernel kernel = make_kernel(std::vector<DType>(16, DType::f64), 1);
  kernel.body.push_back({.op = Op::load, .dtype = DType::f64, .operand = 1});
  for (std::uint8_t i = 2; i < 16; ++i) {
    const auto product = static_cast<ValueId>(kernel.body.size() - 1);
    kernel.body.push_back({.op = Op::load, .dtype = DType::f64, .operand = i});
    kernel.body.push_back(
        {.op = Op::add, .dtype = DType::f64, .args = {product, product + 1, no_value, no_value}});
  }
  const auto last = static_cast<ValueId>(kernel.body.size() - 1);
  kernel.body.push_back({.op = Op::store,
                         .dtype = DType::f64,
                         .operand = 0,
                         .args = {last, no_value, no_value, no_value}});
  std::vector<Place> places(16, Place{.is_across = true});
  places[0] = {};
  compare(kernel, places, {{3, 5}, {5, 100}, {100, 5}, {33, 70}});
}

const std::vector<std::array<std::int64_t, 2>> large_sizes = {{3, 5000},  {64, 64},   {70, 1000},
                                                              {1000, 70}, {128, 256}, {280, 290}};

TEST_P(Tile, LargeCopies) {
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

/// Large calls of processors that differ in what their prefetchers do: Intel's, Zen 4, Zen 5, and
/// one of those whose last cache holds none of the planes.
std::vector<Target> processors(const Target& target) {
  std::vector<Target> found;
  for (const int amd_family : {0, 25, 26, 26}) {
    found.push_back(target);
    found.back().features.amd_family = amd_family;
    found.back().features.pages_in_turn = amd_family == 0;
  }
  found.back().features.l3_bytes = 1;
  return found;
}

/// Few rows that lie a multiple of a page apart.
TEST_P(Tile, LargeCopiesToRowsAPageApart) {
  for (const Target& other : processors(target()))
    for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::c128}) {
      const std::int64_t row = 4096 / static_cast<std::int64_t>(itemsize_bytes(dtype));
      compare_large(copy_kernel(dtype), {{}, {.is_across = true}},
                    {{1, row}, {20, row}, {33, 2 * row}, {100, row}}, other);
    }
}

/// Short lines, whose transposition asks for later ones, and long ones; rows that begin with a line
/// of the cache, and others.
TEST_P(Tile, LargeCopiesOfShortAndLongLines) {
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
TEST_P(Tile, LargeRowsByWholeLines) {
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

TEST_P(Tile, LargeSums) {
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
TEST_P(Tile, LargeSumsOfLargePlanes) {
  const Place along{}, spaced{.gap_bytes = 12}, across{.is_across = true};
  const std::vector<std::array<std::int64_t, 2>> sizes = {{512, 515}, {530, 640}, {511, 600}};
  for (const Target& target : processors(target_for(isa()))) {
    compare_large(op_kernel(Op::sub, DType::f32, DType::f32), {along, across, along}, {{512, 512}},
                  target);
    compare_large(op_kernel(Op::sub, DType::i16, DType::i16), {along, across, spaced}, sizes,
                  target);
    compare_large(op_kernel(Op::lt, DType::i16, DType::boolean), {spaced, along, across}, sizes,
                  target);
  }
}

TEST_P(Tile, LargePixels) {
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

// Planes with short rows that follow one another in what is written are copied together, and so are
// those that follow one another in what is read.
TEST_P(Tile, LargeCopiesOfManyPlanes) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    ir::Kernel kernel = copy_kernel(dtype);
    kernel.loops.resize(5);
    for (ir::Operand& operand : kernel.operands) operand.strides.assign(5, stride_any);
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

/// Makes no code.
class NoFunctions final : public tiles::Functions {
 public:
  tiles::FunctionOffset rows(tiles::RowKind, const ir::Kernel&) override { return 1; }
  tiles::FunctionOffset fused_rows(tiles::RowKind, const ir::Kernel&) override { return 5; }
  tiles::FunctionOffset transpose(const tiles::TransposeShape&) override { return 2; }
  tiles::FunctionOffset interleave(const tiles::InterleaveShape&) override { return 3; }
  tiles::FunctionOffset short_transpose(int) override { return 4; }
};

/// From which sizes on a call writes past the caches is its caller's to say, not the code's.
TEST(TileCode, KeepsItsThresholds) {
  const ir::Kernel kernel = scheduled(
      nested(cast_kernel(DType::f32, DType::f32), {{}, {.is_across = true}}), Isa::avx512);
  tiles::TileCode tile;
  tile.streaming_bytes = 12345;
  tile.large_bytes = 678;
  NoFunctions functions;
  describe_tile(kernel, target_features(Isa::avx512), functions, tile);
  EXPECT_EQ(tile.streaming_bytes, 12345);
  EXPECT_EQ(tile.large_bytes, 678);
  EXPECT_TRUE(tile.is_copy);
  EXPECT_EQ(tile.short_transpose, 4u);
  EXPECT_EQ(tile.operands[1].wide_transpose, 2u);
}

// Not only that the results are right: what is transposed goes through shuffles of registers, for
// every target, and no lane by a load of its own.
TEST_P(Tile, TheCodeShufflesAndGathersNothing) {
  for (const Isa other : {Isa::avx2, Isa::avx512})
    for (const DType dtype : {DType::u8, DType::u16, DType::f32, DType::f64}) {
      Target texts = target();
      texts.features = target_features(other);
      texts.keep_texts = true;
      texts.run = false;
      const ir::Kernel kernel =
          scheduled(nested(op_kernel(Op::add, dtype, dtype), {{}, {}, {.is_across = true}}), other);
      const std::string code = find_backend(backend())->compile(kernel, texts)->texts.at("asm");
      if (code.find("; no disassembler") != std::string::npos)
        return leave_out_without("llvm", code.substr(0, 80));
      EXPECT_THAT(code, ::testing::AnyOf(
                            ::testing::HasSubstr("unpcklbw "), ::testing::HasSubstr("unpcklwd "),
                            ::testing::HasSubstr("unpckldq "), ::testing::HasSubstr("unpcklps "),
                            ::testing::HasSubstr("unpcklqdq "), ::testing::HasSubstr("unpcklpd ")));
      for (const char* const by_lane : {"gather", "pinsr", "pextr"})
        EXPECT_EQ(code.find(by_lane), std::string::npos) << code;
    }
}

/// The code's texts: xbyak says in the assembly what parts are for, LLVM's IR has the functions.
std::string texts_of(std::string_view backend, const ir::Kernel& kernel, Isa isa) {
  Target texts = target_for(isa);
  texts.keep_texts = true;
  const auto code = find_backend(backend)->compile(kernel, texts);
  std::string all;
  for (const auto& [stage, text] : code->texts) all += text;
  return all;
}

/// Without them results would be the same, by way of the buffer or a plane at a time.
TEST_P(Tile, TheCodeHasRowsInRegistersAndShortTranspositions) {
  using ::testing::AnyOf, ::testing::HasSubstr;
  const ir::Kernel sum = scheduled(
      nested(op_kernel(Op::add, DType::f32, DType::f32), {{}, {}, {.is_across = true}}), isa());
  const std::string texts = texts_of(backend(), sum, isa());
  if (texts.find("; no disassembler") != std::string::npos)
    return leave_out_without("llvm", "xbyak's remarks stand in the assembly's text");
  EXPECT_THAT(texts,
              AnyOf(HasSubstr("lines to columns"),
                    HasSubstr("@weft_tile_rows_" +
                              std::to_string(static_cast<int>(tiles::RowKind::fused)) + "(")));
  if (!tiles::has_short_transpose(target().features, 4)) return;
  const ir::Kernel copy =
      scheduled(nested(copy_kernel(DType::f32), {{}, {.is_across = true}}), isa());
  EXPECT_THAT(texts_of(backend(), copy, isa()), AnyOf(HasSubstr("transpositions of few lines each"),
                                                      HasSubstr("@weft_short_transpose(")));
}

/// Random classes in nests of two to four loops: strided and constant operands beside those to
/// transpose.
TEST_P(Tile, RandomNests) {
  const auto pick = [&](std::initializer_list<int> values) {
    return static_cast<StrideClass>(values.begin()[random_() % values.size()]);
  };
  int num_tiled = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t num_loops = 2 + random_() % 3;
    const DType dtype = std::array{DType::u8, DType::i16, DType::f32, DType::f64}[random_() % 4];
    ir::Kernel kernel = op_kernel(Op::sub, dtype, dtype);
    kernel.loops.resize(num_loops);
    for (ir::Operand& operand : kernel.operands) {
      operand.strides.assign(num_loops, stride_any);
      if (operand.role == Role::output) {
        operand.strides.back() = pick({1, 1, -1, stride_any});
        continue;
      }
      operand.strides.back() = pick({1, 0, -1, 2, 3, 4, stride_any, stride_any});
      operand.strides[num_loops - 2] = pick({1, 1, 1, -1, 0, stride_any});
    }
    kernel = scheduled(kernel, isa());
    num_tiled += kernel.schedule == ir::Schedule::tile ? 1 : 0;
    const Comparison comparison(kernel, target(), backend());
    for (int run = 0; run < 4; ++run) {
      std::vector<std::int64_t> extents(num_loops, 2);
      extents[num_loops - 1] = 1 + static_cast<std::int64_t>(random_() % 48);
      extents[num_loops - 2] = 1 + static_cast<std::int64_t>(random_() % 24);
      const Placement placement = random_() % 2 == 0 ? Placement::at_end : Placement::at_start;
      ASSERT_TRUE(comparison.agree({.extents = extents, .open_stride = 24, .placement = placement},
                                   random_));
    }
  }
  EXPECT_GT(num_tiled, 50);
}

/// Pixels by every way that a target has: permutations of whole registers, or of 16 bytes.
TEST_P(Tile, TheCodeShufflesPixels) {
  for (const Isa other : {Isa::avx2, Isa::avx512})
    for (const bool has_vbmi : {false, true})
      for (const DType dtype : {DType::u8, DType::u16, DType::f32, DType::f64}) {
        if (has_vbmi && other == Isa::avx2) continue;
        Target texts = target();
        texts.features = target_features(other);
        texts.features.avx512_vbmi = has_vbmi;
        texts.keep_texts = true;
        texts.run = false;
        const std::string code =
            find_backend(backend())
                ->compile(scheduled(nested(copy_kernel(dtype), {{.pixel_items = 3}, {}}), other),
                          texts)
                ->texts.at("asm");
        if (code.find("; no disassembler") != std::string::npos)
          return leave_out_without("llvm", code.substr(0, 80));
        const bool permutes = other == Isa::avx512 && (has_vbmi || dtype != DType::u8);
        // LLVM finds other shuffles of as many bytes for large items.
        if (permutes || itemsize_bytes(dtype) < 4) {
          EXPECT_THAT(code, ::testing::HasSubstr(permutes ? "vperm" : "vpshufb"));
        }
        EXPECT_THAT(code, ::testing::Not(::testing::HasSubstr("pinsr")));
      }
}

INSTANTIATE_TEST_SUITE_P(Targets, Tile,
                         ::testing::Combine(::testing::Values("xbyak", "llvm"),
                                            ::testing::ValuesIn(runnable_isas())),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param)) + "_" +
                                  std::string(name(std::get<1>(param.param)));
                         });

}  // namespace
}  // namespace weft::jit::testing
