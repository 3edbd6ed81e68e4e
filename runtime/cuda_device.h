// A CUDA device in use: its primary context, the streams of threads, its memory.
#pragma once

#include "runtime/cuda_driver.h"

#include <weft/cuda.h>

#include <memory>
#include <mutex>
#include <vector>

namespace weft {

class CudaMemory;

/// What work is queued in.  CU_STREAM_PER_THREAD is another stream in each thread.
struct CudaStreamKey {
  CudaStream stream = nullptr;
  std::uint64_t thread = 0;  ///< of a stream per thread: a number that no other thread ever has
  friend bool operator==(const CudaStreamKey&, const CudaStreamKey&) = default;
};

/// Made when first used, and never destroyed: the driver may be gone before static objects are.
///
/// Threads: all functions may be called by many threads at once.
class CudaDevice {
 public:
  /// Errors: UnsupportedError without a driver; ArgumentError for a device that is not there;
  ///         DeviceError.
  static CudaDevice& get(int index);

  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  int index() const { return index_; }
  const cuda::DeviceInfo& info() const { return info_; }
  CudaContext context() const { return context_; }
  CudaMemory& memory() { return *memory_; }

  /// That of this thread, see cuda::current_stream().  The context must be current.
  CudaStream stream();
  CudaStreamKey stream_key();
  /// Throws UnsupportedError, with what can't be done, if the current stream is being captured.
  void check_not_capturing(const char* what);
  bool is_capturing();
  /// Takes back a stream of a thread that ends, for another one.
  void give_back(CudaStream stream) noexcept;

 private:
  explicit CudaDevice(int index);
  ~CudaDevice();
  friend struct CudaDevices;

  int index_;
  cuda::DeviceInfo info_;
  CudaContext context_ = nullptr;
  std::unique_ptr<CudaMemory> memory_;
  std::mutex mutex_;
  std::vector<CudaStream> idle_streams_;  ///< guarded by mutex_; has room for all
  std::size_t num_streams_ = 0;           ///< that threads have or had; guarded by mutex_
};

/// Makes a device's context this thread's current one while it lives.
class [[nodiscard]] CudaCurrent {
 public:
  explicit CudaCurrent(const CudaDevice& device);
  ~CudaCurrent();
  CudaCurrent(const CudaCurrent&) = delete;
  CudaCurrent& operator=(const CudaCurrent&) = delete;

 private:
  bool is_pushed_ = false;
};

}  // namespace weft
