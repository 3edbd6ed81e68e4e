// Devices, streams, events, memory and copies of bytes on the stand-in for a GPU.
#include "runtime/cuda_memory.h"
#include "tests/cuda/fake_gpu_test.h"
#include "tests/matchers.h"

#include <weft/cuda.h>
#include <weft/storage.h>

#include <cstring>
#include <thread>
#include <vector>

namespace weft {
namespace {

using matchers::AllOf;
using matchers::HasSubstr;
using test::fake_gpu;
using test::message_of;

constexpr Device gpu0{DeviceType::cuda, 0}, gpu1{DeviceType::cuda, 1}, cpu{};

class CudaRuntime : public test::OnFakeGpu {};

std::vector<std::byte> bytes_of(std::size_t count, int seed = 1) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
  return bytes;
}

std::vector<std::byte> read(const Storage& storage) {
  std::vector<std::byte> bytes(storage.size_bytes());
  copy_bytes(bytes.data(), cpu, storage.data(), storage.device(), bytes.size());
  return bytes;
}

TEST_F(CudaRuntime, SaysWhatDevicesThereAre) {
  EXPECT_EQ(cuda::num_devices(), 2);
  EXPECT_EQ(cuda::unavailable_reason(), "");
  const cuda::DeviceInfo info = cuda::device_info();
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.arch, "sm_90");
  EXPECT_EQ(info.num_multiprocessors, 4);
  EXPECT_THAT(message_of<ArgumentError>([] { cuda::device_info(2); }), HasSubstr("below 2"));
}

TEST_F(CudaRuntime, CarriesTheDriversTextWhereItDoesNotStart) {
  fake_gpu().fail("cuInit", 100, 0, 2);
  EXPECT_EQ(cuda::num_devices(), 0);
  EXPECT_THAT(cuda::unavailable_reason(),
              AllOf(HasSubstr("CUDA_ERROR_NO_DEVICE"), HasSubstr("nvidia-smi")));
  EXPECT_EQ(cuda::num_devices(), 2);  // asked again
}

TEST_F(CudaRuntime, MemoryOfAStreamServesItAgainWithoutTheDriver) {
  const std::byte* first = nullptr;
  {
    const auto storage = Storage::allocate(1000, gpu0);
    first = storage->data();
    EXPECT_EQ(storage->device(), gpu0);
  }
  const int asked = fake_gpu().count("cuMemAllocAsync");
  const auto again = Storage::allocate(900, gpu0);
  EXPECT_EQ(again->data(), first);
  EXPECT_EQ(fake_gpu().count("cuMemAllocAsync"), asked);
  const cuda::Stream other;
  const cuda::StreamGuard guard(other.handle());
  EXPECT_EQ(cuda::current_stream(), other.handle());
  const auto elsewhere = Storage::allocate(900, gpu0);
  EXPECT_EQ(fake_gpu().count("cuMemAllocAsync"), asked + 1);
  EXPECT_NE(elsewhere->data(), first);
}

TEST_F(CudaRuntime, AStreamWaitsForOthersThatUsedItsMemory) {
  const auto bytes = bytes_of(512);
  const std::byte* address = nullptr;
  const cuda::Stream reader;
  auto kept = Storage::allocate_pinned(512);
  {
    const auto storage = Storage::allocate(512, gpu0);
    address = storage->data();
    copy_bytes(storage->data(), gpu0, bytes.data(), cpu, 512);
    cuda::Event written;
    written.record();
    const cuda::StreamGuard guard(reader.handle());
    written.wait();
    copy_bytes(kept->data(), cpu, storage->data(), gpu0, 512);
    storage->note_use(gpu0);
    kept->note_use(gpu0);
  }
  const auto next = Storage::allocate(512, gpu0);
  EXPECT_EQ(next->data(), address);
  const std::byte other{0x5a};
  fill_bytes(next->data(), gpu0, &other, 1, 512);
  cuda::synchronize();  // runs the fill, which has to wait for the copy of the other stream
  EXPECT_EQ(std::memcmp(kept->data(), bytes.data(), 512), 0);
  EXPECT_EQ(read(*next), std::vector<std::byte>(512, other));
}

