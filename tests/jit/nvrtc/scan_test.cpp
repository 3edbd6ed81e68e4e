// Kernels that scan, as CUDA source: on the CPU, against the interpreter, however rows and columns
// are divided.  Of few numbers, whose sums are exact, every order has the same bits.
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/jit/nvrtc/batch.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace weft::jit::test {
namespace {

using Extents = std::vector<std::int64_t>;

struct Scanned {
  std::string dtype, combine = "add";
  std::string kept = {};  ///< in what partial results are kept, if in another dtype
  bool is_row = true;
  std::int64_t outer = 2, extent = 1, columns = 1;
  std::int64_t step = 1;  ///< along the innermost loop, in elements; negative: backwards
  bool is_place = false;
  std::uint64_t max_blocks = 3;
  std::size_t shift_items = 0;
};

class Scans {
 public:
  Scans() { batch.use_numbers(NvrtcBatch::Numbers::few); }

  void add(const Scanned& scanned, double ulp = 0) {
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(*parse_dtype(scanned.dtype)));
    const std::int64_t out_size = scanned.is_place ? 8 : itemsize, step = itemsize * scanned.step;
    const std::int64_t row = scanned.extent * scanned.columns * std::abs(step);
    const std::int64_t out_row = scanned.extent * scanned.columns * out_size;
    Extents extents{scanned.outer, scanned.extent};
    std::vector<Extents> strides{{out_row, out_size}, {row, step}, {0, 8}};
    if (!scanned.is_row) {
      extents.push_back(scanned.columns);
      strides = {{out_row, out_size * scanned.columns, out_size},
                 {row, step * scanned.columns, step},
                 {0, 8, 0}};
    }
    if (!scanned.is_place) strides.pop_back();
    batch.add(kernel_of(scanned), extents, strides, {.ulp = ulp},
              scanned.shift_items * static_cast<std::size_t>(itemsize), scanned.max_blocks);
  }
  void run() { batch.run_and_compile(); }

  NvrtcBatch batch;

 private:
  static ir::Kernel kernel_of(const Scanned& scanned) {
    const std::string along = scanned.step == 1 ? "1" : scanned.step == -1 ? "-1" : "*";
    const std::string middle = scanned.is_row ? "* " : "* * ", &dtype = scanned.dtype;
    std::string text = "kernel default unscheduled 0 { $0 out " +
                       (scanned.is_place ? "i64" : dtype) + " [" + middle + "1] $1 in " + dtype +
                       " [" + middle + along + "] ";
    if (scanned.is_place) text += scanned.is_row ? "$2 place i64 [0 1] " : "$2 place i64 [0 1 0] ";
    text += scanned.is_row ? "parallel scan " : "parallel scan parallel ";
    text += "body: %0 = load " + dtype + " $1 ";
    if (scanned.is_place)
      text += "%1 = load i64 $2 accumulate_place " + dtype + " $0 " + scanned.combine + " %0, %1 }";
    else if (!scanned.kept.empty())
      text += "%1 = cast " + scanned.kept + " %0 accumulate " + scanned.kept + " $0 " +
              scanned.combine + " %1 }";
    else
      text += "accumulate " + dtype + " $0 " + scanned.combine + " %0 }";
    const ir::Kernel kernel = ir::parse(text);
    ir::verify(kernel);
    return kernel;
  }
};

const Scanned what[] = {
    {.dtype = "f32", .kept = "f64"},
    {.dtype = "f32", .combine = "mul", .kept = "f64"},
    {.dtype = "f64"},
    {.dtype = "i64"},
    {.dtype = "i64", .combine = "mul"},
    {.dtype = "f32", .combine = "maximum"},
    {.dtype = "u8", .combine = "minimum"},
    {.dtype = "i16", .combine = "maximum"},
    {.dtype = "bool", .combine = "maximum"},
    {.dtype = "c64", .kept = "c128"},
    {.dtype = "c128"},
    {.dtype = "f32", .combine = "maximum", .is_place = true},
    {.dtype = "u8", .combine = "minimum", .is_place = true},
    {.dtype = "f64", .combine = "minimum", .is_place = true},
};

TEST(NvrtcScans, OfRowsAreTheInterpreters) {
  Scans all;
  for (Scanned scanned : what)
    // Around what a thread, a warp and a block have of a row.
    for (const std::int64_t extent :
         {1, 3, 8, 31, 127, 128, 129, 256, 257, 1024, 2048, 2051, 5000}) {
      scanned.extent = extent;
      all.add(scanned);
    }
  all.run();
}

TEST(NvrtcScans, OfColumnsAreTheInterpreters) {
  Scans all;
  for (Scanned scanned : what)
    for (const std::int64_t columns : {1, 2, 31, 64, 66, 130})
      for (const std::int64_t extent : {1, 7, 8, 9, 100}) {
        scanned.is_row = false;
        scanned.columns = columns;
        scanned.extent = extent;
        all.add(scanned);
      }
  all.run();
}

TEST(NvrtcScans, AreTheSameHoweverTheyAreDivided) {
  Scans all;
  for (const std::size_t index : {0u, 3u, 5u, 9u, 11u})
    for (const std::uint64_t max_blocks : {1u, 7u, 16u, 64u, 2112u}) {
      Scanned scanned = what[index];
      scanned.max_blocks = max_blocks;
      for (const std::int64_t extent : {4096, 8191, 66'000}) {
        scanned.extent = extent;
        all.add(scanned);
      }
      EXPECT_EQ(all.batch.last_num_launches(), max_blocks < 16 ? 1u : 2u) << max_blocks;
      scanned.is_row = false;
      for (const std::int64_t columns : {3, 66}) {
        scanned.extent = 1003;
        scanned.columns = columns;
        all.add(scanned);
      }
      EXPECT_EQ(all.batch.last_num_launches(), max_blocks < 7 ? 1u : 2u) << max_blocks;
    }
  all.run();
}

TEST(NvrtcScans, OfOtherStridesAlignmentsAndIndices) {
  Scans all;
  for (const std::size_t index : {0u, 3u, 6u, 9u, 11u})
    for (const bool is_row : {true, false})
      for (const std::int64_t step : {1, -1, 3})
        for (const std::size_t shift : {0u, 1u, 2u}) {
          Scanned scanned = what[index];
          scanned.is_row = is_row;
          scanned.step = step;
          scanned.shift_items = shift;
          scanned.extent = is_row ? 2100 : 60;
          scanned.columns = is_row ? 1 : 64;
          all.add(scanned);
        }
  all.batch.use_64_bit_indices();
  all.add({.dtype = "f32", .kept = "f64", .extent = 3000, .max_blocks = 64});
  all.add({.dtype = "f32", .kept = "f64", .is_row = false, .extent = 300, .columns = 64});
  all.run();
}

TEST(NvrtcScans, OfFloatsAreWithinAnUlpOfTheInterpreters) {
  Scans all;
  all.batch.use_plain_numbers();
  for (const std::int64_t extent : {100, 3000, 40'000})
    all.add({.dtype = "f32", .kept = "f64", .extent = extent, .max_blocks = 64}, 1);
  all.run();
}

TEST(NvrtcScans, OfComplexProductsAreWithinTwoUlpOfTheInterpreters) {
  Scans all;
  all.batch.use_plain_numbers();
  for (const bool is_row : {true, false})
    for (const std::int64_t extent : {5, 129, 257, 600})
      all.add({.dtype = "c64",
               .combine = "mul",
               .kept = "c128",
               .is_row = is_row,
               .extent = extent,
               .columns = is_row ? 1 : 33,
               .max_blocks = 64},
              2);
  all.run();
}

/// Thousands of roundings, in another order.
TEST(NvrtcScans, ByFunctionsAreWithinSomeUlpOfTheInterpreters) {
  Scans all;
  all.batch.use_plain_numbers();
  for (const char* const combine : {"logaddexp", "logaddexp2", "hypot"})
    for (const char* const dtype : {"f32", "f64"})
      for (const bool is_row : {true, false})
        for (const std::int64_t extent : {7, 300, 5000})
          all.add({.dtype = dtype,
                   .combine = combine,
                   .is_row = is_row,
                   .extent = extent,
                   .columns = is_row ? 1 : 33,
                   .max_blocks = 64},
                  100);
  all.run();
}

/// What is computed of $1 and $2 in front of a scan, as exact as the numbers are few.
struct Expression {
  const char *first, *second, *body, *kept, *combine, *written;
};
const Expression expressions[] = {
    {"f32", "i16", "%2 = cast f32 %1 %3 = mul f32 %0, %2 %4 = cast f64 %3", "f64", "add", "f32"},
    {"i32", "u8", "%2 = cast i32 %1 %3 = sub i32 %0, %2 %4 = abs i32 %3", "i32", "maximum", "i32"},
    {"c64", "c64", "%2 = conj c64 %1 %3 = mul c64 %0, %2 %4 = cast c128 %3", "c128", "add", "c64"},
    {"c64", "f32", "%2 = cast c64 %1 %3 = add c64 %0, %2 %4 = real c64 %3", "f32", "minimum",
     "f32"},
};

/// With $2 dense, one along the innermost loop, or one along the other; guard pages around all.
TEST(NvrtcScans, OfRandomExpressionsAreTheInterpreters) {
  NvrtcBatch batch(9);
  batch.use_numbers(NvrtcBatch::Numbers::few);
  std::mt19937_64 random(9);
  const auto up_to = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int i = 0; i < 200; ++i) {
    const Expression& row = expressions[random() % std::size(expressions)];
    const bool is_row = random() % 2 == 0;
    const std::uint64_t second = random() % 3;
    const std::int64_t first_step = random() % 4 == 0 ? 3 : 1;
    const char* const along = first_step == 1 ? "1" : "3";
    const std::string still = second == 1 ? "0" : "1", whole = second == 2 ? "0 " : "* ";
    const std::string text =
        detail::concat("kernel default unscheduled 0 { $0 out ", row.written, " [* 1] $1 in ",
                       row.first, " [* ", along, "] $2 in ", row.second, " [", whole, still, "] ",
                       is_row ? "parallel scan" : "scan parallel", " body: %0 = load ", row.first,
                       " $1 %1 = load ", row.second, " $2 ", row.body, " accumulate ", row.kept,
                       " $0 ", row.combine, " %4 }");
    const ir::Kernel kernel = ir::parse(text);
    ir::verify(kernel);
    const std::int64_t outer = up_to(is_row ? 6 : 300), inner = up_to(is_row ? 3000 : 150);
    const auto size = [](const char* dtype) {
      return static_cast<std::int64_t>(itemsize_bytes(*parse_dtype(dtype)));
    };
    const std::int64_t step = second == 1 ? 0 : size(row.second);
    batch.add(kernel, {outer, inner},
              {{inner * size(row.written), size(row.written)},
               {first_step * inner * size(row.first), first_step * size(row.first)},
               {second == 2 ? 0 : std::max(inner * step, size(row.second)), step}},
              {}, 0, std::array{1u, 3u, 64u}[random() % 3]);
  }
  batch.run_and_compile();
}

TEST(NvrtcScans, AreRefusedByName) {
  const auto refusal = [](const std::string& dtype, const std::string& body) {
    return nvrtc::prepare(ir::parse("kernel default unscheduled 0 { $0 out " + dtype +
                                    " [1] $1 in " + dtype + " [1] scan body: %0 = load " + dtype +
                                    " $1 " + body))
        .refusal;
  };
  EXPECT_EQ(refusal("bf16", "accumulate bf16 $0 add %0 }"),
            "%1 accumulate bf16 add has no lowering");
}

}  // namespace
}  // namespace weft::jit::test
