// Storages: where bytes come from, growth, who lets go of them.
#include <weft/storage.h>

#include "runtime/allocator.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace weft {
namespace {

constexpr std::array<std::size_t, 6> sizes{0, 1, 100, 4096, 4097, 3000000};

TEST(Storage, AllocatesAlignedBytesAndReturnsThem) {
  const std::size_t live_before = allocator_stats().live_bytes;
  for (std::size_t size_bytes : sizes) {
    const auto storage = Storage::allocate(size_bytes);
    EXPECT_EQ(storage->size_bytes(), size_bytes);
    EXPECT_EQ(storage->device(), Device{});
    EXPECT_TRUE(storage->is_resizable());
    ASSERT_NE(storage->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(storage->data()) % 64, 0u) << size_bytes;
    std::memset(storage->data(), 0xcd, size_bytes);
    EXPECT_GT(allocator_stats().live_bytes, live_before);
  }
  EXPECT_EQ(allocator_stats().live_bytes, live_before);
}

TEST(Storage, SmallOnesAreOneBlock) {
  const auto warm = Storage::allocate(32);
  const std::uint64_t before = allocator_stats().num_allocations;
  const auto storage = Storage::allocate(32);
  EXPECT_EQ(allocator_stats().num_allocations, before + 1);
}

TEST(Storage, GrowthKeepsTheContents) {
  const std::size_t live_before = allocator_stats().live_bytes;
  for (std::size_t from : sizes) {
    for (std::size_t to : sizes) {
      const auto storage = Storage::allocate(from);
      for (std::size_t i = 0; i < from; ++i) storage->data()[i] = static_cast<std::byte>(i * 7);
      storage->resize_bytes(to);
      EXPECT_EQ(storage->size_bytes(), std::max(from, to));
      std::memset(storage->data() + from, 1, storage->size_bytes() - from);
      for (std::size_t i = 0; i < from; ++i)
        ASSERT_EQ(storage->data()[i], static_cast<std::byte>(i * 7));
      storage->resize_bytes(2 * storage->size_bytes());
      for (std::size_t i = 0; i < from; ++i)
        ASSERT_EQ(storage->data()[i], static_cast<std::byte>(i * 7));
    }
  }
  EXPECT_EQ(allocator_stats().live_bytes, live_before);
}

TEST(Storage, BorrowedMemoryIsReleasedOnceAndDoesNotGrow) {
  std::array<std::byte, 16> memory{};
  int num_releases = 0;
  void* released = nullptr;
  auto storage = Storage::borrow(memory.data(), memory.size(), [&](void* data) {
    released = data;
    ++num_releases;
  });
  EXPECT_EQ(storage->data(), memory.data());
  EXPECT_FALSE(storage->is_resizable());
  storage->resize_bytes(16);  // no growth, no error
  try {
    storage->resize_bytes(17);
    FAIL() << "no error";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(), "Trying to resize storage that is not resizable");
  }
  EXPECT_EQ(storage->size_bytes(), 16u);
  auto copy = storage;
  storage.reset();
  EXPECT_EQ(num_releases, 0);
  copy.reset();
  EXPECT_EQ(num_releases, 1);
  EXPECT_EQ(released, memory.data());
  EXPECT_NO_THROW(Storage::borrow(memory.data(), 16).reset());
}

TEST(Storage, UnbackedHasASizeOnly) {
  const Device meta{DeviceType::meta, 0};
  const auto storage = Storage::unbacked(std::size_t{1} << 60, meta);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_EQ(storage->size_bytes(), std::size_t{1} << 60);
  EXPECT_EQ(storage->device(), meta);
  storage->resize_bytes(std::size_t{1} << 61);
  EXPECT_EQ(storage->size_bytes(), std::size_t{1} << 61);
  EXPECT_EQ(storage->data(), nullptr);
}

TEST(Storage, FailedGrowthChangesNothing) {
  const auto storage = Storage::allocate(8);
  std::byte* before = storage->data();
  EXPECT_THROW(storage->resize_bytes(std::size_t{1} << 60), DeviceError);
  EXPECT_EQ(storage->size_bytes(), 8u);
  EXPECT_EQ(storage->data(), before);
  EXPECT_THROW(Storage::allocate(std::size_t{1} << 60), DeviceError);
}

}  // namespace
}  // namespace weft
