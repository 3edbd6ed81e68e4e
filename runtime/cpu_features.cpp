// Detection by cpuid, of what the operating system saves by xgetbv, of cache sizes by sysfs.
#include "runtime/cpu_features.h"

#include "runtime/cpuid.h"

#include <weft/error.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

namespace {

#if defined(__x86_64__)
/// Whether all bits of `mask` are set.
bool has(unsigned word, unsigned mask) { return (word & mask) == mask; }

/// Which register files the operating system saves.  Requires: OSXSAVE.
unsigned enabled_states() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// CpuFeatures::amd_family.
int detect_amd_family() {
  const CpuidLeaf vendor = cpuid(0);
  if (vendor.ebx != signature_AMD_ebx || vendor.edx != signature_AMD_edx ||
      vendor.ecx != signature_AMD_ecx)
    return 0;
  constexpr unsigned base_mask = 0xf, extended_mask = 0xff, base_is_full = 0xf;
  const unsigned version = cpuid(1).eax;
  const unsigned base = (version >> 8) & base_mask;
  return static_cast<int>(base < base_is_full ? base : base + ((version >> 20) & extended_mask));
}

void detect_isa(CpuFeatures& features) {
  constexpr unsigned ymm_state = 0x6;            // SSE and AVX
  constexpr unsigned zmm_state = 0xe0;           // opmask and both halves of the ZMM file
  constexpr unsigned avx512_bf16_bit = 1 << 5;   // leaf 7.1 EAX
  constexpr unsigned avx512_fp16_bit = 1 << 23;  // leaf 7.0 EDX
  const CpuidLeaf basic = cpuid(1, 0);
  const CpuidLeaf extended = cpuid(7, 0);
  if (!has(basic.ecx, bit_OSXSAVE)) return;
  const unsigned states = enabled_states();
  const bool has_avx2 = has(basic.ecx, bit_AVX | bit_FMA | bit_F16C) &&
                        has(extended.ebx, bit_AVX2 | bit_BMI2) && has(states, ymm_state);
  if (!has_avx2) return;
  features.isa = Isa::avx2;
  const bool has_avx512 =
      has(extended.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD) &&
      has(states, zmm_state);
  if (!has_avx512) return;
  features.isa = Isa::avx512;
  features.avx512_vbmi = has(extended.ecx, bit_AVX512VBMI);
  features.avx512_bf16 = has(cpuid(7, 1).eax, avx512_bf16_bit);
  features.avx512_fp16 = has(extended.edx, avx512_fp16_bit);
}
#else
void detect_isa(CpuFeatures&) {}
int detect_amd_family() { return 0; }
#endif

/// What the kernel says of one cache of the first processor, "32768K" in .../cache/index3/size: the
/// first word of the file; empty where there is none.  No stream, which would cost as much as the
/// rest of an engine's start.
std::string cache_property(int index, const char* property) {
  const std::string path =
      "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/" + property;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[32];
  const ssize_t size_bytes = read(file, text, sizeof text);
  close(file);
  const std::string_view whole(text, static_cast<std::size_t>(std::max<ssize_t>(size_bytes, 0)));
  return std::string(whole.substr(0, whole.find_first_of(" \n")));
}

/// glibc's sysconf() is not asked: it multiplies the last level by a guess at the number of dies.
void detect_caches(CpuFeatures& features) {
  constexpr int max_caches = 8;
  for (int index = 0; index < max_caches; ++index) {
    const std::string type = cache_property(index, "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    const std::string level = cache_property(index, "level");
    const std::string size = cache_property(index, "size");
    const std::int64_t unit = size.ends_with('K') ? 1 << 10 : size.ends_with('M') ? 1 << 20 : 1;
    const std::int64_t size_bytes = std::strtoll(size.c_str(), nullptr, 10) * unit;
    if (size_bytes <= 0) continue;  // not known; the default stays
    if (level == "1") features.l1d_bytes = size_bytes;
    if (level == "2") features.l2_bytes = size_bytes;
    if (level == "3") features.l3_bytes = size_bytes;
  }
}

/// `features` without what lies above `isa`.  Requires: features.isa >= isa.
CpuFeatures lowered(CpuFeatures features, Isa isa) {
  features.isa = isa;
  if (isa != Isa::avx512)
    features.avx512_vbmi = features.avx512_bf16 = features.avx512_fp16 = false;
  return features;
}

/// This machine's features, whatever the environment says.
const CpuFeatures& machine_features() {
  static const CpuFeatures features = [] {
    CpuFeatures found;
    detect_isa(found);
    found.amd_family = detect_amd_family();
    // AMD's prefetchers go on from page to page (docs/decisions/stores.md).
    found.pages_in_turn = found.amd_family == 0;
    detect_caches(found);
    return found;
  }();
  return features;
}

std::optional<Isa> parse_isa(std::string_view text) {
  for (Isa isa : {Isa::generic, Isa::avx2, Isa::avx512})
    if (name(isa) == text) return isa;
  return std::nullopt;
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::generic: return "generic";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  __builtin_unreachable();
}

std::string CpuFeatures::text() const {
  std::string result(name(isa));
  if (avx512_vbmi) result += "+vbmi";
  if (avx512_bf16) result += "+bf16";
  if (avx512_fp16) result += "+fp16";
  return result;
}

const CpuFeatures& host_features() {
  // A throwing initialiser is run again by the next call, so the error is not lost.
  static const CpuFeatures features = [] {
    const CpuFeatures& machine = machine_features();
    const char* wanted = ::secure_getenv("WEFT_ISA");
    if (wanted == nullptr || *wanted == '\0') return machine;
    const std::optional<Isa> isa = parse_isa(wanted);
    WEFT_CHECK(isa.has_value(), ArgumentError, "WEFT_ISA is '", wanted,
               "', expected generic, avx2 or avx512.");
    WEFT_CHECK(*isa <= machine.isa, ArgumentError, "WEFT_ISA asks for ", wanted,
               ", but this machine has only ", machine.text(), ".");
    return lowered(machine, *isa);
  }();
  return features;
}

CpuFeatures target_features(Isa isa) {
  const CpuFeatures& machine = machine_features();
  if (machine.isa >= isa) return lowered(machine, isa);
  CpuFeatures minimum;
  minimum.isa = isa;
  return minimum;
}

}  // namespace weft
