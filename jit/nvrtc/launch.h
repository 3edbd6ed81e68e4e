// From the extents, strides and addresses of a call to the variant that serves it, the grid and the
// argument of the generated kernel.
#pragma once

#include "ir/kernel.h"
#include "jit/nvrtc/emit.h"

#include <cstdint>
#include <vector>

namespace weft::jit::nvrtc {

/// What a kernel is launched on, as jit/code_object.h has it for CPUs.
struct Nest {
  std::vector<std::int64_t> extents;       ///< [loop], outermost first; 0 leaves no work
  std::vector<std::int64_t> stride_bytes;  ///< [loop * num_operands + operand]
  std::vector<std::uint64_t> base;         ///< [operand] address of the first element
  std::vector<Bits> params;                ///< [param]
};

/// The widest variant whose accesses are all aligned, with 32-bit indices where they reach.
///
/// Errors: UnsupportedError if elements lie at no multiple of half their size.
Variant choose_variant(const ir::Kernel& kernel, const Nest& nest);

/// Bytes of an item of each operand that is moved in groups of neighbours, whose address has to be
/// a multiple of the group's bytes; 0 for the others.
std::vector<std::uint64_t> grouped_item_bytes(const ir::Kernel& kernel);

struct Launch {
  std::uint64_t blocks = 1;              ///< of threads_per_block threads
  std::vector<std::uint64_t> arguments;  ///< struct Args of the source, word for word
  /// Reductions: where the partial results are that are read and written, which is no argument yet
  /// (place_partials).  Bytes from the beginning of the call's temporary memory; -1: nowhere.
  std::int64_t from_bytes = -1, to_bytes = -1;
};

/// What a grid may have.
inline constexpr std::uint64_t most_blocks = (std::uint64_t{1} << 31) - 1;

/// At most so many blocks share the work.  Those of kernels that accumulate are a multiple of what
/// the device runs at once; others have a block for each piece of work, as new blocks begin sooner
/// than old ones come round their loop (docs/decisions/cuda.md).
std::uint64_t max_blocks_for(const ir::Kernel& kernel, int num_multiprocessors);

/// Requires: a variant that choose_variant() would allow, and a kernel that does not reduce.
Launch plan_launch(const ir::Kernel& kernel, const Variant& variant, const Nest& nest,
                   std::uint64_t max_blocks = most_blocks);

/// What a call launches, one after the other.
struct Launches {
  std::vector<Launch> launches;
  std::uint64_t temporary_bytes = 0;  ///< for partial results
};

/// plan_launch(), or the launches of a kernel that reduces: parts of its tree, until one is left of
/// each output.
Launches plan_launches(const ir::Kernel& kernel, const Variant& variant, const Nest& nest,
                       std::uint64_t max_blocks);

/// The temporary memory at `address` becomes an argument: the words behind the operands' bases.
void place_partials(const Launch& launch, std::size_t num_operands, std::uint64_t address,
                    std::uint64_t* arguments);

/// The words of a Divisor: what turns divisions by `divisor` into a product and a shift, for
/// numbers below 2^31 or 2^63.
struct Divisor {
  std::uint64_t divisor, magic, shift;
};
/// Requires: 1 <= divisor < 2^(index_bits - 1).
Divisor make_divisor(std::uint64_t divisor, int index_bits);

}  // namespace weft::jit::nvrtc
