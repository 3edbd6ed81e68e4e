#include "ir/combine.h"

#include <limits>

namespace weft::ir {
namespace {

/// The largest or smallest element, infinities of floats; NaN of f8e4m3fn, which has none.
Bits extreme(DType dtype, bool is_largest) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      return Scalar(is_largest ? Limits::max() : Limits::min()).bits(dtype);
    } else {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      return Scalar(is_largest ? infinity : -infinity).bits(dtype);
    }
  });
}

/// The same of numbers alone, of which NaN is none: it would win.
Bits extreme_number(DType dtype, bool is_largest) {
  if (dtype == DType::f8e4m3fn) return Scalar(is_largest ? 448.0 : -448.0).bits(dtype);
  return extreme(dtype, is_largest);
}

/// The integer whose bits are all set; true of bool.
Bits all_ones(DType dtype) {
  return is_boolean(dtype) ? Scalar(true).bits(dtype) : Scalar(-1).bits(dtype);
}

}  // namespace

std::optional<Bits> identity_of(Op op, DType dtype) {
  switch (op) {
    case Op::add:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::gcd:
    case Op::hypot: return Bits();
    case Op::mul: return Scalar(1).bits(dtype);
    case Op::bitwise_and: return all_ones(dtype);
    case Op::maximum: return extreme_number(dtype, false);
    case Op::minimum: return extreme_number(dtype, true);
    case Op::logaddexp:
    case Op::logaddexp2: return extreme(dtype, false);
    default: return {};
  }
}

}  // namespace weft::ir
