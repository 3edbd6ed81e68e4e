#include "jit/disassemble.h"

#if WEFT_HAS_LLVM
#include "jit/llvm/backend.h"
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

namespace weft::jit {
namespace {

std::string hexadecimal(std::span<const std::byte> code, std::uint64_t display_base,
                        const std::string& reason) {
  constexpr std::size_t bytes_per_line = 16;
  std::string text = "; no disassembler: " + reason + "\n";
  std::array<char, 32> number;
  for (std::size_t offset = 0; offset < code.size(); offset += bytes_per_line) {
    std::snprintf(number.data(), number.size(),
                  "%6llx:", static_cast<unsigned long long>(display_base + offset));
    text += number.data();
    for (std::byte byte : code.subspan(offset, std::min(bytes_per_line, code.size() - offset))) {
      std::snprintf(number.data(), number.size(), " %02x", std::to_integer<unsigned>(byte));
      text += number.data();
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string disassemble(std::span<const std::byte> code, std::uint64_t display_base) {
#if WEFT_HAS_LLVM
  std::string reason;
  const LlvmModule* module = llvm_module(reason);
  if (module == nullptr) return hexadecimal(code, display_base, reason);
  WeftLlvmResult result{};
  module->disassemble(code.data(), code.size(), display_base, &result);
  const std::shared_ptr<const void> owner(result.owner, module->release);
  if (result.error.size != 0)
    return hexadecimal(code, display_base, std::string(result.error.data, result.error.size));
  return std::string(result.assembly.data, result.assembly.size);
#else
  return hexadecimal(code, display_base, "this build was configured with WEFT_LLVM=OFF");
#endif
}

}  // namespace weft::jit
