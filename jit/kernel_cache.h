// Signature -> compiled code, one compilation per signature whatever the number of threads.
#pragma once

#include "jit/backend.h"
#include "jit/signature.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::jit {

/// A kernel after the passes, the code made from it, and why other tiers did not make it.
struct CompiledKernel {
  ir::Kernel kernel;
  std::shared_ptr<const CodeObject> code;
  std::vector<std::string> refusals;  ///< "xbyak: exp f32 has no row"
};

struct KernelCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  double compile_us = 0;
  std::uint64_t code_bytes = 0;
  std::map<std::string, std::uint64_t> compiles_by_backend;
};

/// Runs the passes and the first backend that takes the kernel.
///
/// Errors: UnsupportedError if `signature.backend` names a backend that is not usable or that
/// refuses the
///         kernel; CompileError if every backend that took it failed.
CompiledKernel compile(const Signature& signature, const Target& target);

/// Threads: all functions may be called by many threads at once; a thread that asks for a signature
/// which
///          another is compiling waits for it.
class KernelCache {
 public:
  /// The kernel for `signature`, compiled now if it is new.  Errors: those of compile(); nothing is
  /// cached then.
  std::shared_ptr<const CompiledKernel> get(const Signature& signature);
  KernelCacheStats stats() const;
  /// Forgets all kernels.  Those in use live on with their users.
  void clear();

 private:
  struct Entry {
    Signature signature;
    std::mutex compiling;
    std::shared_ptr<const CompiledKernel> compiled;  ///< guarded by `compiling`
  };
  std::shared_ptr<Entry> find_or_insert(const Signature& signature);

  mutable std::shared_mutex mutex_;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<Entry>> entries_;
  mutable std::mutex stats_mutex_;
  KernelCacheStats stats_;
};

}  // namespace weft::jit
