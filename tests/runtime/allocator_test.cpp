// The pool: alignment, reuse, bounds, counters, threads, running out.
#include "runtime/allocator.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weft {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

TEST(Allocator, BlocksAreAlignedAndAtLeastAsLargeAsAskedFor) {
  for (std::size_t size_bytes :
       {0ul, 1ul, 64ul, 65ul, 1000ul, 4096ul, 65536ul, 65537ul, mib - 1, mib, 3 * mib, 17 * mib}) {
    std::byte* block = allocate_bytes(size_bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_aligned(block, allocation_alignment)) << size_bytes;
    if (size_bytes >= mib) {
      EXPECT_TRUE(is_aligned(block, 2 * mib)) << size_bytes;
    }
    EXPECT_GE(usable_bytes(size_bytes), size_bytes);
    EXPECT_LE(usable_bytes(size_bytes), size_bytes * 5 / 4 + (size_bytes < mib ? 64 : 2 * mib));
    std::memset(block, 0xab, usable_bytes(size_bytes));
    free_bytes(block, size_bytes);
  }
}

TEST(Allocator, FreedBlocksServeTheNextCall) {
  for (std::size_t size_bytes : {8ul, 50000ul, 300000ul, 5 * mib}) {
    std::byte* first = allocate_bytes(size_bytes);
    free_bytes(first, size_bytes);
    const AllocatorStats before = allocator_stats();
    std::byte* second = allocate_bytes(size_bytes);
    const AllocatorStats after = allocator_stats();
    EXPECT_EQ(first, second) << size_bytes;
    EXPECT_EQ(after.num_allocations, before.num_allocations + 1);
    EXPECT_EQ(after.num_reused, before.num_reused + 1);
    EXPECT_EQ(after.live_bytes, before.live_bytes + usable_bytes(size_bytes));
    EXPECT_EQ(after.retained_bytes, before.retained_bytes - usable_bytes(size_bytes));
    free_bytes(second, size_bytes);
    EXPECT_EQ(allocator_stats().live_bytes, before.live_bytes);
  }
}

TEST(Allocator, TrimGivesEverythingBack) {
  for (std::size_t size_bytes : {64ul, 100000ul, 2 * mib})
    free_bytes(allocate_bytes(size_bytes), size_bytes);
  EXPECT_GT(allocator_stats().retained_bytes, 0u);
  trim();
  EXPECT_EQ(allocator_stats().retained_bytes, 0u);
}

TEST(Allocator, RetainsNoMoreThanTheLimit) {
  trim();
  set_retained_limit_bytes(8 * mib);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(allocate_bytes(2 * mib));
  for (std::byte* block : blocks) {
    free_bytes(block, 2 * mib);
    EXPECT_LE(allocator_stats().retained_bytes, 8 * mib);
  }
  EXPECT_EQ(allocator_stats().retained_bytes, 8 * mib);
  // Another size makes room for itself; one above the limit is not kept at all.
  free_bytes(allocate_bytes(6 * mib), 6 * mib);
  EXPECT_EQ(allocator_stats().retained_bytes, 8 * mib);
  free_bytes(allocate_bytes(10 * mib), 10 * mib);
  EXPECT_EQ(allocator_stats().retained_bytes, 8 * mib);
  set_retained_limit_bytes(mib);
  EXPECT_EQ(allocator_stats().retained_bytes, 0u);
  set_retained_limit_bytes(256 * mib);
}

TEST(Allocator, RunningOutNamesTheBytes) {
  for (std::size_t size_bytes : {std::size_t{1} << 55, SIZE_MAX, SIZE_MAX - 63}) {
    try {
      allocate_bytes(size_bytes);
      FAIL() << "no error for " << size_bytes;
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.what(),
                "Out of memory: cannot allocate " + std::to_string(size_bytes) + " bytes.");
    }
  }
}

/// Fills blocks with a byte of their own and checks it before freeing them: overlapping blocks
/// show.
void exercise(unsigned seed) {
  struct Block {
    std::byte* data;
    std::size_t size_bytes;
    std::byte mark;
  };
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (int i = 0; i < 3000; ++i) {
    if (blocks.size() < 40 && random() % 2 == 0) {
      const std::size_t size_bytes = 1 + random() % (random() % 8 == 0 ? 200000 : 2000);
      Block block{allocate_bytes(size_bytes), size_bytes, static_cast<std::byte>(random())};
      std::memset(block.data, static_cast<int>(block.mark), size_bytes);
      blocks.push_back(block);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      const Block block = blocks.back();
      blocks.pop_back();
      for (std::size_t k = 0; k < block.size_bytes; ++k)
        ASSERT_EQ(static_cast<int>(block.data[k]), static_cast<int>(block.mark));
      free_bytes(block.data, block.size_bytes);
    }
  }
  for (const Block& block : blocks) free_bytes(block.data, block.size_bytes);
}

TEST(Allocator, ThreadsGetBlocksOfTheirOwn) {
  const std::size_t live_before = allocator_stats().live_bytes;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(exercise, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator_stats().live_bytes, live_before);
  trim();  // caches of ended threads have gone to the shared lists
  EXPECT_EQ(allocator_stats().retained_bytes, 0u);
}

TEST(Allocator, BlocksMayBeFreedByAnotherThread) {
  const std::size_t live_before = allocator_stats().live_bytes;
  std::vector<std::byte*> blocks;
  std::thread([&] {
    for (int i = 0; i < 200; ++i) blocks.push_back(allocate_bytes(256));
  }).join();
  EXPECT_EQ(allocator_stats().live_bytes, live_before + 200 * 256);
  for (std::byte* block : blocks) free_bytes(block, 256);
  EXPECT_EQ(allocator_stats().live_bytes, live_before);
}

/// Frees when its thread's objects are destroyed, after the thread's cache may have been.
struct FreesLate {
  std::byte* block = nullptr;
  ~FreesLate() {
    if (block != nullptr) free_bytes(block, 128);
    free_bytes(allocate_bytes(128), 128);
  }
};

TEST(Allocator, WorksWhileAThreadEnds) {
  const std::size_t live_before = allocator_stats().live_bytes;
  std::thread([] {
    thread_local FreesLate late;  // made before the cache, destroyed after it
    late.block = allocate_bytes(128);
  }).join();
  EXPECT_EQ(allocator_stats().live_bytes, live_before);
}

}  // namespace
}  // namespace weft
