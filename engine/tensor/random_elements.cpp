#include "engine/tensor/random_elements.h"

#include <array>
#include <complex>
#include <limits>

namespace weft {
namespace {

constexpr auto special_reals = std::to_array<double>({0.0,
                                                      -0.0,
                                                      1.0,
                                                      -1.0,
                                                      0.5,
                                                      -0.5,
                                                      1.5,
                                                      2.5,
                                                      3.0,
                                                      88.0,
                                                      -88.0,
                                                      127.5,
                                                      128.0,
                                                      255.0,
                                                      448.0,
                                                      65504.0,
                                                      65520.0,
                                                      2147483648.0,
                                                      -2147483648.0,
                                                      9007199254740993.0,
                                                      9223372036854775808.0,
                                                      3.4028234663852886e38,
                                                      1.401298464324817e-45,
                                                      1.1754943508222875e-38,
                                                      5e-324,
                                                      1e-8,
                                                      1e300,
                                                      std::numeric_limits<double>::infinity(),
                                                      -std::numeric_limits<double>::infinity(),
                                                      std::numeric_limits<double>::quiet_NaN()});

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

Bits low_bytes(std::uint64_t bits, DType dtype) {
  if (is_boolean(dtype)) return {bits & 1, 0};
  const std::size_t size = itemsize_bytes(dtype);
  return {size >= 8 ? bits : bits & ((std::uint64_t{1} << size * 8) - 1), 0};
}

/// One part of a floating or complex element.
double random_real(std::uint64_t choice, std::uint64_t bits) {
  switch (choice % 8) {
    case 0: return special_reals[bits % special_reals.size()];
    case 1: return static_cast<double>(static_cast<std::int64_t>(bits % 9) - 4);
    case 2:
    case 3: return 2 * unit(bits) - 1;
    case 4: return 200 * unit(bits) - 100;
    case 5: return (2 * unit(bits) - 1) * 1e6;
    default: return 8 * unit(bits) - 4;
  }
}

Bits random_integer(DType dtype, std::uint64_t choice, std::uint64_t bits) {
  const std::size_t num_bits = itemsize_bytes(dtype) * 8;
  const std::uint64_t top = std::uint64_t{1} << (num_bits - 1);
  switch (choice % 4) {
    case 0: return low_bytes(bits % 9 - 4, dtype);
    case 1: return low_bytes(bits % num_bits, dtype);
    case 2: return low_bytes(top + bits % 3 - 1, dtype);  // around the limits
    default: return low_bytes(bits, dtype);
  }
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position) {
  // SplitMix64's finaliser, twice, so that neither neighbouring seeds nor positions correlate.
  std::uint64_t value = seed * 0x9e3779b97f4a7c15 + position * 0xd1342543de82ef95 + 1;
  for (int round = 0; round < 2; ++round) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    value ^= value >> 31;
  }
  return value;
}

Bits random_element(DType dtype, std::uint64_t seed, std::uint64_t position) {
  const std::uint64_t choice = random_bits(seed ^ 0xc01ce, position);
  const std::uint64_t bits = random_bits(seed, position);
  switch (category(dtype)) {
    case Category::boolean: return low_bytes(bits, dtype);
    case Category::integer: return random_integer(dtype, choice, bits);
    case Category::floating:
      if (choice % 8 == 6 && itemsize_bytes(dtype) <= 8) return low_bytes(bits, dtype);
      return Scalar(random_real(choice, bits)).bits(dtype);
    case Category::complex: {
      const std::uint64_t more = random_bits(seed ^ 0x1a6, position);
      const std::complex<double> value(random_real(choice, bits), random_real(choice >> 8, more));
      return Scalar(value).bits(dtype);
    }
  }
  __builtin_unreachable();
}

}  // namespace weft
