// Casts and literals, with the results of weft/convert.h.
#include "jit/nvrtc/operators.h"

#include <weft/error.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace weft::jit::nvrtc {
namespace {

bool is_wide_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// A number with so many digits that reading it gives the same bits; printf would write the
/// decimal point of the program's locale.
std::string decimal(double value, int digits) {
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string hexadecimal(std::uint64_t bits, const char* suffix) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "0x%llx%s", static_cast<unsigned long long>(bits), suffix);
  return buffer;
}

std::string integer_literal(DType dtype, std::uint64_t bits) {
  const std::size_t width = 8 * itemsize_bytes(dtype);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t pattern = bits & mask;
  constexpr std::uint64_t largest_decimal = 1 << 16;
  return detail::concat(
      value_type(dtype), "(",
      pattern < largest_decimal ? std::to_string(pattern) : hexadecimal(pattern, "ull"), ")");
}

}  // namespace

bool has_cast(DType from, DType to) {
  if (from == to) return true;
  const auto is_plain = [](DType dtype) { return is_integral(dtype) || is_wide_float(dtype); };
  if (is_plain(from) && is_plain(to)) return true;
  if (from == DType::c64 || from == DType::c128) return to == DType::c64 || to == DType::c128;
  return (from == DType::f16 && to == DType::f32) || (from == DType::f32 && to == DType::f16);
}

std::string cast_text(const std::string& value, DType from, DType to) {
  WEFT_ASSERT(has_cast(from, to), name(from), " to ", name(to));
  if (from == to) return value;
  if (from == DType::f16) return "half_to_float(" + value + ")";
  if (to == DType::f16) return "float_to_half(" + value + ")";
  if (from == DType::f64 && to == DType::f32) return "double_to_float(" + value + ")";
  if (from == DType::f32 && to == DType::f64) return "float_to_double(" + value + ")";
  if (to == DType::c128) return "complex_to_double(" + value + ")";
  if (to == DType::c64) return "complex_to_float(" + value + ")";
  const std::string type(value_type(to));
  if (is_boolean(to)) return value + " != 0";
  if (!is_wide_float(from) || is_wide_float(to)) return type + "(" + value + ")";
  if (to == DType::u64) return "truncate_to_u64(" + value + ")";
  const bool through_i64 = itemsize_bytes(to) == 8 || to == DType::u32;
  return type + (through_i64 ? "(truncate_to_i64(" : "(truncate_to_i32(") + value + "))";
}

std::string bitcast_text(const std::string& value, DType from, DType to) {
  if (from == DType::f32) return std::string(value_type(to)) + "(__float_as_uint(" + value + "))";
  if (from == DType::f64)
    return std::string(value_type(to)) + "(__double_as_longlong(" + value + "))";
  if (to == DType::f32) return "__uint_as_float(u32(" + value + "))";
  if (to == DType::f64) return "__longlong_as_double(i64(" + value + "))";
  return std::string(value_type(to)) + "(" + value + ")";
}

std::string constant_text(DType dtype, const Bits& bits) {
  if (is_boolean(dtype)) return bits.lo != 0 ? "true" : "false";
  if (dtype == DType::f32) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits.lo));
    if (std::isfinite(value)) return decimal(static_cast<double>(value), 9) + "f";
    return "__uint_as_float(" + hexadecimal(bits.lo, "u") + ")";
  }
  if (dtype == DType::f64) {
    const auto value = std::bit_cast<double>(bits.lo);
    if (std::isfinite(value)) return decimal(value, 17);
    return "__longlong_as_double(i64(" + hexadecimal(bits.lo, "ull") + "))";
  }
  if (dtype == DType::c128)
    return "u128{" + hexadecimal(bits.lo, "ull") + ", " + hexadecimal(bits.hi, "ull") + "}";
  return integer_literal(dtype, bits.lo);
}

std::string from_word_text(const std::string& word, DType dtype) {
  if (is_boolean(dtype)) return "u8(" + word + ") != 0";
  if (dtype == DType::f32) return "__uint_as_float(u32(" + word + "))";
  if (dtype == DType::f64) return "__longlong_as_double(i64(" + word + "))";
  return std::string(value_type(dtype)) + "(" + word + ")";
}

}  // namespace weft::jit::nvrtc
