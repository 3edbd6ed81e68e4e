// What generated code asks of a device's memory: the sectors of 32 bytes that a warp's access
// touches, and the passes that shared memory takes for it, because lanes want different words of
// one bank.  The accesses are those that the source makes on the CPU.
#include "tests/jit/nvrtc/batch.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace weft::jit::test {
namespace {

constexpr ir::StrideClass any = ir::stride_any;

/// One instruction of a warp: what its lanes access at the same time.
using WarpAccess = std::vector<Access>;

/// The accesses of one block by warp and place in the program.  Lanes that take part in whole tiles
/// and vectors all do the same.
std::vector<WarpAccess> by_warp(const std::vector<Access>& accesses) {
  std::map<unsigned, std::size_t> next;  // [thread]
  std::map<std::pair<unsigned, std::size_t>, WarpAccess> warps;
  for (const Access& access : accesses)
    warps[{access.thread / 32, next[access.thread]++}].push_back(access);
  std::vector<WarpAccess> result;
  for (auto& [key, access] : warps) {
    std::ranges::sort(access, {}, &Access::thread);
    result.push_back(std::move(access));
  }
  return result;
}

int sectors(const WarpAccess& access) {
  std::set<std::uint64_t> touched;
  for (const Access& lane : access)
    for (unsigned byte = 0; byte < lane.bytes; ++byte)
      touched.insert((reinterpret_cast<std::uint64_t>(lane.address) + byte) / 32);
  return static_cast<int>(touched.size());
}

/// 32 banks of 4 bytes; of 8 and 16 bytes a lane, half and a quarter of the warp go at a time.
/// Returns how often a group goes again because of conflicts, plus 1: 1 is the best.
int passes(const WarpAccess& access) {
  const std::size_t lanes = access[0].bytes <= 4 ? 32 : 128 / access[0].bytes;
  std::size_t most = 1;
  for (std::size_t first = 0; first < access.size(); first += lanes) {
    std::array<std::set<std::uint64_t>, 32> words;
    for (std::size_t i = first; i < std::min(first + lanes, access.size()); ++i)
      for (unsigned byte = 0; byte < access[i].bytes; ++byte) {
        const std::uint64_t word = (reinterpret_cast<std::uint64_t>(access[i].address) + byte) / 4;
        words[word % 32].insert(word);
      }
    for (const auto& bank : words) most = std::max(most, bank.size());
  }
  return static_cast<int>(most);
}

struct Expected {
  std::set<int> sectors;     ///< that accesses to global memory touch
  std::size_t global_count;  ///< how many of them there are
  std::size_t shared_count;  ///< and of accesses to shared memory
  int passes = 1;            ///< that the worst of them takes
  std::size_t lanes = 32;    ///< that take part in each
};

void expect_accesses(NvrtcBatch& batch, const std::vector<Expected>& expected) {
  const auto recorded = batch.record();
  ASSERT_EQ(recorded.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    std::set<int> found;
    std::size_t global_count = 0, shared_count = 0;
    int most_passes = expected[i].shared_count == 0 ? 1 : 0;
    for (const WarpAccess& access : by_warp(recorded[i])) {
      EXPECT_EQ(access.size(), expected[i].lanes);
      const bool is_global = batch.is_global(i, access[0].address);
      ++(is_global ? global_count : shared_count);
      if (is_global)
        found.insert(sectors(access));
      else
        most_passes = std::max(most_passes, passes(access));
    }
    EXPECT_EQ(most_passes, expected[i].passes);
    EXPECT_EQ(found, expected[i].sectors);
    EXPECT_EQ(global_count, expected[i].global_count);
    EXPECT_EQ(shared_count, expected[i].shared_count);
  }
}

std::int64_t size_of(DType dtype) { return static_cast<std::int64_t>(itemsize_bytes(dtype)); }

TEST(NvrtcMemory, VectorsOf16BytesTouchWholeSectors) {
  NvrtcBatch batch;
  std::vector<Expected> expected;
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    // As much as a block has on the way at once.
    const ir::Kernel kernel = cuda_kernel(Op::maximum, dtype);
    const std::int64_t size = size_of(dtype);
    const int unroll =
        nvrtc::vectors_in_flight(nvrtc::prepare(kernel).kernel, static_cast<int>(16 / size));
    batch.add(kernel, {256 * unroll * 16 / size}, {{size}, {size}, {size}});
    // 32 lanes of 16 bytes are 16 sectors; 8 warps, two loads and a store.
    expected.push_back({{16}, static_cast<std::size_t>(8 * 3 * unroll), 0});
  }
  // Of u8 to f32: 4 bytes a lane to 16.
  batch.add(cuda_copy(DType::u8, DType::f32, {1}, {1}), {256 * 4}, {{4}, {1}});
  expected.push_back({{4, 16}, 8 * 2, 0});
  // Every second f32 to every one: four loads of 32 bytes apart for a store of 16 bytes a lane.
  batch.add(cuda_copy(DType::f32, DType::f32, {2}, {1}), {256 * 4 * 4}, {{4}, {8}});
  expected.push_back({{32, 16}, 8 * 4 * 5, 0});
  // One element a row for all: one sector.
  batch.add(cuda_copy(DType::f32, DType::f32, {any, 0}, {any, 1}), {1, 1024}, {{4096, 4}, {4, 0}});
  expected.push_back({{1, 16}, 8 * 2, 0});
  expect_accesses(batch, expected);
}

