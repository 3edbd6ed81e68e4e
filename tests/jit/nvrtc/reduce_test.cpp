// Kernels that reduce, as CUDA source: on the CPU, against the interpreter, bit by bit, however the
// work is divided among launches, blocks and warps.
#include "jit/nvrtc/reduce.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/jit/fold/fused_fold.h"
#include "tests/jit/nvrtc/batch.h"

#include <array>
#include <span>
#include <string>

namespace weft::jit::test {
namespace {

std::int64_t size_of(DType dtype) { return static_cast<std::int64_t>(itemsize_bytes(dtype)); }

using testing::Fused;
constexpr Fused fused[] = {
    {"f32", "add", "%2 = sub f32 %0, %1 %3 = mul f32 %2, %2", "f32"},
    {"f32", "mul", "%2 = add f32 %0, %1", "f32"},
    {"f32", "maximum", "%2 = abs f32 %0 %3 = sub f32 %2, %1", "f32"},
    {"f64", "add", "%2 = mul f64 %0, %1", "f64"},
    {"f64", "minimum", "%2 = cast f64 %0 %3 = cast f64 %1 %4 = mul f64 %2, %3", "f32"},
    {"f32", "add", "%2 = cast f32 %0 %3 = cast f32 %1 %4 = mul f32 %2, %3", "f16"},
    {"f32", "add", "%2 = cast f32 %0 %3 = cast f32 %1 %4 = sub f32 %2, %3", "bf16"},
    {"i64", "add", "%2 = cast i64 %0 %3 = cast i64 %1 %4 = mul i64 %2, %3", "i16"},
    {"i64", "mul", "%2 = bitwise_or i64 %0, %1", "i64"},
    {"i32", "minimum", "%2 = sub i32 %0, %1", "i32"},
    {"i32", "bitwise_xor", "%2 = add i32 %0, %1", "i32"},
    {"u8", "maximum", "%2 = sub u8 %0, %1", "u8"},
    {"u16", "gcd", "%2 = bitwise_and u16 %0, %1", "u16"},
    {"bool", "add", "%2 = lt f32 %0, %1", "f32"},
    {"bool", "mul", "%2 = ne u8 %0, %1", "u8"},
    {"f32", "logaddexp", "%2 = add f32 %0, %1", "f32"},
    {"f64", "logaddexp2", "%2 = cast f64 %0 %3 = cast f64 %1 %4 = mul f64 %2, %3", "f32"},
    // Moved whole, and in parts.
    {"c64", "add", "%2 = add c64 %0, %1", "c64"},
    {"c64", "mul", "%2 = mul c64 %0, %1", "c64"},
    {"c64", "add", "%2 = sub c64 %0, %1 %3 = mul c64 %2, %2", "c64"},
    {"c64", "mul", "%2 = cast c64 %0 %3 = cast c64 %1 %4 = div c64 %2, %3", "c32"},
    {"c128", "add", "%2 = cast c128 %0 %3 = cast c128 %1 %4 = mul c128 %2, %3", "c64"},
    {"c128", "mul", "%2 = conj c128 %0 %3 = add c128 %2, %1", "c128"},
    {"c64", "add", "%2 = complex f32 %0, %1", "f32"},
    {"f32", "add", "%2 = mul c64 %0, %1 %3 = imag c64 %2", "c64"},
};
/// CUDA's, and so within some ulp of the interpreter's.
constexpr Fused by_functions[] = {
    {"f32", "hypot", "%2 = sub f32 %0, %1", "f32"},
    {"f64", "hypot", "%2 = mul f64 %0, %1", "f64"},
};

/// The tree that the engine asks for, and smaller ones, whose blocks a test can fill.
ir::Tree tree_for(DType dtype, bool is_inner, int leaf) {
  const int lanes = is_inner ? 256 / static_cast<int>(itemsize_bytes(dtype)) : 1;
  return {lanes, is_inner ? leaf * lanes : leaf};
}

struct Shape {
  std::vector<std::int64_t> kept, rows;
  std::int64_t inner;
};

/// The second operand's part in a reduction.
enum class Second { alike, one_a_row, one_for_all_rows, every_third };

class Reductions {
 public:
  /// Dense inputs, outputs two items apart.
  void add(const Fused& row, bool is_inner, const Shape& shape, int leaf, Second second,
           std::uint64_t max_blocks, std::size_t shift_items = 0, double ulp = 0) {
    const std::vector<std::int64_t> extents = extents_of(shape);
    const std::size_t num_kept = shape.kept.size(), inner = extents.size() - 1;
    const DType dtype = *parse_dtype(row.dtype), input = *parse_dtype(row.input);
    std::vector<std::int64_t> out(extents.size(), 0), dense(extents.size());
    std::int64_t step = size_of(input), out_step = 2 * size_of(dtype);
    for (std::size_t loop = extents.size(); loop-- > 0;) {
      dense[loop] = step;
      step *= extents[loop];
      const bool is_kept = loop < num_kept || (loop == inner && !is_inner);
      if (!is_kept) continue;
      out[loop] = loop == inner ? size_of(dtype) : out_step;
      out_step = 2 * out[loop] * extents[loop];
    }
    std::vector<std::int64_t> other = dense;
    if (second == Second::one_a_row) other[inner] = 0;
    if (second == Second::every_third) other[inner] *= 3;
    for (std::size_t loop = num_kept; loop < inner; ++loop)
      if (second == Second::one_for_all_rows) other[loop] = 0;
    batch.add(kernel_of(row, is_inner, shape, leaf, second), extents, {out, dense, other},
              {.ulp = ulp}, shift_items * itemsize_bytes(input), max_blocks);
  }

