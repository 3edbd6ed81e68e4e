// Machine code to text by LLVM's MC layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace weft::jit {

/// What a relocation will put at an offset of the code: the name to print there.
using Relocations = std::map<std::uint64_t, std::string>;

/// Mirrors jit/disassemble.h; `relocations` give calls and constants their names.
///
/// Requires: initialise_llvm().
std::string disassemble_x86(std::span<const std::byte> code, std::uint64_t display_base,
                            const Relocations& relocations = {});

/// The function that begins at `entry`, an offset into `code`: what its jumps reach, in the order
/// of its addresses, until every path ends in a return or a jump through a register or memory.  A
/// line `; entry` stands before the first instruction, `; elsewhere` where addresses leave a gap.
/// Calls name the address of what they call.  At most `max_function_instructions`, then the text
/// says so.
///
/// Requires: initialise_llvm().
std::string disassemble_x86_function(std::span<const std::byte> code, std::uint64_t entry,
                                     std::uint64_t display_base);
inline constexpr std::size_t max_function_instructions = 20000;

}  // namespace weft::jit
