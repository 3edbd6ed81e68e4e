// Signature -> compiled code, one compilation per signature whatever the number of threads.
#pragma once

#include "jit/backend.h"
#include "jit/signature.h"
#include "jit/tiered_kernel.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>

namespace weft::jit {

struct KernelCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;  ///< kernels that nobody used, dropped to make room
  TierStats tiers;
};

/// Runs the passes and the first backend that takes the kernel, the LLVM tier before the
/// interpreter however long it takes.
///
/// Errors: UnsupportedError if `signature.backend` names a backend that is not usable, or that
///         refuses a kernel which does not reduce: one that does is then left to the interpreter.
CompiledKernel compile(const Signature& signature, const Target& target);

/// Threads: all functions may be called by many threads at once; a thread that asks for a signature
///          which another is compiling waits for it.
class KernelCache {
 public:
  /// Some KiB each, so that programs that evaluate what their users write stay bounded in memory.
  static constexpr std::size_t default_max_kernels = 4096;

  /// Beyond `max_kernels`, those that no plan has are dropped, all at once.
  explicit KernelCache(TierOptions options = {}, std::shared_ptr<DiskCache> disk = nullptr,
                       std::size_t max_kernels = default_max_kernels);
  /// Compilations in the background that have not begun are left out.
  ~KernelCache() { tiers_->cancel(); }

  /// The kernel for `signature`, compiled now if it is new.  For backend "auto" that is what can be
  /// had at once: LLVM's code if it is on the disk, else xbyak's, else the interpreter, and LLVM in
  /// time.  Errors: those of compile(); nothing is cached then.
  std::shared_ptr<TieredKernel> get(Signature signature);
  /// What launches of a kernel of backend "auto" with such extents are to call: the kernel itself,
  /// or what may in time have code for that shape.  `is_whole` as for a ShapedKernel.
  static std::shared_ptr<EntryPoint> for_shape(const std::shared_ptr<TieredKernel>& kernel,
                                               std::span<const std::int64_t> extents,
                                               bool is_whole);
  /// Returns when every kernel that was hot has been compiled, and every shape.
  void wait_optimised() { tiers_->wait(); }
  KernelCacheStats stats() const;

 private:
  struct Entry {
    Signature signature;
    std::mutex compiling;
    std::shared_ptr<TieredKernel> compiled;  ///< guarded by `compiling`
  };
  using Entries = std::unordered_multimap<std::uint64_t, std::shared_ptr<Entry>>;
  std::shared_ptr<Entry> find_or_insert(Signature signature);
  Entries take_unused();
  std::shared_ptr<TieredKernel> make(const Signature& signature) const;

  std::shared_ptr<TierControl> tiers_;
  std::shared_ptr<DiskCache> disk_;
  mutable std::shared_mutex mutex_;
  Entries entries_;  ///< guarded by mutex_
  const std::size_t max_kernels_;
  std::size_t next_sweep_;  ///< entries at which to look for unused ones; by mutex_
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
  std::atomic<std::uint64_t> evictions_{0};
};

}  // namespace weft::jit