  void run() { batch.run_and_compile(); }

  NvrtcBatch batch;

 private:
  static std::vector<std::int64_t> extents_of(const Shape& shape) {
    std::vector<std::int64_t> extents = shape.kept;
    extents.insert(extents.end(), shape.rows.begin(), shape.rows.end());
    extents.push_back(shape.inner);
    return extents;
  }

  static ir::Kernel kernel_of(const Fused& row, bool is_inner, const Shape& shape, int leaf,
                              Second second) {
    const DType dtype = *parse_dtype(row.dtype);
    std::string kept, reduced, loops;
    for (std::size_t i = 0; i < shape.kept.size(); ++i) {
      kept += "* ";
      loops += "parallel ";
    }
    std::string out = kept, still = kept;
    for (std::size_t i = 0; i < shape.rows.size(); ++i) {
      reduced += "* ";
      out += "0 ";
      still += second == Second::one_for_all_rows ? "0 " : "* ";
      loops += "reduce ";
    }
    const ir::Tree tree = tree_for(dtype, is_inner, leaf);
    const char* const along = second == Second::one_a_row     ? "0"
                              : second == Second::every_third ? "3"
                                                              : "1";
    return parsed(testing::text_of(row, out + (is_inner ? "0" : "1"), kept + reduced + "1",
                                   still + along, loops + (is_inner ? "reduce" : "parallel"),
                                   tree));
  }

