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

}  // namespace weft::jit
