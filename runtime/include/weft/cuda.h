// CUDA devices: which there are, in which stream this thread's work is queued, and the memory that
// tensors on them take.  The driver is opened and a device is used when first asked for, not
// before.
//
// Contexts: weft uses each device's primary context, as PyTorch, CuPy and the CUDA runtime do, so
//           that addresses and streams are theirs too.
// Threads:  all functions may be called by many threads at once.
// Errors:   UnsupportedError, which says what is missing, without a driver; ArgumentError for a
//           device that is not there; DeviceError with the driver's text when it refuses something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace [[gnu::visibility("default")]] weft {
namespace cuda {

/// A CUstream, which is also a cudaStream_t.
using StreamHandle = void*;

inline constexpr int max_devices = 32;

/// 0 without a driver or a GPU.
int num_devices();
/// Why no tensor can be on a CUDA device; empty if it can.
std::string unavailable_reason();

struct DeviceInfo {
  std::string name;  ///< "NVIDIA H200"
  std::string arch;  ///< "sm_90"
  int num_multiprocessors = 0;
  std::size_t l2_bytes = 0;
  std::size_t total_bytes = 0;
  bool has_memory_pools = false;  ///< cuMemAllocAsync
};
DeviceInfo device_info(int device = 0);

/// Where calls of this thread queue their work: the innermost StreamGuard's stream, else one that
/// belongs to this thread and waits for the default stream as other streams do.
StreamHandle current_stream(int device = 0);

/// Work of this thread goes to `stream` while this lives: a stream of the device, the null stream,
/// or CU_STREAM_LEGACY or CU_STREAM_PER_THREAD.  The stream must live until its work is done.
class [[nodiscard]] StreamGuard {
 public:
  explicit StreamGuard(StreamHandle stream, int device = 0);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  int device_;
  bool was_given_;
  StreamHandle before_;
};

/// Returns when the work of this thread's current stream is done.
void synchronize(int device = 0);
/// Whether a graph is being captured from the current stream: what allocates, compiles or waits is
/// an UnsupportedError then.
bool is_capturing(int device = 0);

/// A stream of its own.
class Stream {
 public:
  explicit Stream(int device = 0);
  /// Waits for the stream's work.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  StreamHandle handle() const { return handle_; }
  int device() const { return device_; }
  void synchronize() const;

 private:
  int device_;
  StreamHandle handle_ = nullptr;
};

/// A point in a stream's work.
class Event {
 public:
  explicit Event(int device = 0, bool has_time = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// After what is queued in this thread's current stream so far.
  void record();
  /// What this thread's current stream is given from now on waits for the event.
  void wait() const;
  bool is_done() const;
  void synchronize() const;
  /// From this event to a later one.  Requires: both have times and are done.
  float elapsed_ms(const Event& later) const;

 private:
  int device_;
  void* handle_ = nullptr;
};

/// Of the memory that tensors on a device have taken; blocks that are free are kept for the next.
struct MemoryStats {
  std::uint64_t num_allocations = 0;
  std::uint64_t num_reused = 0;    ///< of them, served without asking the driver
  std::size_t live_bytes = 0;      ///< in blocks that are in use
  std::size_t retained_bytes = 0;  ///< in blocks that are free
};
MemoryStats memory_stats(int device = 0);
/// Waits for the device and returns all free blocks to the driver.
void trim(int device = 0);

}  // namespace cuda
}  // namespace weft