TEST_F(CudaRuntime, PinnedMemoryIsNotReusedWhileACopyIsOnItsWay) {
  const auto target = Storage::allocate(2048, gpu0);
  const std::byte* first = nullptr;
  const auto bytes = bytes_of(2048, 3);
  {
    const auto pinned = Storage::allocate_pinned(2048);
    EXPECT_TRUE(pinned->is_pinned());
    EXPECT_TRUE(is_pinned_address(pinned->data(), gpu0));
    EXPECT_FALSE(is_pinned_address(bytes.data(), gpu0));
    first = pinned->data();
    std::memcpy(pinned->data(), bytes.data(), 2048);
    copy_bytes(target->data(), gpu0, pinned->data(), cpu, 2048);
    pinned->note_use(gpu0);
  }
  EXPECT_GT(fake_gpu().pending(), 0);
  const auto next = Storage::allocate_pinned(2048);
  EXPECT_NE(next->data(), first);
  std::memset(next->data(), 0, 2048);
  EXPECT_EQ(read(*target), bytes);
  const auto reused = Storage::allocate_pinned(2048);
  EXPECT_EQ(reused->data(), first);
}

TEST_F(CudaRuntime, ThreadsHaveStreamsOfTheirOwnAndHandThemOn) {
  const cuda::StreamHandle mine = cuda::current_stream();
  cuda::StreamHandle first = nullptr, second = nullptr;
  std::thread([&] { first = cuda::current_stream(); }).join();
  std::thread([&] { second = cuda::current_stream(); }).join();
  EXPECT_NE(first, mine);
  EXPECT_EQ(first, second);
  EXPECT_EQ(cuda::current_stream(), mine);
}

TEST_F(CudaRuntime, CopiesBetweenDevicesInTheOrderOfBothStreams) {
  const auto bytes = bytes_of(300);
  const auto a = Storage::allocate(300, gpu0), b = Storage::allocate(300, gpu1);
  copy_bytes(a->data(), gpu0, bytes.data(), cpu, 300);
  const std::byte zero{0};
  fill_bytes(b->data(), gpu1, &zero, 1, 300);
  copy_bytes(b->data(), gpu1, a->data(), gpu0, 300);
  EXPECT_EQ(read(*b), bytes);
}

TEST_F(CudaRuntime, FillsItemsOfEverySize) {
  for (const std::size_t item_bytes : {1, 2, 4, 8, 16}) {
    const auto storage = Storage::allocate(16 * 5, gpu0);
    const auto item = bytes_of(item_bytes, 9);
    fill_bytes(storage->data(), gpu0, item.data(), item_bytes, 80 / item_bytes);
    const auto filled = read(*storage);
    for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(filled[i], item[i % item_bytes]) << item_bytes;
  }
}

TEST_F(CudaRuntime, StoragesGrowAndKeepTheirBytes) {
  const auto bytes = bytes_of(100);
  const auto storage = Storage::allocate(100, gpu0);
  copy_bytes(storage->data(), gpu0, bytes.data(), cpu, 100);
  storage->resize_bytes(5000);
  auto grown = read(*storage);
  grown.resize(100);
  EXPECT_EQ(grown, bytes);
}

