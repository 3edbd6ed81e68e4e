// promote_types().  Rules instead of a table of 18 x 18: each category has one line of reasoning.
#include <weft/promote.h>

#include <weft/error.h>

#include <algorithm>

namespace weft {

namespace {

bool is_f8(DType dtype) { return dtype == DType::f8e4m3fn || dtype == DType::f8e5m2; }

/// Two different integer dtypes: the smaller fits into the larger, or both into a signed one of
/// twice the size.
DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return itemsize_bytes(a) > itemsize_bytes(b) ? a : b;
  const DType with_sign = is_signed(a) ? a : b;
  const DType without_sign = is_signed(a) ? b : a;
  WEFT_CHECK(
      without_sign != DType::u64, ArgumentError, "Promotion of u64 with a signed integer is ",
      "not supported, because no integer dtype holds the values of both, attempted to promote ",
      name(a), " and ", name(b), ". Please write cast(x, i64) for the u64 operand x, or ",
      "cast(x, u64) for the ", name(with_sign), " operand x.");
  const std::size_t size_bytes =
      std::max(itemsize_bytes(with_sign), 2 * itemsize_bytes(without_sign));
  return signed_of_size(size_bytes);
}

/// Two different floating dtypes of 16 bits or more.
DType promote_floats(DType a, DType b) {
  if (itemsize_bytes(a) != itemsize_bytes(b)) return itemsize_bytes(a) > itemsize_bytes(b) ? a : b;
  return DType::f32;  // f16 and bf16: neither holds the other
}

/// The smallest complex dtype whose parts hold `real`.
DType complex_of(DType real) {
  switch (real) {
    case DType::f16: return DType::c32;
    case DType::f64: return DType::c128;
    default: return DType::c64;
  }
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  WEFT_CHECK(!is_f8(a) && !is_f8(b), ArgumentError,
             "Promotion for Float8 Types is not supported, attempted to promote ", name(a), " and ",
             name(b));
  if (category(a) != category(b)) {
    const DType higher = category(a) > category(b) ? a : b;
    const DType lower = category(a) > category(b) ? b : a;
    // Only a real floating part can widen a complex dtype: c64 and i64 meet in c64.
    if (!is_complex(higher) || !is_floating(lower)) return higher;
    const DType part = real_dtype(higher);
    return complex_of(part == lower ? part : promote_floats(part, lower));
  }
  if (is_complex(a)) return itemsize_bytes(a) > itemsize_bytes(b) ? a : b;
  return is_floating(a) ? promote_floats(a, b) : promote_integers(a, b);
}

}  // namespace weft
