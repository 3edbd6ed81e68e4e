// What a launch calls.
#pragma once

#include "jit/code_object.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::jit {

/// How often a launch runs the body of a kernel.
inline std::uint64_t num_iterations(const KernelArgs& args, std::size_t num_loops) {
  std::uint64_t product = 1;
  for (std::size_t loop = 0; loop < num_loops; ++loop)
    product *= static_cast<std::uint64_t>(args.extents[loop]);
  return product;
}

/// Code that may be replaced by other code while threads run it: read entry() before each call, and
/// pass context() with the arguments.
///
/// Threads: all functions may be called by many threads at once.
class EntryPoint {
 public:
  /// One load.
  KernelFunction entry() const { return entry_.load(std::memory_order_acquire); }
  const void* context() const { return this; }

 protected:
  explicit EntryPoint(KernelFunction entry) : entry_(entry) {}
  ~EntryPoint() = default;

  /// The one whose context() came with the arguments.
  static EntryPoint& of(const KernelArgs* args) {
    return *static_cast<EntryPoint*>(const_cast<void*>(args->context));
  }
  void set_entry(KernelFunction entry) { entry_.store(entry, std::memory_order_release); }

 private:
  std::atomic<KernelFunction> entry_;
};

}  // namespace weft::jit
