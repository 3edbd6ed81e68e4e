#include "jit/disassemble.h"

#if WEFT_HAS_LLVM
#include "jit/llvm/backend.h"
#endif

#include <elf.h>
#include <link.h>

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

#if WEFT_HAS_LLVM && defined(__x86_64__)
/// The loaded segment of code that holds an address, and the bias of its object.
struct CodeSegment {
  std::uintptr_t address = 0;  ///< to be found
  std::uintptr_t begin = 0, size_bytes = 0, bias = 0;
};

int find_segment(dl_phdr_info* object, std::size_t, void* data) {
  auto& wanted = *static_cast<CodeSegment*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || wanted.address < begin ||
        wanted.address - begin >= header.p_memsz)
      continue;
    wanted = {wanted.address, begin, header.p_memsz, object->dlpi_addr};
    return 1;
  }
  return 0;
}
#endif

}  // namespace

FunctionListing disassemble_function([[maybe_unused]] const void* entry) {
  FunctionListing listing;
#if !defined(__x86_64__)
  listing.reason = "weft reads x86-64 code alone";
#elif !WEFT_HAS_LLVM
  listing.reason = "this build was configured with WEFT_LLVM=OFF";
#else
  const LlvmModule* module = llvm_module(listing.reason);
  if (module == nullptr) return listing;
  CodeSegment segment{reinterpret_cast<std::uintptr_t>(entry)};
  if (dl_iterate_phdr(&find_segment, &segment) == 0) {
    listing.reason = "it is in no program or library that is loaded";
    return listing;
  }
  listing.load_bias = segment.bias;
  WeftLlvmResult result{};
  module->disassemble_function(reinterpret_cast<const void*>(segment.begin), segment.size_bytes,
                               segment.address - segment.begin, segment.begin - segment.bias,
                               &result);
  const std::shared_ptr<const void> owner(result.owner, module->release);
  if (result.error.size != 0)
    listing.reason.assign(result.error.data, result.error.size);
  else
    listing.text.assign(result.assembly.data, result.assembly.size);
#endif
  return listing;
}

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
