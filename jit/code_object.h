// Compiled code and the one ABI by which every CPU tier is called.
#pragma once

#include <weft/scalar.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace weft::jit {

/// The argument of every compiled kernel.  The arrays belong to the caller and live through the
/// call.
///
/// A caller that shares one launch among threads passes each thread other `base` and `extents`: any
/// loop can be cut anywhere, and where it is cut never changes a result.
struct KernelArgs {
  std::byte* const* base;            ///< [operand] address of the first element
  const std::int64_t* extents;       ///< [loop], outermost first; all >= 1
  const std::int64_t* stride_bytes;  ///< [loop * num_operands + operand]
  const Bits* params;                ///< [param], each in its dtype of Kernel::params
  const void* context;               ///< CodeObject::context; generated code ignores it
};

/// Throws nothing.  A backend's function neither allocates nor locks either; what stands in front
/// of it for a while, to count and measure calls (jit/tiered_kernel.h), may.
using KernelFunction = void (*)(const KernelArgs*);

/// A kernel ready to run, and what is known of how it came about.  Immutable; shared by threads.
struct CodeObject {
  KernelFunction entry = nullptr;
  const void* context = nullptr;  ///< what `entry` wants in KernelArgs::context
  /// Of a kernel that reduces (ir::is_reduction), else null: folds part of a leaf of its tree into
  /// partial results.  It is launched with the kernel's loops, of which those around the reduce
  /// loops count sets of partial results.  An output's base is the first set, which is dense: lane
  /// by lane, where elements go in turn from lane 0 on, or column by column with room for a
  /// multiple of 64 bytes.  Sets of places are FoundPlace (jit/fold/places.h).
  KernelFunction leaf = nullptr;
  const void* leaf_context = nullptr;  ///< what `leaf` wants in KernelArgs::context
  /// The same as `entry` where rows are no longer than a leaf (ir::Tree::block): several such rows
  /// in one call.  Of some kernels whose innermost loop is their only reduce loop, else null.
  KernelFunction rows = nullptr;
  std::shared_ptr<const void> memory;  ///< keeps entry and context alive
  std::string backend;                 ///< "interp", "xbyak", "llvm"
  bool is_from_disk = false;           ///< loaded, not compiled
  /// Keeps what it reads again in cache, so that it needs no blocks from outside, and other code
  /// for the same kernel is likely to be slower.
  bool walks_in_blocks = false;
  std::size_t code_bytes = 0;         ///< of code memory, constants included
  std::size_t instruction_bytes = 0;  ///< machine code from instructions() on; 0 if there is none
  double compile_us = 0;              ///< passes and backend; filled in by compile()
  /// Takes the code off the disk, where other processes would begin with it; empty if it is not
  /// there.  Throws nothing.
  std::function<void()> forget_on_disk;
  /// Where generated code begins.
  const std::byte* instructions() const {
    return reinterpret_cast<const std::byte*>(leaf != nullptr ? leaf : entry);
  }
  std::map<std::string, std::string>
      texts;  ///< stage name ("llvm", "asm") -> text; only when asked for
};

}  // namespace weft::jit
