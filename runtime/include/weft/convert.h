// convert<To>(value): the one meaning of a cast between any two dtypes.  Every tier gives these
// bits.
//
//   to a float     rounds once, to nearest even, from whatever the source is.  Too large: infinity,
//                  or NaN where the type has none (f8e4m3fn).  An infinity becomes the same.
//   NaN            f32, f64: as the hardware converts.  f16: sign and upper payload bits, quiet,
//                  as vcvtps2ph.  bf16: 0x7fc0 always.  f8: 0x7f with the sign.  Widening keeps
//                  sign and payload and, except from bf16, makes quiet.
//   to an integer  truncates.  i8, i16, u16, i32 go through i32 and u8, u32, i64 through i64: what
//                  does not fit there, and NaN, is its smallest value; the rest wraps.  u64 is the
//                  value modulo 2^64 in [-2^63, 2^64), and 2^63 otherwise.
//   to bool        is it different from zero?  NaN is true.
//   complex        a real number gets an imaginary part of 0; to any other type, bool included, the
//                  imaginary part is dropped, as PyTorch 1.13 does.  is_nonzero() looks at both
//                  parts.
//
// Requires: the rounding mode that a process starts with.
#pragma once

#include <weft/dtype.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace [[gnu::visibility("default")]] weft {

template <class To, class From>
constexpr To convert(From value);

namespace detail {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

/// How a floating type is laid out: sign, exponent, fraction, from the top.
template <class Word, int exponent_width, int fraction_width, bool with_infinity = true>
struct FloatLayout {
  using Bits = Word;
  static constexpr int exponent_bits = exponent_width;
  static constexpr int fraction_bits = fraction_width;
  static constexpr int bias = (1 << (exponent_width - 1)) - 1;
  static constexpr bool has_infinity = with_infinity;
  static constexpr Word sign_mask = static_cast<Word>(Word{1} << (exponent_width + fraction_width));
  static constexpr Word magnitude_mask = static_cast<Word>(sign_mask - 1);
  /// Magnitude of infinity; for a type without one, of its NaN.
  static constexpr Word special =
      with_infinity ? static_cast<Word>(((Word{1} << exponent_width) - 1) << fraction_width)
                    : magnitude_mask;
};

template <class T>
struct layout_of_t;
template <>
struct layout_of_t<double> : std::type_identity<FloatLayout<std::uint64_t, 11, 52>> {};
template <>
struct layout_of_t<float> : std::type_identity<FloatLayout<std::uint32_t, 8, 23>> {};
template <>
struct layout_of_t<f16> : std::type_identity<FloatLayout<std::uint16_t, 5, 10>> {};
template <>
struct layout_of_t<bf16> : std::type_identity<FloatLayout<std::uint16_t, 8, 7>> {};
template <>
struct layout_of_t<f8e4m3fn> : std::type_identity<FloatLayout<std::uint8_t, 4, 3, false>> {};
template <>
struct layout_of_t<f8e5m2> : std::type_identity<FloatLayout<std::uint8_t, 5, 2>> {};
template <class T>
using layout_of = typename layout_of_t<T>::type;

template <class T>
inline constexpr bool is_small_float_type = false;
template <>
inline constexpr bool is_small_float_type<f16> = true;
template <>
inline constexpr bool is_small_float_type<bf16> = true;
template <>
inline constexpr bool is_small_float_type<f8e4m3fn> = true;
template <>
inline constexpr bool is_small_float_type<f8e5m2> = true;

template <class T>
inline constexpr bool is_complex_type = category(dtype_of<T>) == Category::complex;

constexpr f16 real_part(c32 value) { return value.re; }
constexpr f16 imag_part(c32 value) { return value.im; }
template <class Part>
constexpr Part real_part(std::complex<Part> value) {
  return value.real();
}
template <class Part>
constexpr Part imag_part(std::complex<Part> value) {
  return value.imag();
}

template <class To>
struct part_of_t {};
template <>
struct part_of_t<c32> : std::type_identity<f16> {};
template <>
struct part_of_t<c64> : std::type_identity<float> {};
template <>
struct part_of_t<c128> : std::type_identity<double> {};

/// Every small float is a float; exact.
template <class From>
constexpr float widen(From value) {
  using Source = layout_of<From>;
  using Target = layout_of<float>;
  constexpr int shift = Target::fraction_bits - Source::fraction_bits;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & Source::sign_mask)
                             << (32 - 8 * sizeof(value.bits));
  const std::uint32_t magnitude = value.bits & Source::magnitude_mask;
  if constexpr (Source::bias == Target::bias) {  // bf16: only the fraction is shorter
    return std::bit_cast<float>(sign | magnitude << shift);
  } else {
    constexpr std::uint32_t rebias = (Target::bias - Source::bias) << Target::fraction_bits;
    constexpr std::uint32_t quiet = 1u << (Target::fraction_bits - 1);
    constexpr auto one_up = std::uint32_t{1} << Target::fraction_bits;
    const std::uint32_t aligned = magnitude << shift;
    // A subnormal has no hidden bit: give it one and subtract that again.
    const float subnormal =
        std::bit_cast<float>(aligned + rebias + one_up) - std::bit_cast<float>(rebias + one_up);
    const std::uint32_t special =
        Target::special | aligned |
        (magnitude > Source::special || !Source::has_infinity ? quiet : 0);
    std::uint32_t result = aligned + rebias;
    result = magnitude < (1u << Source::fraction_bits) ? std::bit_cast<std::uint32_t>(subnormal)
                                                       : result;
    result = magnitude >= Source::special ? special : result;
    return std::bit_cast<float>(sign | result);
  }
}

