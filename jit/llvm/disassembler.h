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

}  // namespace weft::jit