TEST(NvrtcMemory, TilesHaveNoBankConflicts) {
  NvrtcBatch batch;
  std::vector<Expected> expected;
  struct Row {
    DType dtype;
    std::int64_t rows, columns;  ///< of one tile
    int lane_bytes;
  };
  for (const Row& row : {Row{DType::u8, 256, 128, 8},
                         {DType::u16, 128, 128, 16},
                         {DType::u32, 64, 64, 16},
                         {DType::u64, 32, 32, 16},
                         {DType::c128, 32, 16, 16}}) {
    const std::vector<std::int64_t> extents{row.rows, row.columns};
    const auto straight = dense_strides(extents, {0, 1}, row.dtype);
    const auto turned = dense_strides(extents, {1, 0}, row.dtype);
    const std::int64_t bytes = row.rows * row.columns * size_of(row.dtype);
    const auto accesses = static_cast<std::size_t>(bytes / (32 * row.lane_bytes));
    const std::set<int> sectors{row.lane_bytes};  // 32 lanes of so many bytes
    batch.add(cuda_copy(row.dtype, row.dtype, {1, any}, {any, 1}), extents, {straight, turned});
    expected.push_back({sectors, 2 * accesses, 2 * accesses});
    batch.add(cuda_copy(row.dtype, row.dtype, {any, 1}, {1, any}), extents, {turned, straight});
    expected.push_back({sectors, 2 * accesses, 2 * accesses});
  }
  // One item a lane where bases are not aligned: 32 bytes over two sectors.
  const std::vector<std::int64_t> extents{32, 32};
  batch.add(cuda_copy(DType::u8, DType::u8, {1, any}, {any, 1}), extents,
            {dense_strides(extents, {0, 1}, DType::u8), dense_strides(extents, {1, 0}, DType::u8)},
            {}, 1);
  expected.push_back({{2}, 64, 64});
  // Fused with a cast, both sides move four items a lane: runs of 64 bytes, and of 256.  Words of
  // four bytes from two columns at a time meet in some banks.
  const std::vector<std::int64_t> wide{64, 64};
  batch.add(cuda_copy(DType::u8, DType::f32, {1, any}, {any, 1}), wide,
            {dense_strides(wide, {0, 1}, DType::f32), dense_strides(wide, {1, 0}, DType::u8)});
  expected.push_back({.sectors = {4, 16}, .global_count = 64, .shared_count = 64, .passes = 2});
  // The channels of an image: 8 groups of 8 bytes are a column, and 512 columns fill the block.
  const std::vector<std::int64_t> image{64, 512};
  batch.add(cuda_copy(DType::u8, DType::u8, {1, any}, {any, 1}), image,
            {dense_strides(image, {0, 1}, DType::u8), dense_strides(image, {1, 0}, DType::u8)});
  expected.push_back({.sectors = {8}, .global_count = 256, .shared_count = 256, .passes = 2});
  expect_accesses(batch, expected);
}

TEST(NvrtcMemory, TheModelSeesConflicts) {
  alignas(128) static std::array<std::uint32_t, 33 * 32> words;
  WarpAccess column, padded;
  for (unsigned lane = 0; lane < 32; ++lane) {
    column.push_back({lane, &words[lane * 32], 4});
    padded.push_back({lane, &words[lane * 33], 4});
  }
  EXPECT_EQ(passes(column), 32);
  EXPECT_EQ(passes(padded), 1);
  EXPECT_EQ(sectors(column), 32);
}

}  // namespace
}  // namespace weft::jit::test