/// The NaN that a NaN of type `From` becomes, without its sign.
template <class To, class From>
constexpr auto narrow_nan([[maybe_unused]] typename layout_of<From>::Bits magnitude) {
  using Source = layout_of<From>;
  using Target = layout_of<To>;
  using Word = typename Target::Bits;
  if constexpr (std::is_same_v<To, f16>) {
    const auto payload = magnitude >> (Source::fraction_bits - Target::fraction_bits);
    constexpr Word quiet = 1 << (Target::fraction_bits - 1);
    return static_cast<Word>(Target::special | quiet | (payload & Target::magnitude_mask));
  } else if constexpr (std::is_same_v<To, bf16>) {
    return Word{0x7fc0};
  } else {
    return Target::magnitude_mask;
  }
}

/// Rounds a float or double to a small float, once, to nearest even.
template <class To, class From>
constexpr To narrow(From value) {
  using Source = layout_of<From>;
  using Target = layout_of<To>;
  using Wide = typename Source::Bits;
  using Word = typename Target::Bits;
  constexpr int shift = Source::fraction_bits - Target::fraction_bits;
  constexpr Wide rebias = static_cast<Wide>(Source::bias - Target::bias) << Target::fraction_bits;

  const Wide bits = std::bit_cast<Wide>(value);
  const Wide magnitude = bits & Source::magnitude_mask;
  // Adding just under half, plus one if the kept part is odd, carries exactly when rounding up
  // does; a carry out of the fraction increments the exponent, as it should.
  const Wide odd = magnitude >> shift & 1;
  const Wide rounded = (magnitude + ((Wide{1} << (shift - 1)) - 1) + odd) >> shift;
  Wide result = rounded - rebias;
  if constexpr (rebias != 0) {
    // Smaller than the smallest normal number: adding a power of two whose last place is worth the
    // target's smallest number leaves the processor to round; that power is subtracted as bits.
    constexpr Wide smallest_normal = static_cast<Wide>(Source::bias - Target::bias + 1)
                                     << Source::fraction_bits;
    constexpr Wide anchor = static_cast<Wide>(Source::bias - Target::bias + 1 + shift)
                            << Source::fraction_bits;
    const Wide subnormal =
        std::bit_cast<Wide>(std::bit_cast<From>(magnitude) + std::bit_cast<From>(anchor)) - anchor;
    result = magnitude < smallest_normal ? subnormal : result;
  }
  // `rounded` of the first number that is too large.
  constexpr Wide limit = rebias + Target::special;
  result = rounded >= limit ? Wide{Target::special} : result;
  const Wide nan = narrow_nan<To, From>(magnitude);
  result = magnitude > Source::special ? nan : result;
  constexpr bool keeps_nan_sign = !std::is_same_v<To, bf16>;
  const auto sign =
      static_cast<Word>(bits >> (8 * (sizeof(Wide) - sizeof(Word))) & Target::sign_mask);
  const bool has_sign = keeps_nan_sign || magnitude <= Source::special;
  return To{static_cast<Word>(static_cast<Word>(result) | (has_sign ? sign : Word{0}))};
}

