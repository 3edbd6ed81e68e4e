// Kernels that find places of extrema, as CUDA source: on the CPU, against the interpreter, however
// the work is divided among launches, blocks and warps; and ten thousand random reductions.
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/jit/nvrtc/batch.h"

#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace weft::jit::test {
namespace {

using Extents = std::vector<std::int64_t>;

std::string repeated(const std::string& word, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += word + " ";
  return text;
}

/// A kernel over dense elements; rows that are reduced or, where `is_inner` is false, columns of
/// rows.
struct Found {
  std::string dtype, combine = "maximum";
  bool is_inner = true;
  Extents kept = {}, rows = {};
  std::int64_t inner = 1;
  int leaf = 64;
  std::int64_t element_step = 1;  ///< along the innermost loop
  std::uint64_t max_blocks = 3;
  bool is_place = true;  ///< else the value
};

class Places {
 public:
  explicit Places(std::uint64_t seed = 20) : batch(seed) {
    batch.use_numbers(NvrtcBatch::Numbers::few);
  }

  void add(const Found& found, std::size_t shift_items = 0) {
    const DType dtype = *parse_dtype(found.dtype);
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
    Extents extents = found.kept;
    extents.insert(extents.end(), found.rows.begin(), found.rows.end());
    extents.push_back(found.inner);
    const std::size_t num_kept = found.kept.size(), inner = extents.size() - 1;
    Extents elements(extents.size()), out(extents.size(), 0), places(extents.size(), 0);
    std::int64_t step = itemsize * found.element_step, out_step = 8, place_step = 8;
    for (std::size_t loop = extents.size(); loop-- > 0;) {
      elements[loop] = step;
      step *= extents[loop];
      const bool is_kept = loop < num_kept || (loop == inner && !found.is_inner);
      (is_kept ? out : places)[loop] = is_kept ? out_step : place_step;
      (is_kept ? out_step : place_step) *= extents[loop];
    }
    // Places that run across the elements: the first of equals is not the first that is read.
    if (found.rows.size() == 1 && found.is_inner && found.is_place) {
      places[inner] = 8 * found.rows[0];
      places[inner - 1] = 8;
    }
    std::vector<Extents> strides{out, elements};
    if (found.is_place) strides.push_back(places);
    if (!found.is_place)
      for (std::int64_t& stride : strides[0]) stride = stride / 8 * itemsize;
    batch.add(kernel_of(found), extents, strides, {},
              shift_items * static_cast<std::size_t>(itemsize), found.max_blocks);
  }
  void run() { batch.run_and_compile(); }

  NvrtcBatch batch;

