#include "runtime/cuda_memory.h"

#include "runtime/hash.h"
#include "runtime/log.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace weft {

namespace constant = cuda_driver_constant;

namespace {

/// What is asked of the driver for so many bytes: eight sizes a power of two.
std::size_t block_bytes(std::size_t size_bytes) {
  constexpr std::size_t least = 512;
  const std::size_t step = std::max(least, std::bit_floor(size_bytes) / 8);
  return std::max((size_bytes + step - 1) / step * step, least);
}

CudaAddress address_of(const void* pointer) { return reinterpret_cast<CudaAddress>(pointer); }

void return_to_driver(const CudaBlock& block) noexcept {
  const CudaDriver& driver = cuda_driver();
  for (const CudaBlock::Use& use : block.uses) {
    driver.EventSynchronize(use.event);
    driver.EventDestroy(use.event);
  }
  if (block.is_host)
    driver.MemFreeHost(reinterpret_cast<void*>(block.address));
  else
    driver.MemFree(block.address);
}

/// The first block of a list that has one.
std::unique_ptr<CudaBlock> take_first(CudaBlockList& list) {
  std::unique_ptr<CudaBlock> block = std::move(list);
  list = std::move(block->next);
  return block;
}

void put_first(CudaBlockList& list, std::unique_ptr<CudaBlock> block) {
  block->next = std::move(list);
  list = std::move(block);
}

}  // namespace

std::size_t CudaMemory::KeyHash::operator()(const Key& key) const {
  PairHasher hasher;
  hasher.add(reinterpret_cast<std::uintptr_t>(key.stream.stream), key.stream.thread);
  hasher.add(key.size_bytes, key.is_host);
  return hasher.hash();
}

void CudaBlockReturn::operator()(CudaBlock* block) const noexcept {
  CudaDevice::get(block->device).memory().take_back(std::unique_ptr<CudaBlock>(block));
}

void CudaMemory::take_back(std::unique_ptr<CudaBlock> block) noexcept {
  const std::lock_guard lock(mutex_);
  if (!block->is_host) stats_.live_bytes -= block->size_bytes;
  shelve(std::move(block));
}

/// Requires: the lock.
void CudaMemory::shelve(std::unique_ptr<CudaBlock> block) noexcept {
  if (!block->is_host) stats_.retained_bytes += block->size_bytes;
  CudaShelf& shelf = *block->shelf;
  put_first(shelf.idle, std::move(block));
}

bool CudaMemory::are_done(const CudaBlock& block) const {
  return std::ranges::all_of(block.uses, [](const CudaBlock::Use& use) {
    return cuda_driver().EventQuery(use.event) == constant::success;
  });
}

void CudaMemory::drop_uses(CudaBlock& block) noexcept {
  for (const CudaBlock::Use& use : block.uses) {
    if (use.device == device_.index()) {
      try {
        spare_events_.push_back(use.event);
        continue;
      } catch (const std::bad_alloc&) {  // the next one is made anew
      }
    }
    cuda_driver().EventDestroy(use.event);
  }
  block.uses.clear();
}

std::unique_ptr<CudaBlock> CudaMemory::take_idle(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = shelves_.find(key);
  if (found == shelves_.end()) return nullptr;
  for (CudaBlockList* place = &found->second.idle; *place != nullptr; place = &(*place)->next) {
    // The host can't be made to wait in a stream, so that only what is done serves again.
    if (key.is_host && !are_done(**place)) continue;
    if (!key.is_host) {
      for (const CudaBlock::Use& use : (*place)->uses)
        WEFT_CUDA_CALL(StreamWaitEvent, (key.stream.stream, use.event, 0),
                       "cuda:", device_.index());
    }
    // Nothing throws from here on.
    std::unique_ptr<CudaBlock> block = std::move(*place);
    *place = std::move(block->next);
    if (!key.is_host) {
      stats_.retained_bytes -= block->size_bytes;
      stats_.live_bytes += block->size_bytes;
      ++stats_.num_reused;
      ++stats_.num_allocations;
    }
    drop_uses(*block);
    return block;
  }
  return nullptr;
}

