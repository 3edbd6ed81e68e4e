// Machine code as text, with the lines of the IR that it was made from.
#pragma once

#include "ir/kernel.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::jit {

/// Code from `offset` on, up to the next mark, comes from `value`, or is `part` of the loops around
/// the body.
struct CodeMark {
  std::uint32_t offset = 0;
  ir::ValueId value = ir::no_value;
  std::string_view part;  ///< with static lifetime
};

/// `assembly` (the format of disassemble()) with a comment before each marked instruction: the line
/// of the IR, or the name of the part.  Marks must be in order of their offsets; of those without
/// code the last counts.
std::string annotate(std::string_view assembly, const ir::Kernel& kernel,
                     std::span<const CodeMark> marks);

}  // namespace weft::jit