 private:
  static ir::Kernel kernel_of(const Found& found) {
    const std::string kept = repeated("*", found.kept.size()),
                      rows = repeated("*", found.rows.size()),
                      still = repeated("0", found.rows.size());
    const std::string along = found.element_step == 1 ? "1" : "*";
    const std::string& dtype = found.dtype;
    const int widest = static_cast<int>(itemsize_bytes(*parse_dtype(dtype)));
    const int lanes = !found.is_inner ? 1 : found.is_place ? 32 : 256 / widest;
    const std::string result = found.is_place ? "i64" : dtype;
    std::string text = "kernel default unscheduled 0 { $0 out " + result + " [" + kept + still +
                       (found.is_inner ? "0" : "1") + "] $1 in " + dtype + " [" + kept + rows +
                       along + "]";
    if (found.is_place)
      text += " $2 place i64 [" + kept + rows + (found.is_inner ? "*" : "0") + "]";
    text += " " + repeated("parallel", found.kept.size()) + repeated("reduce", found.rows.size()) +
            (found.is_inner ? "reduce" : "parallel") + " tree lanes " + std::to_string(lanes) +
            " block " + std::to_string(found.leaf * lanes) + " body: %0 = load " + dtype + " $1 ";
    if (found.is_place)
      text += "%1 = load i64 $2 accumulate_place " + dtype + " $0 " + found.combine + " %0, %1 }";
    else
      text += "accumulate " + dtype + " $0 " + found.combine + " %0 }";
    const ir::Kernel kernel = ir::parse(text);
    ir::verify(kernel);
    return kernel;
  }
};

constexpr const char* dtypes[] = {"f32", "f64", "i8",  "u8",  "i16", "u16",
                                  "i32", "u32", "i64", "u64", "bool"};

TEST(NvrtcPlaces, OfRowsAreTheInterpreters) {
  Places all;
  for (const char* dtype : dtypes)
    for (const char* combine : {"maximum", "minimum"})
      for (const std::int64_t inner : {1, 31, 32, 33, 130, 1000})
        all.add({.dtype = dtype, .combine = combine, .kept = {3}, .inner = inner, .leaf = 2});
  for (const std::int64_t inner : {4133, 66000})
    all.add({.dtype = "f32", .kept = {2}, .inner = inner, .leaf = 2});
  all.run();
}

TEST(NvrtcPlaces, OfRowsOfRowsAreInTheOrderOfThePlaces) {
  Places all;
  for (const char* dtype : {"f32", "u8", "f64"})
    for (const Extents& rows : {Extents{2}, {7}, {300}})
      for (const std::int64_t inner : {9, 64, 500})
        all.add({.dtype = dtype, .kept = {2}, .rows = rows, .inner = inner, .leaf = 4});
  all.add({.dtype = "f32", .kept = {}, .rows = {3, 5}, .inner = 70});
  all.run();
}

TEST(NvrtcPlaces, OfColumnsAreTheInterpreters) {
  Places all;
  for (const char* dtype : dtypes)
    for (const char* combine : {"maximum", "minimum"})
      for (const std::int64_t inner : {1, 31, 66})
        for (const std::int64_t rows : {1, 7, 129})
          all.add({.dtype = dtype,
                   .combine = combine,
                   .is_inner = false,
                   .kept = {2},
                   .rows = {rows},
                   .inner = inner,
                   .leaf = 8});
  all.add({.dtype = "f32", .is_inner = false, .kept = {}, .rows = {40, 60}, .inner = 68});
  all.run();
}

TEST(NvrtcPlaces, AreTheSameHoweverTheyAreDivided) {
  Places all;
  for (const std::uint64_t max_blocks : {1u, 2u, 7u, 64u, 2112u})
    for (const int leaf : {1, 4})
      for (const std::int64_t extent : {500, 2049, 66000}) {
        all.add(
            {.dtype = "f32", .kept = {2}, .inner = extent, .leaf = leaf, .max_blocks = max_blocks});
        all.add({.dtype = "i16",
                 .is_inner = false,
                 .kept = {},
                 .rows = {extent},
                 .inner = 5,
                 .leaf = leaf,
                 .max_blocks = max_blocks});
      }
  EXPECT_GE(all.batch.last_num_launches(), 2u);
  all.run();
}

TEST(NvrtcPlaces, OfOtherStridesAlignmentsAndIndices) {
  Places all;
  for (const bool is_inner : {true, false})
    for (const std::size_t shift : {0u, 1u, 3u})
      for (const std::int64_t step : {1, 3})
        all.add({.dtype = "f32",
                 .is_inner = is_inner,
                 .kept = {2},
                 .rows = {9},
                 .inner = 201,
                 .leaf = 4,
                 .element_step = step},
                shift);
  all.batch.use_64_bit_indices();
  for (const bool is_inner : {true, false})
    all.add({.dtype = "f64", .is_inner = is_inner, .kept = {2}, .rows = {9}, .inner = 201});
  all.run();
}

TEST(NvrtcPlaces, BesideValues) {
  NvrtcBatch batch;
  batch.use_numbers(NvrtcBatch::Numbers::few);
  const ir::Kernel kernel = ir::parse(R"(kernel default unscheduled 0 {
    $0 out f32 [* 0]  $1 out i64 [* 0]  $2 out i64 [* 0]  $3 in f32 [* 1]  $4 place i64 [0 1]
    parallel reduce
    tree lanes 32 block 64
  body:
    %0 = load f32 $3
    %1 = load i64 $4
    %2 = cast i32 %0
    accumulate f32 $0 maximum %0
    accumulate_place f32 $1 maximum %0, %1
    accumulate_place i32 $2 minimum %2, %1 })");
  ir::verify(kernel);
  for (const std::int64_t extent : {1, 33, 3000})
    batch.add(kernel, {3, extent}, {{4, 0}, {8, 0}, {8, 0}, {4 * extent, 4}, {0, 8}}, {}, 0, 3);
  batch.run();
  batch.compile_with_nvrtc("sm_90");
}

/// Sums are of integers and of floats, in the order of the tree.
TEST(NvrtcPlaces, TenThousandRandomReductionsAreTheInterpreters) {
  std::mt19937_64 random(2026);
  const auto one_of = [&](std::int64_t most) {
    // Small ones often, and some beyond every unit of the walk.
    const std::int64_t bound = random() % 8 == 0 ? most : 1 + most / 16;
    return static_cast<std::int64_t>(1 + random() % static_cast<std::uint64_t>(bound));
  };
  constexpr int num_batches = 8, cases_a_batch = 1250;  // mappings of memory are limited
  for (int number = 0; number < num_batches; ++number) {
    Places all(random());
    const char* const dtype = dtypes[static_cast<std::size_t>(number) % std::size(dtypes)];
    for (int i = 0; i < cases_a_batch; ++i) {
      Found found{.dtype = i % 5 == 0 ? dtype : "f32"};
      found.is_place = i % 3 == 0;
      found.combine = i % 3 == 1 ? "add" : "maximum";
      found.is_inner = random() % 2 == 0;
      found.kept = {one_of(8)};
      if (!found.is_inner || random() % 2 == 0) found.rows = {one_of(200)};
      found.inner = one_of(300);
      found.leaf = 2;
      found.element_step = random() % 8 == 0 ? 3 : 1;
      found.max_blocks = 1 + random() % 3;
      all.add(found);
    }
    if (HasFatalFailure()) return;
    all.batch.run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weft::jit::test
