// Memory and copies of the stand-in for libcuda.
#include "tests/cuda/fake_gpu_state.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fake {
namespace {

CUdeviceptr allocate(Device& device, std::size_t bytes) {
  std::size_t live = 0;
  CUdeviceptr at = reinterpret_cast<CUdeviceptr>(device.arena);
  const CUdeviceptr end = at + arena_bytes;
  CUdeviceptr found = 0;
  for (const auto& [address, size] : device.blocks) {
    live += size;
    if (found == 0 && address - at >= bytes + 512) found = at;
    at = (address + size + 511) / 256 * 256;  // a gap of at least 256 bytes
  }
  if (found == 0 && end - at >= bytes) found = at;
  if (found == 0 || live + bytes > state().memory_bytes) return 0;
  device.blocks[found] = bytes;
  const Unlock unlock;
  std::memset(reinterpret_cast<void*>(found), 0xa5, bytes);
  return found;
}

bool is_pinned(const void* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  auto block = state().pinned.upper_bound(begin);
  if (block == state().pinned.begin()) return false;
  --block;
  return begin + bytes <= block->first + block->second;
}

}  // namespace
}  // namespace fake

using namespace fake;

extern "C" {

int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  ENTER_CONTEXT(cuMemGetInfo_v2);
  std::size_t live = 0;
  for (const auto& block : state().devices[static_cast<std::size_t>(current_device())].blocks)
    live += block.second;
  *total_bytes = state().memory_bytes;
  *free_bytes = state().memory_bytes - std::min(live, state().memory_bytes);
  return 0;
}
int cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  ENTER_CONTEXT(cuMemAlloc_v2);
  *address = allocate(state().devices[static_cast<std::size_t>(current_device())], bytes);
  return *address == 0 ? 2 : 0;
}
int cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream handle) {
  ENTER_CONTEXT(cuMemAllocAsync);
  if (!state().has_pools) return 801;
  *address = allocate(*stream_of(handle).device, bytes);
  return *address == 0 ? 2 : 0;
}
int cuMemFree_v2(CUdeviceptr address) {
  ENTER_CONTEXT(cuMemFree_v2);
  Device* device = device_of(address);
  if (device == nullptr || device->blocks.erase(address) == 0) return 1;
  return 0;
}
int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  ENTER_CONTEXT(cuMemHostAlloc);
  *address = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  state().pinned[reinterpret_cast<std::uintptr_t>(*address)] = bytes;
  return 0;
}
int cuMemFreeHost(void* address) {
  ENTER_CONTEXT(cuMemFreeHost);
  if (state().pinned.erase(reinterpret_cast<std::uintptr_t>(address)) == 0) return 1;
  std::free(address);
  return 0;
}
int cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  ENTER_CONTEXT(cuPointerGetAttribute);
  const Device* device = device_of(address);
  const bool is_host = is_pinned(reinterpret_cast<const void*>(address), 1);
  if (device == nullptr && !is_host) return 1;
  if (attribute != 2 && attribute != 9) return 1;
  *static_cast<int*>(value) = attribute == 9 ? static_cast<int>(device - state().devices.data())
                              : is_host      ? 1
                                             : 2;
  return 0;
}

int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream handle) {
  ENTER_CONTEXT(cuMemcpyHtoDAsync_v2);
  if (!is_live(to, bytes) || device_of(reinterpret_cast<CUdeviceptr>(from)) != nullptr) return 1;
  if (is_pinned(from, bytes)) {
    enqueue(
        handle, [=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); }, "HtoD", bytes);
    return 0;
  }
  if (stream_of(handle).is_capturing) return 900;
  const auto* const begin = static_cast<const char*>(from);
  std::vector<char> staged(begin, begin + bytes);
  enqueue(
      handle,
      [to, bytes, staged = std::move(staged)] {
        std::memcpy(reinterpret_cast<void*>(to), staged.data(), bytes);
      },
      "HtoD", bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream handle) {
  ENTER_CONTEXT(cuMemcpyDtoHAsync_v2);
  if (!is_live(from, bytes) || device_of(reinterpret_cast<CUdeviceptr>(to)) != nullptr) return 1;
  if (!is_pinned(to, bytes) && stream_of(handle).is_capturing) return 900;
  enqueue(
      handle, [=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); }, "DtoH", bytes);
  if (!is_pinned(to, bytes)) run_all(stream_of(handle));
  return state().sticky;
}
int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream handle) {
  ENTER_CONTEXT(cuMemcpyDtoDAsync_v2);
  if (!is_live(to, bytes) || !is_live(from, bytes)) return 1;
  enqueue(
      handle,
      [=] {
        std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
      },
      "DtoD", bytes);
  return 0;
}
int cuMemcpyPeerAsync(CUdeviceptr to, std::uintptr_t, CUdeviceptr from, std::uintptr_t,
                      std::size_t bytes, CUstream handle) {
  ENTER_CONTEXT(cuMemcpyPeerAsync);
  if (!is_live(to, bytes) || !is_live(from, bytes)) return 1;
  enqueue(
      handle,
      [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes); },
      "peer", bytes);
  return 0;
}
int cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream handle) {
  ENTER_CONTEXT(cuMemsetD8Async);
  if (!is_live(to, count)) return 1;
  enqueue(
      handle, [=] { std::memset(reinterpret_cast<void*>(to), value, count); }, "set", count);
  return 0;
}
int cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream handle) {
  ENTER_CONTEXT(cuMemsetD16Async);
  if (!is_live(to, 2 * count) || to % 2 != 0) return 1;
  enqueue(
      handle, [=] { std::fill_n(reinterpret_cast<unsigned short*>(to), count, value); }, "set",
      2 * count);
  return 0;
}
int cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream handle) {
  ENTER_CONTEXT(cuMemsetD32Async);
  if (!is_live(to, 4 * count) || to % 4 != 0) return 1;
  enqueue(
      handle, [=] { std::fill_n(reinterpret_cast<unsigned*>(to), count, value); }, "set",
      4 * count);
  return 0;
}
int cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height, CUstream handle) {
  ENTER_CONTEXT(cuMemsetD2D32Async);
  if (!is_live(to, pitch * (height - 1) + 4 * width) || to % 4 != 0 || pitch % 4 != 0) return 1;
  enqueue(
      handle,
      [=] {
        for (std::size_t row = 0; row < height; ++row)
          std::fill_n(reinterpret_cast<unsigned*>(to + row * pitch), width, value);
      },
      "set", 4 * width * height);
  return 0;
}

}  // extern "C"
