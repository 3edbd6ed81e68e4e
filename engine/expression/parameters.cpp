#include "engine/expression/parameters.h"

#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weft {
namespace {

bool is_alpha(Op op) { return op == Op::add_scaled || op == Op::sub_scaled; }

/// Exactly, where a double would round the greatest to what no longer fits.  Unsigned dtypes take
/// negative numbers, as PyTorch's do.
bool holds_integer(DType dtype, const Scalar& value) {
  const int num_bits = 8 * static_cast<int>(itemsize_bytes(dtype));
  const std::int64_t low = value.as_integer();
  const bool is_beyond_i64 = low < 0 && value.as_double() > 0;
  if (is_beyond_i64) return num_bits == 64 && !is_signed(dtype);
  if (num_bits == 64) return true;
  const std::int64_t end = std::int64_t{1} << (is_signed(dtype) ? num_bits - 1 : num_bits);
  return low < end && (is_signed(dtype) ? low >= -end : low > -end);
}

bool holds(DType dtype, const Scalar& value) {
  if (is_complex(dtype) || is_boolean(dtype)) return true;
  if (value.kind() == Scalar::Kind::complex) return value.as_complex().imag() == 0;
  const double number = value.as_double();
  if (is_floating(dtype))
    return !std::isfinite(number) || std::abs(number) <= largest_finite(dtype);
  if (value.kind() != Scalar::Kind::floating) return holds_integer(dtype, value);
  const int num_bits = 8 * static_cast<int>(itemsize_bytes(dtype));
  const double end = std::ldexp(1.0, is_signed(dtype) ? num_bits - 1 : num_bits);
  return number < end && number >= (is_signed(dtype) ? -end : 0);
}

}  // namespace

std::string_view called_name(Op op) {
  switch (op) {
    case Op::add_scaled: return name(Op::add);
    case Op::sub_scaled: return name(Op::sub);
    case Op::round_decimals: return name(Op::round);
    case Op::softplus_beta: return name(Op::softplus);
    default: return name(op);
  }
}

bool is_parameter(Op op, std::size_t index) {
  switch (op) {
    case Op::clamp:
    case Op::clamp_min:
    case Op::clamp_max:
    case Op::pow:
    case Op::nan_to_num:
    case Op::round_decimals:
    case Op::logit_eps:
    case Op::softplus_beta:
    case Op::hardshrink:
    case Op::softshrink:
    case Op::threshold:
    case Op::hardtanh:
    case Op::celu:
    case Op::elu:
    case Op::leaky_relu: return index >= 1;
    case Op::add_scaled:
    case Op::sub_scaled:
    case Op::masked_fill:
    case Op::lerp: return index == 2;
    case Op::addcmul:
    case Op::addcdiv: return index == 3;
    default: return false;
  }
}

bool promotes_as_parameter(Op op) {
  return op == Op::clamp || op == Op::clamp_min || op == Op::clamp_max || op == Op::pow;
}

DType parameter_dtype(Op op, DType common) {
  constexpr Op ops[] = {Op::leaky_relu, Op::elu,  Op::celu,    Op::softplus_beta,
                        Op::softshrink, Op::lerp, Op::addcmul, Op::addcdiv};
  const bool is_wide = is_small_float(common) && std::ranges::find(ops, op) != std::end(ops);
  return is_wide ? DType::f32 : common;
}

bool keeps_numbers(const ExprNode& node) {
  if (parameter_dtype(node.op, node.compute_dtype) == node.compute_dtype) return false;
  for (std::size_t i = 1; i < node.args.size(); ++i)
    if (node.args[i]->kind == ExprNode::Kind::scalar && is_parameter(node.op, i)) return true;
  return false;
}

void check_parameter(Op op, const Scalar& value, DType dtype) {
  if (is_alpha(op)) {
    WEFT_CHECK(value.kind() != Scalar::Kind::boolean || is_boolean(dtype), ArgumentError,
               "Boolean alpha only supported for Boolean results.");
    WEFT_CHECK(value.kind() < Scalar::Kind::floating || !is_integral(dtype), ArgumentError,
               "For integral input tensors, argument alpha must not be a floating point number.");
    WEFT_CHECK(value.kind() != Scalar::Kind::complex || is_complex(dtype), ArgumentError,
               "For non-complex input tensors, argument alpha must not be a complex number.");
  }
  WEFT_CHECK(op != Op::softshrink || !(value.as_double() < 0), ArgumentError,
             "lambda must be greater or equal to 0, but found to be ", value.text(), ".");
  WEFT_CHECK(op != Op::celu || value.as_double() != 0, ArithmeticError,
             "ZeroDivisionError: alpha cannot be 0 for CELU");
  WEFT_CHECK(
      op != Op::hardtanh || !is_integer(dtype) || is_signed(dtype) || !(value.as_double() < 0),
      ArgumentError, "cannot do hardtanh on an unsigned type with negative limits: ", name(dtype),
      ", ", value.text());
  WEFT_CHECK(op != Op::round_decimals || std::trunc(value.as_double()) == value.as_double(),
             ArgumentError, "round(): decimals must be an integer, but is ", value.text());
  // Of integers nothing is replaced; of floats, what is too large is an infinity.
  if (op == Op::nan_to_num && value.kind() != Scalar::Kind::complex) return;
  // A power of f32 is computed with an exponent that is infinite then.
  if (op == Op::pow && dtype == DType::f32 && value.kind() != Scalar::Kind::complex) return;
  WEFT_CHECK(holds(dtype, value), ArgumentError, called_name(op),
             "(): value cannot be converted to type ", name(dtype),
             " without overflow: ", value.text());
}

}  // namespace weft
