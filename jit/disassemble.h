// Machine code as text, for `--emit=asm` and for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft::jit {

/// x86-64 code as Intel syntax, one instruction a line, each after its offset.  Jumps within the
/// code name local labels and addresses stay relative, so equal code gives equal text wherever it
/// lies. Without the LLVM module: the bytes in hexadecimal, after a line that says why.
///
/// `display_base` is added to the offsets.
std::string disassemble(std::span<const std::byte> code, std::uint64_t display_base = 0);

/// A function that was compiled with weft, as it lies in this process.
struct FunctionListing {
  /// As disassemble() writes it, in the order of addresses, with `; entry` before the first
  /// instruction and `; elsewhere` where the function leaves a gap.  Offsets are the addresses that
  /// `objdump -d` of the program or library prints.  Empty if there is a reason.
  std::string text;
  std::string reason;           ///< why there is no text
  std::uint64_t load_bias = 0;  ///< what is added to offsets to get addresses in memory
};

/// Follows the function's jumps from its entry until every path ends in a return or in a jump whose
/// target is computed; jumps to other functions are followed as well, calls are not.
FunctionListing disassemble_function(const void* entry);

}  // namespace weft::jit
