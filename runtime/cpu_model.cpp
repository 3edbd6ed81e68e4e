#include "runtime/cpu_model.h"

#include "runtime/cpu_features.h"
#include "runtime/cpuid.h"

#include <initializer_list>

namespace weft {
namespace {

#if defined(__x86_64__)
/// Appends the bytes of registers, up to the zero that ends a text.
void append(std::string& text, std::initializer_list<unsigned> registers) {
  for (const unsigned word : registers)
    for (int byte = 0; byte < 4; ++byte)
      if (const char letter = static_cast<char>(word >> (8 * byte)); letter != '\0') text += letter;
}

/// On one line, and one space between words.
std::string tidy(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const bool is_space = letter <= ' ' || letter > '~';
    if (!is_space)
      result += letter;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  return result.substr(0, result.find_last_not_of(' ') + 1);
}

std::string processor_name() {
  const CpuidLeaf vendor = cpuid(0);
  const unsigned version = cpuid(1).eax;
  const unsigned family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
  const unsigned model = (version >> 4 & 0xf) | (version >> 12 & 0xf0);
  std::string name;
  append(name, {vendor.ebx, vendor.edx, vendor.ecx});
  name += " " + std::to_string(family) + "-" + std::to_string(model) + "-" +
          std::to_string(version & 0xf) + " ";
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    const CpuidLeaf brand = cpuid(leaf);
    append(name, {brand.eax, brand.ebx, brand.ecx, brand.edx});
  }
  return tidy(name);
}
#else
std::string processor_name() { return "unknown"; }
#endif

}  // namespace

std::string cpu_model() {
  const CpuFeatures machine = host_features();
  const auto kib = [](std::int64_t bytes) { return std::to_string(bytes >> 10) + " KiB"; };
  return processor_name() + "; L1d " + kib(machine.l1d_bytes) + ", L2 " + kib(machine.l2_bytes) +
         ", L3 " + kib(machine.l3_bytes);
}

}  // namespace weft