TEST_F(CudaRuntime, OutOfMemoryReturnsWhatIsFreeAndAsksAgain) {
  cuda::trim();
  const std::size_t mib = std::size_t{1} << 20;
  { const auto large = Storage::allocate(100 * mib, gpu0); }
  EXPECT_GE(cuda::memory_stats().retained_bytes, 100 * mib);
  fake_gpu().set_memory(120 * mib);
  const auto other = Storage::allocate(60 * mib, gpu0);  // does not fit beside what is kept
  EXPECT_LT(cuda::memory_stats().retained_bytes, mib);
  const std::string message = message_of<DeviceError>([&] { Storage::allocate(500 * mib, gpu0); });
  EXPECT_THAT(message, AllOf(HasSubstr("524288000 bytes of cuda:0"), HasSubstr("out of memory"),
                             HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
}

TEST_F(CudaRuntime, WhatCannotBeReturnedStays) {
  cuda::trim();
  const int num_blocks = fake_gpu().live_blocks();
  const std::byte* first = nullptr;
  {
    const auto storage = Storage::allocate(3000, gpu0), pinned = Storage::allocate_pinned(3000);
    first = storage->data();
  }
  const std::size_t retained_bytes = cuda::memory_stats().retained_bytes;
  EXPECT_GE(retained_bytes, 3000u);
  fake_gpu().fail("cuCtxSynchronize", 719);
  EXPECT_THAT(message_of<DeviceError>([] { cuda::trim(); }), HasSubstr("cuCtxSynchronize"));
  EXPECT_EQ(cuda::memory_stats().retained_bytes, retained_bytes);
  EXPECT_EQ(fake_gpu().live_blocks(), num_blocks + 1);  // of the device
  EXPECT_EQ(Storage::allocate(3000, gpu0)->data(), first);
  cuda::trim();
  EXPECT_EQ(cuda::memory_stats().retained_bytes, 0u);
  EXPECT_EQ(fake_gpu().live_blocks(), num_blocks);
}

TEST_F(CudaRuntime, DevicesWithoutPoolsServeTheSame) {
  cuda::trim(1);
  fake_gpu().fail("cuMemAllocAsync", 2, 0, 1000);
  EXPECT_THAT(message_of<DeviceError>([] { Storage::allocate(64, gpu1); }), HasSubstr("cuda:1"));
}

TEST_F(CudaRuntime, AllocatesNothingDuringACapture) {
  const cuda::Stream stream;
  const cuda::StreamGuard guard(stream.handle());
  fake_gpu().capture(stream.handle(), 1);
  EXPECT_TRUE(cuda::is_capturing());
  EXPECT_THAT(message_of<UnsupportedError>([] { Storage::allocate(64, gpu0); }),
              AllOf(HasSubstr("a graph is being captured"), HasSubstr("give the outputs")));
  EXPECT_THAT(message_of<UnsupportedError>([] { cuda::synchronize(); }), HasSubstr("captured"));
  fake_gpu().capture(stream.handle(), 0);
  EXPECT_FALSE(cuda::is_capturing());
}

TEST_F(CudaRuntime, EventsAreDoneWhenTheirStreamIsThere) {
  const auto storage = Storage::allocate(64, gpu0);
  const std::byte one{1};
  fill_bytes(storage->data(), gpu0, &one, 1, 64);
  cuda::Event event(0, true), later(0, true);
  event.record();
  later.record();
  EXPECT_FALSE(event.is_done());
  later.synchronize();
  EXPECT_TRUE(event.is_done());
  EXPECT_GE(event.elapsed_ms(later), 0.0f);
}

TEST_F(CudaRuntime, ErrorsNameTheFunctionAndWhatItWasFor) {
  const auto storage = Storage::allocate(64, gpu0);
  const std::byte one{1};
  fake_gpu().fail("cuMemcpyHtoDAsync_v2", 719);
  const std::string message =
      message_of<DeviceError>([&] { copy_bytes(storage->data(), gpu0, &one, cpu, 1); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("copying 1 bytes from cpu to cuda:0"), HasSubstr("cuMemcpyHtoDAsync"),
                    HasSubstr("CUDA_ERROR_LAUNCH_FAILED"), HasSubstr("compute-sanitizer")));
}

}  // namespace
}  // namespace weft