CudaAddress CudaMemory::ask_driver(std::size_t size_bytes, std::size_t asked_bytes, bool is_host) {
  const CudaDriver& driver = cuda_driver();
  CudaAddress address = 0;
  const auto ask = [&]() -> CudaResult {
    if (is_host) {
      void* pointer = nullptr;
      const CudaResult result =
          driver.MemHostAlloc(&pointer, size_bytes, constant::host_alloc_portable);
      address = address_of(pointer);
      return result;
    }
    return device_.info().has_memory_pools
               ? driver.MemAllocAsync(&address, size_bytes, device_.stream())
               : driver.MemAlloc(&address, size_bytes);
  };
  CudaResult result = ask();
  if (result == constant::error_out_of_memory) {
    trim();
    result = ask();
  }
  if (result != constant::success) throw_out_of_memory(result, asked_bytes, is_host);
  return address;
}

void CudaMemory::throw_out_of_memory(CudaResult result, std::size_t size_bytes, bool is_host) {
  const CudaDriver& driver = cuda_driver();
  const char* const function = is_host                           ? "cuMemHostAlloc"
                               : device_.info().has_memory_pools ? "cuMemAllocAsync"
                                                                 : "cuMemAlloc";
  std::size_t free_bytes = 0, total_bytes = 0;
  driver.MemGetInfo(&free_bytes, &total_bytes);
  const std::string where = is_host ? "pinned memory" : detail::concat("cuda:", device_.index());
  detail::throw_cuda_error(result, function,
                           detail::concat("cannot allocate ", size_bytes, " bytes of ", where,
                                          ", of whose ", total_bytes, " bytes ", free_bytes,
                                          " are free and tensors hold ", stats().live_bytes));
}

CudaBlockHandle CudaMemory::allocate(std::size_t size_bytes) {
  device_.check_not_capturing(
      "allocating memory: give the outputs, and run the call once before the capture");
  const CudaStreamKey stream = device_.stream_key();
  const std::size_t rounded = block_bytes(size_bytes);
  const Key key{stream, rounded, false};
  if (std::unique_ptr<CudaBlock> idle = take_idle(key)) return CudaBlockHandle(idle.release());
  return allocate_new(key, size_bytes);
}

CudaBlockHandle CudaMemory::allocate_new(const Key& key, std::size_t asked_bytes) {
  auto block = std::make_unique<CudaBlock>();
  block->address = ask_driver(key.size_bytes, asked_bytes, key.is_host);
  block->size_bytes = key.size_bytes;
  block->device = device_.index();
  block->is_host = key.is_host;
  block->home = key.stream;
  try {
    enter(*block, key);
  } catch (...) {
    return_to_driver(*block);
    throw;
  }
  return CudaBlockHandle(block.release());
}

void CudaMemory::enter(CudaBlock& block, const Key& key) {
  const std::lock_guard lock(mutex_);
  CudaShelf& shelf = shelves_[key];
  if (!block.is_host) {
    blocks_.emplace(block.address, &block);
    if (!has_first_stream_.load(std::memory_order_relaxed)) {
      first_stream_ = block.home;
      has_first_stream_.store(true, std::memory_order_release);
    } else if (block.home != first_stream_) {
      has_streams_.store(true, std::memory_order_relaxed);
    }
    ++stats_.num_allocations;
    stats_.live_bytes += block.size_bytes;
  }
  ++shelf.num_blocks;
  block.shelf = &shelf;
}

void CudaMemory::find_and_note_use(const void* address) {
  CudaBlock* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto after = blocks_.upper_bound(address_of(address));
    if (after == blocks_.begin()) return;
    block = std::prev(after)->second;
    // Borrowed memory lies in no block, and this one may be gone when the lock is.
    if (address_of(address) >= block->address + block->size_bytes) return;
  }
  // The caller's tensor keeps it alive.
  note_use(*block);
}

CudaBlockHandle CudaMemory::allocate_host(std::size_t size_bytes) {
  const Key key{{}, block_bytes(size_bytes), true};
  if (std::unique_ptr<CudaBlock> idle = take_idle(key)) return CudaBlockHandle(idle.release());
  device_.check_not_capturing("allocating pinned memory");
  return allocate_new(key, size_bytes);
}

