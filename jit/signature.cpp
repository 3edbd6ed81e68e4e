#include "jit/signature.h"

#include "ir/text.h"
#include "runtime/hash.h"

namespace weft::jit {

std::uint64_t hash(const Signature& signature) {
  std::uint64_t result = ir::structural_hash(signature.kernel);
  const auto mix = [&result](std::uint64_t value) {
    result = (result ^ value) * 0x9e3779b97f4a7c15u;
    result ^= result >> 29;
  };
  const CpuFeatures& features = signature.features;
  mix(static_cast<std::uint64_t>(features.isa) | std::uint64_t{features.avx512_vbmi} << 8 |
      std::uint64_t{features.avx512_bf16} << 9 | std::uint64_t{features.avx512_fp16} << 10);
  for (const char c : signature.backend) mix(static_cast<unsigned char>(c));
  return result;
}

std::string text(const Signature& signature) {
  std::string result = signature.features.text() + " " + signature.backend + " ";
  // The kernel's own text, folded to one line.
  bool at_line_start = false;
  for (const char c : ir::print(signature.kernel)) {
    if (c == '\n') {
      at_line_start = true;
      continue;
    }
    if (at_line_start && c == ' ') continue;
    if (at_line_start) result += " | ";
    at_line_start = false;
    result += c;
  }
  return result;
}

}  // namespace weft::jit
