// Brings a relocatable object into code memory.
#pragma once

#include <llvm/Object/ObjectFile.h>

#include <cstddef>
#include <memory>

namespace weft::jit {

struct LinkedCode {
  const void* entry = nullptr;
  std::size_t size_bytes = 0;          ///< code and constants
  std::shared_ptr<const void> memory;  ///< keeps `entry` alive
};

/// Links kernel_symbol.  The code is never writable where it runs.
///
/// Errors: CompileError if the object needs what emitted code may not call; DeviceError.
LinkedCode link_kernel(const llvm::object::ObjectFile& object);

}  // namespace weft::jit