 public:
  static ir::Kernel parsed(const std::string& text) {
    const ir::Kernel kernel = ir::parse(text);
    ir::verify(kernel);
    return kernel;
  }
};

// Around lanes (64 of f32), leaves and subtrees of leaves.
const Shape inner_shapes[] = {
    {{}, {}, 1},        {{3}, {}, 31},   {{20}, {}, 64},   {{2}, {}, 65},  {{2}, {}, 127},
    {{5}, {}, 128},     {{1}, {}, 1000}, {{2}, {}, 4133},  {{}, {3}, 40},  {{2, 3}, {2, 7}, 9},
    {{2}, {2, 3}, 300}, {{3}, {130}, 7}, {{1}, {1000}, 1}, {{}, {}, 20000}};
const Shape outer_shapes[] = {{{}, {1}, 1},       {{2}, {3}, 5},    {{}, {127}, 64},
                              {{2}, {129}, 66},   {{3}, {700}, 31}, {{2, 2}, {3, 50}, 130},
                              {{}, {5, 7, 9}, 3}, {{1}, {2000}, 68}};
// Of one nest, so that there is one source for each of `fused`.
const Shape shapes[] = {{{2}, {3}, 16}, {{1}, {9}, 64}, {{3}, {2}, 144}, {{2}, {31}, 2064}};

/// Some of `fused` in nests of all kinds, and the others.
void add_all(Reductions& all, bool is_inner, std::span<const Shape> nests, int leaf) {
  for (const bool is_plain : {true, false}) {
    all.batch.use_plain_numbers(is_plain);
    for (const Fused& row : fused) {
      const bool goes_everywhere = &row == &fused[0] || row.input == std::string("f16");
      for (const Shape& shape : goes_everywhere ? nests : std::span<const Shape>(shapes))
        all.add(row, is_inner, shape, leaf, Second::alike, 3);
    }
  }
}

TEST(NvrtcReductions, OfRowsHaveTheInterpretersBits) {
  Reductions all;
  add_all(all, true, inner_shapes, 2);
  all.run();
}

TEST(NvrtcReductions, OfColumnsHaveTheInterpretersBits) {
  Reductions all;
  add_all(all, false, outer_shapes, 8);
  all.run();
}

TEST(NvrtcReductions, ByFunctionsAreTheInterpreters) {
  Reductions all;
  for (const bool is_plain : {true, false}) {
    all.batch.use_plain_numbers(is_plain);
    for (const Fused& row : by_functions)
      for (const Shape& shape : shapes)
        for (const bool is_inner : {true, false})
          all.add(row, is_inner, shape, 2, Second::alike, 3, 0, 16);
  }
  all.run();
}

TEST(NvrtcReductions, HaveTheSameBitsHoweverTheyAreDivided) {
  Reductions all;
  all.batch.use_plain_numbers();
  for (const std::uint64_t max_blocks : {1u, 2u, 7u, 64u, 2112u})
    for (const int leaf : {1, 4})
      for (const std::int64_t extent : {500, 1030, 2049, 66000}) {
        all.add(fused[0], true, {{2}, {}, extent}, leaf, Second::alike, max_blocks);
        if (max_blocks == 2112) {
          EXPECT_EQ(all.batch.last_num_launches(), extent > 16 * 64 * leaf ? 2u : 1u) << extent;
        }
        all.add(fused[0], false, {{}, {extent / 8}, 9}, leaf, Second::alike, max_blocks);
      }
  all.run();
}

/// Four outputs leave a warp room for subtrees of 16 leaves.
TEST(NvrtcReductions, OfManyLeavesTakeThreeLaunches) {
  NvrtcBatch batch;
  batch.use_plain_numbers();
  const ir::Kernel kernel = Reductions::parsed(R"(kernel default unscheduled 0 {
    $0 out f32 [0 1]  $1 out f32 [0 1]  $2 out f32 [0 1]  $3 out f32 [0 1]  $4 in f32 [* 1]
    reduce parallel
    tree lanes 1 block 1
  body:
    %0 = load f32 $4
    %1 = mul f32 %0, %0
    accumulate f32 $0 add %0
    accumulate f32 $1 add %1
    accumulate f32 $2 maximum %1
    accumulate f32 $3 mul %1 })");
  batch.add(kernel, {17000, 6}, {{0, 4}, {0, 4}, {0, 4}, {0, 4}, {24, 4}}, {}, 0, 2112);
  EXPECT_EQ(batch.last_num_launches(), 3u);
  batch.run();
}

TEST(NvrtcReductions, OfOperandsWithOtherStridesAndAlignments) {
  Reductions all;
  all.batch.use_plain_numbers();
  for (const std::size_t f : {0u, 5u, 11u})
    for (const Second second : {Second::one_a_row, Second::one_for_all_rows, Second::every_third})
      for (const bool is_inner : {true, false})
        for (const std::size_t shift : {0u, 1u, 2u}) {
          all.add(fused[f], is_inner, {{2}, {3}, 64}, 4, second, 3, shift);
          all.add(fused[f], is_inner, {{2}, {9}, 201}, 4, second, 3, shift);
        }
  all.run();
}

TEST(NvrtcReductions, OfComplexNumbersAtMultiplesOfTheirParts) {
  NvrtcBatch batch;
  batch.use_plain_numbers();
  for (const std::string dtype : {"c64", "c128"})
    for (const std::string combine : {"add", "mul"}) {
      const std::int64_t size = size_of(*parse_dtype(dtype));
      const std::string lanes = std::to_string(256 / size);
      const auto kernel = [&](const std::string& out, const std::string& loops,
                              const std::string& tree) {
        return Reductions::parsed("kernel default unscheduled 0 { $0 out " + dtype + out +
                                  "$1 in " + dtype + " [* 1] " + loops + " tree lanes " + tree +
                                  " body: %0 = load " + dtype + " $1 accumulate " + dtype + " $0 " +
                                  combine + " %0 }");
      };
      const auto shift = static_cast<std::size_t>(size / 2);
      batch.add(kernel(" [* 0] ", "parallel reduce", lanes + " block " + lanes), {3, 300},
                {{size, 0}, {300 * size, size}}, {}, shift);
      EXPECT_TRUE(batch.last_variant().halves);
      batch.add(kernel(" [0 1] ", "reduce parallel", "1 block 16"), {300, 65},
                {{0, size}, {65 * size, size}}, {}, shift);
      EXPECT_TRUE(batch.last_variant().halves);
    }
  batch.run_and_compile();
}

TEST(NvrtcReductions, WithIndicesOf64Bits) {
  Reductions all;
  all.batch.use_plain_numbers();
  all.batch.use_64_bit_indices();
  for (const std::size_t f : {0u, 7u})
    for (const bool is_inner : {true, false}) {
      all.add(fused[f], is_inner, {{2, 3}, {2, 7}, 90}, 2, Second::alike, 3);
      all.add(fused[f], is_inner, {{}, {40}, 1000}, 2, Second::every_third, 3);
    }
  all.run();
}

TEST(NvrtcReductions, ShortVectorsAreLoadedWhole) {
  Reductions all;
  const auto items = [&](const char* dtype, const char* input, bool is_inner) {
    const std::string body = std::string("%2 = cast ") + dtype + " %0 %3 = cast " + dtype + " %1";
    const std::string same = "%2 = abs " + std::string(dtype) + " %0";
    const Fused row{dtype, "maximum", dtype == std::string(input) ? same.c_str() : body.c_str(),
                    input};
    all.add(row, is_inner, {{2}, {3}, 256}, 4, Second::alike, 3);
    return all.batch.last_variant().items;
  };
  EXPECT_EQ(items("f32", "f32", true), 2);
  EXPECT_EQ(items("f64", "f64", true), 1);
  EXPECT_EQ(items("i8", "i8", true), 8);
  EXPECT_EQ(items("i8", "f64", true), 2);
  EXPECT_EQ(items("f32", "f16", false), 2);
  EXPECT_EQ(items("f64", "f64", false), 1);
  all.run();
}

TEST(NvrtcReductions, OfSeveralOutputsAndFewLanes) {
  NvrtcBatch batch;
  batch.use_plain_numbers();
  const ir::Kernel kernel = Reductions::parsed(R"(kernel default unscheduled 0 {
    $0 out f32 [* 0]  $1 out f64 [* 0]  $2 in f32 [* 1]  #0 f32
    parallel reduce
    tree lanes 4 block 8
  body:
    %0 = load f32 $2
    %1 = param f32 #0
    %2 = mul f32 %0, %1
    %3 = cast f64 %2
    accumulate f32 $0 minimum %0
    accumulate f64 $1 add %3 })");
  for (const std::int64_t extent : {1, 3, 4, 7, 77, 3000})
    batch.add(kernel, {3, extent}, {{4, 0}, {8, 0}, {4 * extent, 4}}, {}, 0, 3);
  batch.run();
  batch.compile_with_nvrtc("sm_90");
}

