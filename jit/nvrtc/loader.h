// Kernels on devices: code that is loaded, and calls that launch it.
#pragma once

#include "jit/nvrtc/backend.h"
#include "jit/nvrtc/compiler.h"

#include <weft/disk_cache.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::jit::nvrtc {

/// One kernel's code on one device.
class LoadedKernel;

/// The code of one engine's kernels, by kernel, variant and device.  Looks for CUDA when it is
/// asked for the first kernel.
///
/// Threads: all functions may be called by many threads at once.
class KernelLoader {
 public:
  explicit KernelLoader(std::shared_ptr<DiskCache> disk) : disk_(std::move(disk)) {}

  /// Errors: CompileError if NVRTC is not there, can't compile the kernel, or made what the driver
  /// can't load; UnsupportedError where a graph is being captured and the kernel is not loaded yet;
  /// those of weft/cuda.h.
  std::shared_ptr<const LoadedKernel> get(const ir::Kernel& kernel, const Variant& variant,
                                          int device);
  CodeCache::Stats stats() const;

 private:
  CodeCache& codes();

  std::shared_ptr<DiskCache> disk_;
  mutable std::mutex mutex_;
  std::unique_ptr<CodeCache> codes_;  ///< guarded by mutex_ until it is made
  std::unordered_map<std::string, std::shared_ptr<const LoadedKernel>> loaded_;  ///< by mutex_
};

/// A call with everything but addresses and numbers decided.
///
/// Threads: launch() may be called by many threads at once.
class DeviceCall {
 public:
  /// Takes a kernel as lowered.  Extents and strides are those of `nest`, whose addresses and
  /// numbers don't count.
  ///
  /// Errors: UnsupportedError, with the reason, for a kernel that there is no code for.
  DeviceCall(ir::Kernel kernel, Nest nest, int device, std::shared_ptr<KernelLoader> loader);
  ~DeviceCall();
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  /// Queues the kernel in this thread's current stream of the device, a kernel that reduces as
  /// often as its tree needs.  The first launch for addresses of an alignment loads the code that
  /// serves it.
  ///
  /// Errors: those of weft/cuda.h, among them UnsupportedError where a graph is being captured and
  /// there is no memory for partial results.
  void launch(std::span<const std::uint64_t> base, std::span<const Bits> params) const;
  int device() const { return device_; }

 private:
  /// What is ready for launches of one variant.
  struct Ready {
    std::shared_ptr<const LoadedKernel> code;
    Launches planned;
  };
  const Ready& ready_for(int items, bool halves, std::span<const std::uint64_t> base) const;
  Nest nest_at(std::span<const std::uint64_t> base) const;
  /// The variant for these addresses, which may need the operands' elements in halves.
  const Ready& ready_at(std::span<const std::uint64_t> base) const;

  Prepared prepared_;
  Nest parts_;  ///< of prepared_.kernel; without addresses and numbers
  int device_;
  std::shared_ptr<KernelLoader> loader_;
  int most_items_ = 1;  ///< that extents and strides allow
  bool strides_need_halves_ = false;
  std::vector<std::uint64_t> item_bytes_, grouped_item_bytes_;  ///< of prepared_.kernel's operands
  mutable std::mutex mutex_;
  /// By twice the logarithm of the items, and one more for halves.
  mutable std::array<std::atomic<const Ready*>, 10> ready_{};
  mutable std::vector<std::unique_ptr<const Ready>> owned_;  ///< guarded by mutex_
};

}  // namespace weft::jit::nvrtc