void CudaMemory::note_use(CudaBlock& block) {
  const CudaStreamKey stream = device_.stream_key();
  if (!block.is_host && block.device == device_.index() && stream == block.home) return;
  // What a graph uses has to live as long as the graph; that is its owner's affair.
  if (device_.is_capturing()) return;
  CudaMemory& owner = CudaDevice::get(block.device).memory();
  const std::lock_guard lock(owner.mutex_);
  const auto is_same = [&](const CudaBlock::Use& use) {
    return use.device == device_.index() && use.stream == stream;
  };
  auto use = std::ranges::find_if(block.uses, is_same);
  if (use == block.uses.end()) {
    block.uses.reserve(block.uses.size() + 1);  // an event must not be lost for want of a place
    CudaEvent event = nullptr;
    if (block.device == device_.index() && !spare_events_.empty()) {
      event = spare_events_.back();
      spare_events_.pop_back();
    } else {
      WEFT_CUDA_CALL(EventCreate, (&event, constant::event_disable_timing),
                     "cuda:", device_.index());
    }
    use = block.uses.insert(block.uses.end(), {device_.index(), stream, event});
  }
  WEFT_CUDA_CALL(EventRecord, (use->event, stream.stream), "cuda:", device_.index());
}

CudaBlockList CudaMemory::take_all_idle() {
  CudaBlockList all;
  const std::lock_guard lock(mutex_);
  for (auto& [key, shelf] : shelves_)
    while (shelf.idle != nullptr) put_first(all, take_first(shelf.idle));
  stats_.retained_bytes = 0;
  return all;
}

void CudaMemory::forget(const CudaBlockList& blocks) {
  const std::lock_guard lock(mutex_);
  for (const CudaBlock* block = blocks.get(); block != nullptr; block = block->next.get()) {
    if (!block->is_host) blocks_.erase(block->address);
    --block->shelf->num_blocks;
  }
  std::erase_if(shelves_, [](const auto& entry) { return entry.second.num_blocks == 0; });
}

void CudaMemory::trim() {
  CudaBlockList blocks = take_all_idle();
  if (blocks == nullptr) return;
  try {
    log(LogTopic::memory, "cuda:", device_.index(), ": returns idle blocks");
    // Freeing waits for nothing by itself where the memory came from cuMemAllocAsync.
    WEFT_CUDA_CALL(CtxSynchronize, (), "cuda:", device_.index());
  } catch (...) {
    const std::lock_guard lock(mutex_);
    while (blocks != nullptr) shelve(take_first(blocks));
    throw;
  }
  // First: the driver may give an address that it got back to another thread at once.
  forget(blocks);
  while (blocks != nullptr) return_to_driver(*take_first(blocks));
}

cuda::MemoryStats CudaMemory::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

namespace {

/// The event goes with this.
class OneEvent {
 public:
  explicit OneEvent(int device) : device_(device) {
    WEFT_CUDA_CALL(EventCreate, (&event_, constant::event_disable_timing), "cuda:", device);
  }
  ~OneEvent() { cuda_driver().EventDestroy(event_); }
  OneEvent(const OneEvent&) = delete;
  OneEvent& operator=(const OneEvent&) = delete;

  /// What `later` is given waits for what `earlier` has been given.
  void order(CudaStream earlier, CudaStream later) const {
    WEFT_CUDA_CALL(EventRecord, (event_, earlier), "cuda:", device_);
    WEFT_CUDA_CALL(StreamWaitEvent, (later, event_, 0), "cuda:", device_);
  }

 private:
  int device_;
  CudaEvent event_ = nullptr;
};

void copy_between(std::byte* to, CudaDevice& to_device, const std::byte* from,
                  CudaDevice& from_device, std::size_t size_bytes) {
  CudaStream from_stream = nullptr, to_stream = nullptr;
  {
    const CudaCurrent current(to_device);
    to_stream = to_device.stream();
    const OneEvent writable(to_device.index());
    {
      const CudaCurrent inner(from_device);
      from_stream = from_device.stream();
    }
    writable.order(to_stream, from_stream);
  }
  const CudaCurrent current(from_device);
  WEFT_CUDA_CALL(MemcpyPeerAsync,
                 (address_of(to), to_device.context(), address_of(from), from_device.context(),
                  size_bytes, from_stream),
                 "copying ", size_bytes, " bytes from cuda:", from_device.index(),
                 " to cuda:", to_device.index());
  const OneEvent written(from_device.index());
  written.order(from_stream, to_stream);
}

}  // namespace