/// Of a device with 132 multiprocessors.
std::uint64_t max_blocks_of(const ir::Kernel& kernel) { return nvrtc::max_blocks_for(kernel, 132); }

TEST(NvrtcReductions, OfNothingAreTheIdentity) {
  const ir::Kernel kernel = nvrtc::prepare(Reductions::parsed(R"(kernel default unscheduled 0 {
    $0 out f32 [* 0 0]  $1 in f32 [* * 1]
    parallel reduce reduce
    tree lanes 64 block 64
  body:
    %0 = load f32 $1
    accumulate f32 $0 add %0 })"))
                                .kernel;
  for (const auto& [kept, rows, inner, units] :
       {std::array<std::int64_t, 4>{0, 3, 3, 0}, {3, 0, 3, 3}, {3, 3, 0, 3}}) {
    nvrtc::Nest nest{{kept, rows, inner}, std::vector<std::int64_t>(6, 4), {0, 0}, {}};
    const nvrtc::Variant variant = nvrtc::choose_variant(kernel, nest);
    const nvrtc::Launches planned =
        nvrtc::plan_launches(kernel, variant, nest, max_blocks_of(kernel));
    ASSERT_EQ(planned.launches.size(), 1u);
    EXPECT_EQ(planned.launches[0].arguments[10], static_cast<std::uint64_t>(units));
  }
}

