// Storages on CUDA devices and in pinned memory.
#include "runtime/cuda_memory.h"
#include "runtime/storage_moves.h"

#include <weft/error.h>
#include <weft/storage.h>

#include <cstring>
#include <utility>

namespace weft {
namespace {

std::byte* data_of(const CudaBlock& block) { return reinterpret_cast<std::byte*>(block.address); }

/// The device whose memory pinned memory is kept by; any can use it.
constexpr int pinning_device = 0;

}  // namespace

void Storage::CudaBlockReturn::operator()(CudaBlock* block) const noexcept {
  weft::CudaBlockReturn()(block);
}

std::shared_ptr<Storage> Storage::of_block(CudaBlock* block, std::size_t size_bytes,
                                           Device device) {
  std::unique_ptr<CudaBlock, CudaBlockReturn> owned(block);
  std::shared_ptr<Storage> storage(new Storage(data_of(*block), size_bytes, device, true, {}));
  storage->block_ = std::move(owned);
  return storage;
}

std::shared_ptr<Storage> Storage::allocate(std::size_t size_bytes, Device device) {
  switch (device.type) {
    case DeviceType::cpu: return allocate(size_bytes);
    case DeviceType::meta: return unbacked(size_bytes, device);
    case DeviceType::cuda: break;
  }
  CudaDevice& used = CudaDevice::get(device.index);
  const CudaCurrent current(used);
  return of_block(used.memory().allocate(size_bytes).release(), size_bytes, device);
}

std::shared_ptr<Storage> Storage::allocate_pinned(std::size_t size_bytes) {
  CudaDevice& used = CudaDevice::get(pinning_device);
  const CudaCurrent current(used);
  return of_block(used.memory().allocate_host(size_bytes).release(), size_bytes, Device{});
}

void Storage::note_block_use(Device device) {
  CudaDevice& used = CudaDevice::get(device.index);
  const CudaCurrent current(used);
  used.memory().note_use(*block_);
}

void Storage::resize_block(std::size_t size_bytes) {
  const bool is_host = device_.type == DeviceType::cpu;
  const std::shared_ptr<Storage> grown =
      is_host ? allocate_pinned(size_bytes) : allocate(size_bytes, device_);
  if (is_host) {
    std::memcpy(grown->data_, data_, size_bytes_);
  } else {
    copy_bytes(grown->data_, device_, data_, device_, size_bytes_);
    note_block_use(device_);
  }
  std::swap(block_, grown->block_);
  data_ = data_of(*block_);
  size_bytes_ = size_bytes;
  detail::num_storage_moves.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace weft
