// What a backend is: a name, what it refuses, and how it compiles.  One folder each, listed in
// backend.cpp.
#pragma once

#include "ir/kernel.h"
#include "jit/code_object.h"
#include "runtime/cpu_features.h"

#include <weft/disk_cache.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit {

/// Extents and strides, in the order of KernelArgs.
struct LaunchShape {
  std::vector<std::int64_t> extents;       ///< [loop]; 0: known at launch
  std::vector<std::int64_t> stride_bytes;  ///< [loop * num_operands + operand]

  bool empty() const { return extents.empty(); }
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// What code is generated for.
struct Target {
  CpuFeatures features;     ///< of the target, not necessarily of this machine
  bool keep_texts = false;  ///< fill in CodeObject::texts
  bool run = true;  ///< false: only the texts are wanted, and the target may be a foreign one
  bool has_alternatives = false;  ///< a backend may refuse what it can do, but another does better
  std::shared_ptr<DiskCache> disk =
      nullptr;  ///< where backends keep what takes long to compile; may be null
  /// If not empty, the only one that the code is launched with.  Backends may ignore it.
  LaunchShape shape = {};
  std::uint64_t signature_hash = 0;  ///< what dumps of the code are named after (jit/dump.h)

  /// Widest register that kernels may use: 64 with AVX-512, 32 with AVX2, else 0.
  int vector_bytes() const;
};

struct Backend {
  std::string_view name;
  /// Why this backend cannot compile `kernel` (after the passes), or an empty string if it can.
  std::string (*refuses)(const ir::Kernel& kernel, const Target& target);
  /// Errors: CompileError.  Requires: refuses() returned an empty string.
  std::shared_ptr<const CodeObject> (*compile)(const ir::Kernel& kernel, const Target& target);
};

/// All backends of this build, fastest to compile first, the interpreter last.
std::span<const Backend* const> backends();
/// The backend of this name, or null.
const Backend* find_backend(std::string_view name);
/// Why a backend that weft knows is not in this build or not usable on this machine; empty if it is
/// usable.
///
/// Errors: ArgumentError if weft knows no backend of this name.
std::string unavailable_reason(std::string_view name);
/// Errors: ArgumentError if weft knows no backend of this name, UnsupportedError if it is not
///         usable.
void check_usable(std::string_view name);

}  // namespace weft::jit
