// Brings a relocatable ELF file into code memory.  Knows what LLVM emits for one kernel and nothing
// of LLVM, so that kernels from the disk cache run without it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::jit {

/// The function that an object of this tier defines: void (*)(const KernelArgs*).
inline constexpr const char* kernel_symbol = "weft_kernel";
/// The one that it may define besides, of the same type: CodeObject::rows.
inline constexpr const char* rows_symbol = "weft_rows";

struct LoadedObject {
  const void* entry = nullptr;  ///< of kernel_symbol
  const void* rows = nullptr;   ///< of rows_symbol, or null
  /// All other functions that the object defines, by their symbols.
  std::vector<std::pair<std::string, const std::byte*>> others;
  std::size_t size_bytes = 0;          ///< code and constants
  std::size_t instruction_bytes = 0;   ///< code from `entry` on
  std::shared_ptr<const void> memory;  ///< keeps `entry` alive
};

/// Places code and constants side by side and resolves what they refer to: each other, and the
/// functions of find_library_function().  The code is never writable where it runs.
///
/// Every offset and index is checked, so that any bytes may be given.
///
/// Errors: CompileError if the bytes are no such object, or it needs what emitted code may not
///         call; DeviceError if there is no code memory.
LoadedObject load_object(std::span<const std::byte> object);

}  // namespace weft::jit
