// What the processor can do, as far as generated code asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

enum class Isa : std::uint8_t { generic, avx2, avx512 };

/// Families of AMD's processors: the first is Zen 3 and 4, the other Zen 5.
inline constexpr int zen3_family = 25;
inline constexpr int zen5_family = 26;

/// One bit a question that a backend asks.
struct CpuFeatures {
  Isa isa = Isa::generic;  ///< avx2 includes FMA, BMI2 and F16C; avx512 includes F, BW, DQ, VL, CD
  bool avx512_vbmi = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  std::int64_t l1d_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 32 << 20;
  bool pages_in_turn = true;  ///< memory is faster where a loop walks several pages at once
  int amd_family = 0;         ///< of AMD's processors: zen3_family, zen5_family; 0: others

  friend bool operator==(const CpuFeatures&, const CpuFeatures&) = default;
  /// "avx512+vbmi+bf16": part of every signature.  What follows the ISA is left out: it is the same
  /// in a whole process.
  std::string text() const;
};

/// Zen 4 is of Zen 3's family and has AVX-512; kept from it by WEFT_ISA, it goes by Zen 3's rules.
inline bool runs_on_zen3(const CpuFeatures& features) {
  return features.amd_family == zen3_family && features.isa < Isa::avx512;
}

std::string_view name(Isa isa);

/// This machine's features, lowered by WEFT_ISA=generic|avx2|avx512 in the environment.  Detected
/// once.
///
/// Errors: ArgumentError if WEFT_ISA has another value or asks for more than the machine has.
const CpuFeatures& host_features();

/// The features assumed for `weft explain --target=`: this machine's if it has the ISA, else its
/// minimum.
CpuFeatures target_features(Isa isa);

}  // namespace weft
