// Bytes that tensors are views of, and where they come from.
#pragma once

#include <weft/device.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace [[gnu::visibility("default")]] weft {

struct CudaBlock;  // runtime/cuda_memory.h

/// A block of bytes with shared ownership.  The block itself never moves under its tensors except
/// through resize_bytes(), which tensors call for `resize_` and given outputs.
///
/// Threads: a Storage may be read by many threads; resizing it while others use it is a caller's
/// error.
class Storage {
 public:
  /// `size_bytes` bytes, 64-byte aligned, uninitialised, from the pool (runtime/allocator.h).
  ///
  /// Errors: DeviceError that names the bytes asked for when memory runs out.
  static std::shared_ptr<Storage> allocate(std::size_t size_bytes);
  /// Memory that the caller owns; `release` is called once, when the last tensor lets go.  Where
  /// borrow() throws, it is not, and the memory still the caller's.
  static std::shared_ptr<Storage> borrow(void* data, std::size_t size_bytes,
                                         std::function<void(void*)> release = {});
  /// The same on any device.  On a CUDA device it is for this thread's current stream
  /// (weft/cuda.h), and data() is an address that the CPU can't read.
  ///
  /// Errors: those of weft/cuda.h, too.
  static std::shared_ptr<Storage> allocate(std::size_t size_bytes, Device device);
  /// Pinned memory of the host, copies from and to which go on in the background.
  static std::shared_ptr<Storage> allocate_pinned(std::size_t size_bytes);
  /// Memory that the caller owns, on `device`.
  static std::shared_ptr<Storage> borrow(void* data, std::size_t size_bytes, Device device,
                                         std::function<void(void*)> release = {});
  /// A size without bytes behind it, for planning: data() is null.  `device` is cpu or meta.
  static std::shared_ptr<Storage> unbacked(std::size_t size_bytes, Device device);

  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  Device device() const { return device_; }
  /// Of allocate_pinned().
  bool is_pinned() const { return block_ != nullptr && device_.type == DeviceType::cpu; }
  /// Work that uses the bytes has been given to the current stream of `device`: until it is done
  /// the memory is not used for anything else.  Nothing to do for memory of the CPU that is not
  /// pinned, and for borrowed memory.
  void note_use(Device device) {
    if (block_ != nullptr) note_block_use(device);
  }
  /// False for borrowed memory, and while a StorageLoan lives.
  bool is_resizable() const {
    return is_resizable_ && num_loans_.load(std::memory_order_relaxed) == 0;
  }
  /// Grows to at least `size_bytes` and keeps the contents; never shrinks.
  ///
  /// Errors: ArgumentError "Trying to resize storage that is not resizable".
  void resize_bytes(std::size_t size_bytes);

 private:
  friend class StorageLoan;
  Storage(std::byte* data, std::size_t size_bytes, Device device, bool is_resizable,
          std::function<void(void*)> release);
  struct Pooled;
  struct CudaBlockReturn {
    void operator()(CudaBlock* block) const noexcept;
  };
  static std::shared_ptr<Storage> of_block(CudaBlock* block, std::size_t size_bytes, Device device);
  void resize_block(std::size_t size_bytes);
  void note_block_use(Device device);

  std::byte* data_;
  std::size_t size_bytes_;
  Device device_;
  bool is_resizable_;
  bool is_pooled_ = false;  ///< data_ is a block of its own, from the pool
  std::atomic<int> num_loans_{0};
  std::function<void(void*)> release_;                 ///< of borrowed memory
  std::unique_ptr<CudaBlock, CudaBlockReturn> block_;  ///< device memory, or pinned
};

/// Keeps a storage alive and its bytes where they are: for those who hold their plain address.
class StorageLoan {
 public:
  explicit StorageLoan(std::shared_ptr<Storage> storage) : storage_(std::move(storage)) {
    storage_->num_loans_.fetch_add(1, std::memory_order_relaxed);
  }
  ~StorageLoan() { storage_->num_loans_.fetch_sub(1, std::memory_order_relaxed); }
  StorageLoan(const StorageLoan&) = delete;
  StorageLoan& operator=(const StorageLoan&) = delete;

 private:
  std::shared_ptr<Storage> storage_;
};

}  // namespace weft