TEST(NvrtcReductions, AreDividedByWhatTheDeviceHolds) {
  const ir::Kernel rows = nvrtc::prepare(Reductions::parsed(R"(kernel default unscheduled 0 {
    $0 out f32 [* 0]  $1 in f32 [* 1]
    parallel reduce
    tree lanes 64 block 4096
  body:
    %0 = load f32 $1
    accumulate f32 $0 add %0 })"))
                              .kernel;
  const auto launches = [&](std::int64_t kept, std::int64_t inner) {
    const nvrtc::Nest nest{{kept, inner}, {4, 4 * inner, 0, 4}, {0, 0}, {}};
    std::vector<std::uint64_t> blocks;
    for (const nvrtc::Launch& launch :
         nvrtc::plan_launches(rows, nvrtc::choose_variant(rows, nest), nest, max_blocks_of(rows))
             .launches)
      blocks.push_back(launch.blocks);
    return blocks;
  };
  using Blocks = std::vector<std::uint64_t>;
  EXPECT_EQ(launches(1, 1000), Blocks({1}));
  EXPECT_EQ(launches(4000, 1000), Blocks({500}));    // a warp a row
  EXPECT_EQ(launches(100, 20000), Blocks({100}));    // a block a row
  EXPECT_EQ(launches(1, 1000000), Blocks({31, 1}));  // 245 leaves
  EXPECT_EQ(launches(1, 1000000000), Blocks({1908, 30, 1}));
  EXPECT_EQ(launches(100000, 20000), Blocks({2112}));
}

TEST(NvrtcReductions, AreRefusedByName) {
  const auto refusal = [](const std::string& text) {
    return nvrtc::prepare(Reductions::parsed(text)).refusal;
  };
  EXPECT_EQ(refusal("kernel default unscheduled 0 { $0 out bf16 [0] $1 in bf16 [1] reduce tree "
                    "lanes 32 block 1024 body: %0 = load bf16 $1 accumulate bf16 $0 add %0 }"),
            "%1 accumulate bf16 add has no lowering");
  EXPECT_EQ(refusal("kernel default unscheduled 0 { $0 out f32 [* 0 0] $1 in f32 [* * 1] parallel "
                    "reduce parallel tree lanes 1 block 128 body: %0 = load f32 $1 accumulate f32 "
                    "$0 add %0 }"),
            "$0 is an output whose elements are one, and threads would race");
}

}  // namespace
}  // namespace weft::jit::test