void copy_bytes(std::byte* to, Device to_device, const std::byte* from, Device from_device,
                std::size_t size_bytes) {
  if (size_bytes == 0) return;
  const bool is_to_cuda = to_device.type == DeviceType::cuda;
  const bool is_from_cuda = from_device.type == DeviceType::cuda;
  WEFT_ASSERT(is_to_cuda || is_from_cuda, "a copy without a device");
  if (is_to_cuda && is_from_cuda && to_device != from_device)
    return copy_between(to, CudaDevice::get(to_device.index), from,
                        CudaDevice::get(from_device.index), size_bytes);
  CudaDevice& device = CudaDevice::get(is_to_cuda ? to_device.index : from_device.index);
  const CudaCurrent current(device);
  const CudaStream stream = device.stream();
  const auto what = [&] {
    return detail::concat("copying ", size_bytes, " bytes from ", text(from_device), " to ",
                          text(to_device));
  };
  if (!is_from_cuda)
    WEFT_CUDA_CALL(MemcpyHtoDAsync, (address_of(to), from, size_bytes, stream), what());
  else if (!is_to_cuda)
    WEFT_CUDA_CALL(MemcpyDtoHAsync, (to, address_of(from), size_bytes, stream), what());
  else
    WEFT_CUDA_CALL(MemcpyDtoDAsync, (address_of(to), address_of(from), size_bytes, stream), what());
}

void fill_bytes(std::byte* to, Device device, const void* item, std::size_t item_bytes,
                std::size_t count) {
  if (count == 0) return;
  CudaDevice& used = CudaDevice::get(device.index);
  const CudaCurrent current(used);
  const CudaStream stream = used.stream();
  const CudaAddress address = address_of(to);
  if (item_bytes == 1) {
    std::uint8_t value = 0;
    std::memcpy(&value, item, sizeof value);
    WEFT_CUDA_CALL(MemsetD8Async, (address, value, count, stream), text(device));
  } else if (item_bytes == 2) {
    std::uint16_t value = 0;
    std::memcpy(&value, item, sizeof value);
    WEFT_CUDA_CALL(MemsetD16Async, (address, value, count, stream), text(device));
  } else {
    // Word by word of the item, each a column whose rows are the items.
    const std::size_t num_words = item_bytes / 4;
    for (std::size_t i = 0; i < num_words; ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, static_cast<const std::byte*>(item) + 4 * i, sizeof value);
      if (num_words == 1)
        WEFT_CUDA_CALL(MemsetD32Async, (address, value, count, stream), text(device));
      else
        WEFT_CUDA_CALL(MemsetD2D32Async, (address + 4 * i, item_bytes, value, 1, count, stream),
                       text(device));
    }
  }
}

std::optional<int> device_of_address(const std::byte* address, Device near) {
  const CudaCurrent current(CudaDevice::get(near.index));
  int type = 0, device = 0;
  const auto ask = [&](int attribute, int& value) {
    return cuda_driver().PointerGetAttribute(&value, attribute, address_of(address)) ==
           constant::success;
  };
  if (!ask(constant::pointer_attribute_memory_type, type) || type != constant::memory_type_device)
    return {};
  if (!ask(constant::pointer_attribute_device_ordinal, device)) return {};
  return device;
}

bool is_pinned_address(const std::byte* address, Device device) {
  const CudaCurrent current(CudaDevice::get(device.index));
  int type = 0;
  const CudaResult result = cuda_driver().PointerGetAttribute(
      &type, constant::pointer_attribute_memory_type, address_of(address));
  return result == constant::success && type == constant::memory_type_host;
}

namespace cuda {

MemoryStats memory_stats(int device) { return CudaDevice::get(device).memory().stats(); }

void trim(int device) {
  CudaDevice& used = CudaDevice::get(device);
  const CudaCurrent current(used);
  used.check_not_capturing("returning memory");
  used.memory().trim();
}

}  // namespace cuda
}  // namespace weft
