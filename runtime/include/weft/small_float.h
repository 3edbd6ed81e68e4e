// The floating-point storage types that C++ lacks.  Each is a bit pattern; arithmetic happens in
// float, and conversions (runtime/include/weft/convert.h) round once, to nearest even.
#pragma once

#include <complex>
#include <cstdint>

namespace [[gnu::visibility("default")]] weft {

/// IEEE 754 binary16.
struct f16 {
  std::uint16_t bits;
  friend constexpr bool operator==(f16, f16) = default;
};

/// The upper half of an IEEE 754 binary32.
struct bf16 {
  std::uint16_t bits;
  friend constexpr bool operator==(bf16, bf16) = default;
};

/// OCP FP8 E4M3: no infinities, one NaN a sign, largest value 448.
struct f8e4m3fn {
  std::uint8_t bits;
  friend constexpr bool operator==(f8e4m3fn, f8e4m3fn) = default;
};

/// OCP FP8 E5M2: infinities and NaNs as IEEE 754 has them, largest value 57344.
struct f8e5m2 {
  std::uint8_t bits;
  friend constexpr bool operator==(f8e5m2, f8e5m2) = default;
};

/// Complex of two f16, real part first.  `==` compares bits, like that of the types above.
struct c32 {
  f16 re;
  f16 im;
  friend constexpr bool operator==(c32, c32) = default;
};

using c64 = std::complex<float>;
using c128 = std::complex<double>;

}  // namespace weft
