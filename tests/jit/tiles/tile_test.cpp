// The tile schedule against the interpreter: every item size, ragged sizes, gaps, and directions.
#include "tests/jit/tiles/tile_harness.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace weft::jit::testing {
namespace {

using ir::no_value;
using ir::Role;
using ir::stride_any;
using ir::StrideClass;
using ir::ValueId;

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

// Of few lines or items each, with gaps between rows and between planes, which no store may touch.
TEST_P(Tile, CopiesOfManyShortPlanes) {
  constexpr std::int64_t longest = 18, gap_items = 3;
  for (const DType dtype : {DType::u32, DType::u64})
    for (const std::size_t across : {0, 1}) {
      const auto item = static_cast<std::int64_t>(itemsize_bytes(dtype));
      ir::Kernel kernel = copy_kernel(dtype);
      kernel.loops.resize(4);
      for (ir::Operand& operand : kernel.operands) operand.strides.assign(4, ir::stride_any);
      kernel.operands[across].strides[2] = 1;
      kernel.operands[1 - across].strides[3] = 1;
      const Comparison comparison(scheduled(kernel, isa()), target(), backend());
      for (std::int64_t rows = 1; rows <= longest; ++rows)
        for (std::int64_t columns = 1; columns <= longest; ++columns) {
          const std::int64_t row = (columns + gap_items) * item, column = (rows + gap_items) * item;
          const std::int64_t plane = rows * row + columns * column;
          jit::testing::Run run{
              .extents = {2, 3, rows, columns},
              .placement = columns % 2 == 0 ? Placement::at_end : Placement::at_start,
              .stride_bytes = std::vector<std::vector<std::int64_t>>(2)};
          run.stride_bytes[across] = {4 * plane, plane, item, column};
          run.stride_bytes[1 - across] = {-plane, 2 * plane, row, item};
          ASSERT_TRUE(comparison.agree(run, random_)) << rows << " rows, " << columns << " columns";
        }
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

/// Division takes so many registers that few are left for transposed inputs.
TEST_P(Tile, QuotientsOfIntegers) {
  const Place along{}, across{.is_across = true};
  for (const DType dtype : {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::i64})
    for (const Op op : {Op::div_floor, Op::fmod}) {
      compare(op_kernel(op, dtype, dtype), {along, across, along}, {{16, 64}, {33, 70}});
      compare(op_kernel(op, dtype, dtype), {along, across, across}, {{16, 64}, {33, 70}});
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

/// What a walk called.
struct Calls {
  int rows = 0;
  int fused_rows = 0;
  int large_fused_rows = 0;
  int transposes = 0;
};
Calls calls;

void count_rows(const KernelArgs*) { ++calls.rows; }
void count_fused_rows(const KernelArgs*) { ++calls.fused_rows; }
void count_large_fused_rows(const KernelArgs*) { ++calls.large_fused_rows; }
void count_transpose(const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t,
                     std::int64_t, std::int64_t, std::int64_t) {
  ++calls.transposes;
}

/// A sum of floats, the second of them transposed, of which the functions only count.
tiles::TileCode counting_tile(const CpuFeatures& features) {
  const auto address = [](auto* function) { return reinterpret_cast<std::uintptr_t>(function); };
  const std::uintptr_t first =
      std::min({address(count_rows), address(count_fused_rows), address(count_large_fused_rows),
                address(count_transpose)}) -
      1;
  const auto offset = [&](auto* function) {
    return static_cast<tiles::FunctionOffset>(address(function) - first);
  };
  tiles::TileCode tile;
  const Tuning none;
  const TuningScope scope(none);
  tiles::set_thresholds(tile, features);
  tile.code = reinterpret_cast<const std::byte*>(first);
  tile.num_loops = 2;
  tile.operands.assign(3, {.itemsize = 4});
  tile.operands[0].is_output = true;
  tile.operands[2].is_staged = true;
  tile.operands[2].wide_transpose = tile.operands[2].narrow_transpose = offset(count_transpose);
  tile.rows = tile.streaming_rows = offset(count_rows);
  tile.fused_rows = offset(count_fused_rows);
  tile.large_fused_rows = offset(count_large_fused_rows);
  tile.fused_step_rows = 4;
  tile.fused_step_columns = 8;
  return tile;
}

Calls calls_of(const CpuFeatures& features, std::int64_t rows, std::int64_t columns,
               std::int64_t shift_bytes) {
  constexpr std::int64_t page_bytes = 4096;
  const tiles::TileCode tile = counting_tile(features);
  const std::int64_t item_bytes = 4 * rows * columns;
  std::vector<std::byte> memory(static_cast<std::size_t>(item_bytes + 4 * page_bytes));
  const auto unaligned = reinterpret_cast<std::uintptr_t>(memory.data()) & (page_bytes - 1);
  std::byte* const page = memory.data() + (page_bytes - static_cast<std::int64_t>(unaligned));
  // What a tile reads of one may be another's: it is only counted.
  std::byte* const base[] = {page, page + page_bytes + shift_bytes, page + 2 * page_bytes};
  const std::int64_t extents[] = {rows, columns};
  const std::int64_t strides[] = {4 * columns, 4 * columns, 4, 4, 4, 4 * rows};
  const KernelArgs args{base, extents, strides, nullptr, nullptr};
  calls = {};
  run_tiles(&args, &tile);
  return calls;
}

// docs/decisions/tiles.md says where registers lose against a buffer, on Zen 3.
TEST(TileWalk, HasABufferWhereLoadsWouldWaitForStores) {
  CpuFeatures zen3 = target_features(Isa::avx2);
  zen3.amd_family = zen3_family;
  zen3.pages_in_turn = false;
  CpuFeatures others = zen3;
  others.amd_family = 0;
  for (const std::int64_t columns : {512, 513, 1024, 1025, 1367}) {
    EXPECT_EQ(calls_of(zen3, 32, columns, 0).fused_rows, 0) << columns;
    EXPECT_GT(calls_of(zen3, 32, columns, 0).transposes, 0) << columns;
    EXPECT_GT(calls_of(zen3, 32, columns, 256).fused_rows, 0) << columns;
    EXPECT_GT(calls_of(others, 32, columns, 0).fused_rows, 0) << columns;
  }
  for (const std::int64_t columns : {256, 500, 520, 1000})
    EXPECT_GT(calls_of(zen3, 32, columns, 0).fused_rows, 0) << columns;
  // In calls that no longer fit the second cache: lines that fight, and more than half of the last.
  zen3.l3_bytes = 32 << 20;
  EXPECT_EQ(calls_of(zen3, 1024, 1000, 256).large_fused_rows, 0);
  EXPECT_GT(calls_of(zen3, 1000, 1000, 256).large_fused_rows, 0);
  EXPECT_GT(calls_of(zen3, 1160, 1160, 256).large_fused_rows, 0);
  EXPECT_EQ(calls_of(zen3, 1200, 1200, 256).large_fused_rows, 0);
  EXPECT_EQ(calls_of(zen3, 1200, 1200, 256).fused_rows, 0);
}

TEST(TileCode, StreamsFromWhatTheProcessorOrAMeasurementSays) {
  using MiB = std::pair<std::int64_t, std::int64_t>;  // of what computes, and of copies
  constexpr std::int64_t mib = 1 << 20;
  CpuFeatures features = target_features(Isa::avx2);
  const auto thresholds = [&](int amd_family, std::int64_t l3_bytes) {
    features.amd_family = amd_family;
    features.l3_bytes = l3_bytes;
    tiles::TileCode tile;
    tiles::set_thresholds(tile, features);
    return MiB(tile.streaming_bytes / mib, tile.copy_streaming_bytes / mib);
  };
  {
    Tuning none;
    const TuningScope scope(none);
    EXPECT_EQ(thresholds(zen3_family, 32 * mib), MiB(4, 8));
    EXPECT_EQ(thresholds(zen3_family, 4 * mib), MiB(4, 4));
    EXPECT_EQ(thresholds(zen5_family, 32 * mib), MiB(4, 4));
    EXPECT_EQ(thresholds(0, 32 * mib), MiB(4, 4));
    features.isa = Isa::avx512;
    EXPECT_EQ(thresholds(zen3_family, 32 * mib), MiB(4, 4)) << "Zen 4";
    features.isa = Isa::avx2;
  }
  Tuning measured;
  measured.tile_streaming_bytes = 6 * mib;
  const TuningScope scope(measured);
  EXPECT_EQ(thresholds(zen3_family, 32 * mib), MiB(4, 6));
  EXPECT_EQ(thresholds(zen5_family, 32 * mib), MiB(6, 6));
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

INSTANTIATE_TEST_SUITE_P(Targets, Tile, tile_targets(),
                         [](const auto& param) { return target_name(param); });

}  // namespace
}  // namespace weft::jit::testing