/// A double that narrows to any small float as the integer itself would: 64-bit integers do not
/// fit, so the bits that don't are gathered in the last one, which no rounding to 11 bits or fewer
/// mistakes.
template <class From>
constexpr double sticky_double(From value) {
  if constexpr (sizeof(From) < 8) {
    return static_cast<double>(value);
  } else {
    const bool is_negative = value < 0;
    const auto unsigned_value = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = is_negative ? 0 - unsigned_value : unsigned_value;
    constexpr std::uint64_t lost = (1u << 11) - 1;
    const std::uint64_t kept = magnitude < (std::uint64_t{1} << 53)
                                   ? magnitude
                                   : (magnitude & ~lost) | ((magnitude & lost) != 0 ? lost + 1 : 0);
    const auto result = static_cast<double>(kept);
    return is_negative ? -result : result;
  }
}

/// Truncates to a signed integer; what does not fit, and NaN, is its smallest value.
template <class Integer, class From>
constexpr Integer truncate(From value) {
  constexpr auto lowest = static_cast<From>(std::numeric_limits<Integer>::min());  // exact: -2^k
  if constexpr (sizeof(From) > sizeof(Integer)) {
    // Here the type also holds numbers between -2^k - 1 and -2^k, which truncate to -2^k.
    return value > lowest - 1 && value < -lowest ? static_cast<Integer>(value)
                                                 : std::numeric_limits<Integer>::min();
  } else {
    return value >= lowest && value < -lowest ? static_cast<Integer>(value)
                                              : std::numeric_limits<Integer>::min();
  }
}

template <class From>
constexpr std::uint64_t truncate_to_u64(From value) {
  constexpr From two_to_63 = 9223372036854775808.0f;
  // In [2^63, 2^64) the subtraction is exact; outside, truncate() gives 2^63 for either.
  const bool is_upper = value >= two_to_63 && value < 2 * two_to_63;
  const auto low =
      static_cast<std::uint64_t>(truncate<std::int64_t>(is_upper ? value - two_to_63 : value));
  return is_upper ? low + (std::uint64_t{1} << 63) : low;
}

/// float or double -> integer other than bool.
template <class To, class From>
constexpr To to_integer(From value) {
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    return truncate_to_u64(value);
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, std::uint32_t> ||
                       std::is_same_v<To, std::uint8_t>) {
    return static_cast<To>(truncate<std::int64_t>(value));
  } else {
    return static_cast<To>(truncate<std::int32_t>(value));
  }
}

template <class To, class From>
constexpr To to_small_float(From value) {
  if constexpr (is_small_float_type<From>) {
    return narrow<To>(widen(value));
  } else if constexpr (std::is_floating_point_v<From>) {
    return narrow<To>(value);
  } else if constexpr (sizeof(From) <= 2) {
    return narrow<To>(static_cast<float>(value));
  } else {
    return narrow<To>(sticky_double(value));
  }
}

}  // namespace detail

/// Whether the value is different from zero; of a complex number, whether either part is.
template <class T>
constexpr bool is_nonzero(T value) {
  using namespace detail;
  if constexpr (is_complex_type<T>) {
    return is_nonzero(real_part(value)) || is_nonzero(imag_part(value));
  } else if constexpr (is_small_float_type<T>) {
    return (value.bits & layout_of<T>::magnitude_mask) != 0;
  } else {
    return value != 0;
  }
}

/// The value as the dtype that `To` stores; the rules are on top of this file.  Never undefined.
template <class To, class From>
constexpr To convert(From value) {
  using namespace detail;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_complex_type<To>) {
    using Part = typename part_of_t<To>::type;
    if constexpr (is_complex_type<From>)
      return To{convert<Part>(real_part(value)), convert<Part>(imag_part(value))};
    else
      return To{convert<Part>(value), Part{}};
  } else if constexpr (is_complex_type<From>) {
    return convert<To>(real_part(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return is_nonzero(value);
  } else if constexpr (is_small_float_type<To>) {
    return to_small_float<To>(value);
  } else if constexpr (is_small_float_type<From>) {
    return convert<To>(widen(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return to_integer<To>(value);
  } else {
    return static_cast<To>(value);  // integer to integer wraps; to float and double rounds once
  }
}

}  // namespace weft
