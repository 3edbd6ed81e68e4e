// Storages: a small one lies in one pooled block together with its reference counts.
#include <weft/storage.h>

#include "runtime/allocator.h"
#include "runtime/storage_moves.h"

#include <weft/error.h>

#include <cstring>
#include <new>
#include <utility>

namespace weft {

std::atomic<std::uint64_t> detail::num_storage_moves{0};

namespace {

/// Up to here the bytes follow the Storage in its own block.  Larger ones have a block to
/// themselves, so that a page-sized tensor starts on its size class and can be resized without
/// leaving a hole.
constexpr std::size_t most_inline_bytes = std::size_t{4} << 10;

/// Where std::allocate_shared puts reference counts and Storage, with room for the bytes behind
/// them.
/// `*inline_data` receives where that room begins.
template <class T>
struct HeaderAllocator {
  using value_type = T;

  std::size_t room_bytes;
  std::byte** inline_data;

  HeaderAllocator(std::size_t room, std::byte** data) : room_bytes(room), inline_data(data) {}
  template <class U>
  HeaderAllocator(const HeaderAllocator<U>& other)
      : room_bytes(other.room_bytes), inline_data(other.inline_data) {}

  static constexpr std::size_t header_bytes(std::size_t count) {
    return (count * sizeof(T) + allocation_alignment - 1) & ~(allocation_alignment - 1);
  }
  T* allocate(std::size_t count) {
    std::byte* block = allocate_bytes(header_bytes(count) + room_bytes);
    *inline_data = block + header_bytes(count);
    return reinterpret_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t count) noexcept {
    free_bytes(reinterpret_cast<std::byte*>(block), header_bytes(count) + room_bytes);
  }
  template <class U>
  bool operator==(const HeaderAllocator<U>& other) const {
    return room_bytes == other.room_bytes;
  }
};

}  // namespace

/// The constructor that std::allocate_shared may call.
struct Storage::Pooled : Storage {
  /// `*inline_data` is the room in the object's own block, known only once that is allocated.
  Pooled(std::byte* const* inline_data, std::size_t size_bytes)
      : Storage(*inline_data, size_bytes, Device{}, true, {}) {
    if (size_bytes <= most_inline_bytes) return;
    data_ = allocate_bytes(size_bytes);
    is_pooled_ = true;
  }
};

Storage::Storage(std::byte* data, std::size_t size_bytes, Device device, bool is_resizable,
                 std::function<void(void*)> release)
    : data_(data),
      size_bytes_(size_bytes),
      device_(device),
      is_resizable_(is_resizable),
      release_(std::move(release)) {}

Storage::~Storage() {
  if (is_pooled_) free_bytes(data_, size_bytes_);
  if (release_) release_(data_);
}

std::shared_ptr<Storage> Storage::allocate(std::size_t size_bytes) {
  const std::size_t room_bytes = size_bytes <= most_inline_bytes ? size_bytes : 0;
  std::byte* inline_data = nullptr;
  return std::allocate_shared<Pooled>(HeaderAllocator<Pooled>(room_bytes, &inline_data),
                                      &inline_data, size_bytes);
}

std::shared_ptr<Storage> Storage::borrow(void* data, std::size_t size_bytes,
                                         std::function<void(void*)> release) {
  return borrow(data, size_bytes, Device{}, std::move(release));
}

std::shared_ptr<Storage> Storage::borrow(void* data, std::size_t size_bytes, Device device,
                                         std::function<void(void*)> release) {
  std::shared_ptr<Storage> storage(
      new Storage(static_cast<std::byte*>(data), size_bytes, device, false, {}));
  // Last: until nothing can fail any more the memory is the caller's.
  storage->release_ = std::move(release);
  return storage;
}

std::shared_ptr<Storage> Storage::unbacked(std::size_t size_bytes, Device device) {
  return std::shared_ptr<Storage>(new Storage(nullptr, size_bytes, device, true, {}));
}

void Storage::resize_bytes(std::size_t size_bytes) {
  if (size_bytes <= size_bytes_) return;
  WEFT_CHECK(is_resizable(), ArgumentError, "Trying to resize storage that is not resizable");
  if (block_ != nullptr) return resize_block(size_bytes);
  if (data_ != nullptr) {  // otherwise unbacked: only the size counts
    std::byte* grown = allocate_bytes(size_bytes);
    std::memcpy(grown, data_, size_bytes_);
    if (is_pooled_) free_bytes(data_, size_bytes_);
    data_ = grown;
    is_pooled_ = true;
    detail::num_storage_moves.fetch_add(1, std::memory_order_relaxed);
  }
  size_bytes_ = size_bytes;
}

}  // namespace weft
