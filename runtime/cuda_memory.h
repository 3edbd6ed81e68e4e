// Memory of CUDA devices and pinned memory of the host, kept for the next tensor instead of being
// returned to the driver.
//
// A block belongs to the stream that it was allocated for.  Freed, it serves the next allocation
// for that stream at once: what the stream was given before is done before what it is given then.
// Other streams that use a block say so (note_use), and the next owner waits for them.
#pragma once

#include "runtime/cuda_device.h"

#include <weft/device.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weft {

struct CudaShelf;

struct CudaBlock {
  CudaAddress address = 0;
  std::size_t size_bytes = 0;
  int device = 0;
  bool is_host = false;  ///< pinned memory of the host; it belongs to no stream
  CudaStreamKey home;

  struct Use {
    int device;  ///< of stream and event
    CudaStreamKey stream;
    CudaEvent event;
  };
  std::vector<Use> uses;  ///< by other streams; guarded by CudaMemory

  CudaShelf* shelf = nullptr;
  std::unique_ptr<CudaBlock> next;  ///< in the list that it is in, of those that nobody uses
};

/// One leads to the next, so that a block comes back without asking for memory.
using CudaBlockList = std::unique_ptr<CudaBlock>;

/// Blocks that can serve for each other.
struct CudaShelf {
  CudaBlockList idle;
  std::size_t num_blocks = 0;  ///< in use or idle; without any the shelf may go
};

/// Gives a block back to the memory that it came from.
struct CudaBlockReturn {
  void operator()(CudaBlock* block) const noexcept;
};
using CudaBlockHandle = std::unique_ptr<CudaBlock, CudaBlockReturn>;

/// What tensors of one device take.
///
/// Threads: all functions may be called by many threads at once.
class CudaMemory {
 public:
  explicit CudaMemory(CudaDevice& device) : device_(device) {}

  /// For the current stream.  The context must be current.
  ///
  /// Errors: DeviceError that names the bytes asked for and those that are free; UnsupportedError
  /// while the stream is being captured.
  CudaBlockHandle allocate(std::size_t size_bytes);
  /// Pinned memory of the host, which the device and copies in the background reach.
  CudaBlockHandle allocate_host(std::size_t size_bytes);
  /// The current stream has been given work that uses the block.
  void note_use(CudaBlock& block);
  /// The same of whatever block of this device an address lies in; nothing if it is not weft's.
  void note_use_at(const void* address) {
    if (!has_first_stream_.load(std::memory_order_acquire)) return;  // nor any block
    if (has_streams_.load(std::memory_order_relaxed) || device_.stream_key() != first_stream_)
      find_and_note_use(address);
  }

  void trim();
  cuda::MemoryStats stats() const;

 private:
  friend struct CudaBlockReturn;
  struct Key {
    CudaStreamKey stream;
    std::size_t size_bytes;
    bool is_host;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  void find_and_note_use(const void* address);
  std::unique_ptr<CudaBlock> take_idle(const Key& key);
  CudaBlockHandle allocate_new(const Key& key, std::size_t asked_bytes);
  void enter(CudaBlock& block, const Key& key);
  CudaAddress ask_driver(std::size_t size_bytes, std::size_t asked_bytes, bool is_host);
  void take_back(std::unique_ptr<CudaBlock> block) noexcept;
  void shelve(std::unique_ptr<CudaBlock> block) noexcept;
  CudaBlockList take_all_idle();
  void forget(const CudaBlockList& blocks);
  bool are_done(const CudaBlock& block) const;
  void drop_uses(CudaBlock& block) noexcept;
  [[noreturn]] void throw_out_of_memory(CudaResult result, std::size_t size_bytes, bool is_host);

  CudaDevice& device_;
  std::atomic<bool> has_streams_{false};  ///< blocks belong to other streams than the first
  std::atomic<bool> has_first_stream_{false};
  CudaStreamKey first_stream_;  ///< written once, before has_first_stream_
  mutable std::mutex mutex_;
  std::map<CudaAddress, CudaBlock*> blocks_;  ///< of the device, in use or not
  std::unordered_map<Key, CudaShelf, KeyHash> shelves_;
  std::vector<CudaEvent> spare_events_;
  cuda::MemoryStats stats_;
};

/// Queues a copy of bytes, one side of which is on a device, in that device's current stream; in
/// that of the source's between two devices, whose streams wait for each other.  Copies from and to
/// pinned memory of the host go on in the background.
void copy_bytes(std::byte* to, Device to_device, const std::byte* from, Device from_device,
                std::size_t size_bytes);
/// Fills device memory with `count` items of 1, 2, 4, 8 or 16 bytes in the current stream.
void fill_bytes(std::byte* to, Device device, const void* item, std::size_t item_bytes,
                std::size_t count);
/// The device whose memory an address is, as the driver of `device` has it; nothing if it is
/// none's.
std::optional<int> device_of_address(const std::byte* address, Device device);
/// Whether copies between this memory of the host and `device` go on in the background.
bool is_pinned_address(const std::byte* address, Device device);

}  // namespace weft
