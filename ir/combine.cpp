#include "ir/combine.h"

#include <limits>

namespace weft::ir {
namespace {

/// The largest or smallest element; infinities where the dtype has them.
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
    case Op::maximum: return extreme(dtype, false);
    case Op::minimum: return extreme(dtype, true);
    case Op::logaddexp:
    case Op::logaddexp2: return extreme(dtype, false);
    default: return {};
  }
}

}  // namespace weft::ir
