#include "engine/expression/number_arithmetic.h"

#include "engine/expression/expr_node.h"
#include "engine/expression/program.h"
#include "ir/evaluate.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>

namespace weft {
namespace {

__extension__ using Wide = __int128;  // holds every i64 and u64, and their sums

Wide wide(const Scalar& value) {
  const std::int64_t low = value.as_integer();
  const bool is_large_unsigned = low < 0 && value.as_double() > 0;
  return is_large_unsigned ? Wide{static_cast<std::uint64_t>(low)} : Wide{low};
}

Scalar narrow(Wide value) {
  WEFT_CHECK(value >= INT64_MIN && value <= Wide{UINT64_MAX}, ArgumentError,
             "the result of this integer arithmetic does not fit 64 bits");
  if (value > INT64_MAX) return Scalar(static_cast<std::uint64_t>(value));
  return Scalar(static_cast<std::int64_t>(value));
}

Wide product(Wide x, Wide y) {
  Wide result;
  WEFT_CHECK(!__builtin_mul_overflow(x, y, &result), ArgumentError,
             "the result of this integer arithmetic does not fit 64 bits");
  return result;
}

void check_divisor(bool is_zero) {
  WEFT_CHECK(!is_zero, ArgumentError, "division of a number by zero");
}

Wide floor_divide(Wide x, Wide y) {
  check_divisor(y == 0);
  const Wide quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}

/// x / y of integers, rounded once.
double true_quotient(Wide x, Wide y) {
  if (x == 0) return y < 0 ? -0.0 : 0.0;
  Wide dividend = x < 0 ? -x : x;
  const Wide divisor = y < 0 ? -y : y;
  int shift = 0;
  for (; dividend >> 125 == 0; ++shift) dividend <<= 1;
  // More than 60 bits, and one that says whether anything is behind them.
  const Wide quotient = dividend / divisor | Wide{dividend % divisor != 0};
  const double size = std::ldexp(static_cast<double>(quotient), -shift);
  return (x < 0) != (y < 0) ? -size : size;
}

// Every factor but 0, 1 and -1 leaves 64 bits after at most 64 multiplications.
Scalar integer_power(Wide base, Wide exponent) {
  if (exponent < 0) {
    check_divisor(base == 0);
    return Scalar(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  if (base == 0 || base == 1) return narrow(exponent == 0 ? 1 : base);
  if (base == -1) return narrow(exponent % 2 == 0 ? 1 : -1);
  Wide result = 1;
  for (Wide i = 0; i < exponent; ++i) {
    result = product(result, base);
    narrow(result);  // for its check
  }
  return narrow(result);
}

Wide shift(Op op, Wide x, Wide count) {
  WEFT_CHECK(count >= 0, ArgumentError, "negative shift count");
  if (op == Op::bitwise_right_shift)
    return count > 64 ? (x < 0 ? -1 : 0) : x >> static_cast<int>(count);
  WEFT_CHECK(x == 0 || count <= 63, ArgumentError,
             "the result of this integer arithmetic does not fit 64 bits");
  return x == 0 ? 0 : x * (Wide{1} << static_cast<int>(count));
}

template <class T>
std::optional<Scalar> compare(Op op, const T& x, const T& y) {
  switch (op) {
    case Op::eq: return Scalar(x == y);
    case Op::ne: return Scalar(x != y);
    case Op::lt: return Scalar(x < y);
    case Op::le: return Scalar(x <= y);
    case Op::gt: return Scalar(x > y);
    case Op::ge: return Scalar(x >= y);
    default: return {};
  }
}

std::optional<Scalar> combine_integers(Op op, Wide x, Wide y) {
  switch (op) {
    case Op::add: return narrow(x + y);
    case Op::sub: return narrow(x - y);
    case Op::mul: return narrow(product(x, y));
    case Op::div: check_divisor(y == 0); return Scalar(true_quotient(x, y));
    case Op::div_floor: return narrow(floor_divide(x, y));
    case Op::remainder: return narrow(x - floor_divide(x, y) * y);
    case Op::pow: return integer_power(x, y);
    case Op::bitwise_left_shift:
    case Op::bitwise_right_shift: return narrow(shift(op, x, y));
    case Op::bitwise_and: return narrow(x & y);
    case Op::bitwise_or: return narrow(x | y);
    case Op::bitwise_xor: return narrow(x ^ y);
    default: return compare(op, x, y);
  }
}

double float_remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(0.0, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

Bits bits_of(double x) { return {std::bit_cast<std::uint64_t>(x), 0}; }
Bits bits_of(std::complex<double> x) { return {bits_of(x.real()).lo, bits_of(x.imag()).lo}; }

/// What the op table makes of two numbers, where that is what Python does, too.
double evaluated(Op op, double x, double y) {
  const std::array args{bits_of(x), bits_of(y)};
  return std::bit_cast<double>(ir::evaluate({.op = op, .dtype = DType::f64}, args, DType::f64).lo);
}
std::complex<double> evaluated(Op op, std::complex<double> x, std::complex<double> y) {
  const std::array args{bits_of(x), bits_of(y)};
  const Bits result = ir::evaluate({.op = op, .dtype = DType::c128}, args, DType::c128);
  return {std::bit_cast<double>(result.lo), std::bit_cast<double>(result.hi)};
}

/// As Python's: whole powers by products, and nothing to the power of 0 is 1.
std::complex<double> complex_power(std::complex<double> base, std::complex<double> exponent) {
  if (exponent == 0.0) return 1;
  check_divisor(base == 0.0 && (exponent.imag() != 0 || exponent.real() < 0));
  if (base == 0.0) return 0;
  const double whole = std::trunc(exponent.real());
  if (exponent != std::complex(whole) || std::abs(whole) > 100) return std::pow(base, exponent);
  std::complex<double> power = 1;
  for (auto left = static_cast<int>(std::abs(whole)); left != 0; left /= 2) {
    if (left % 2 != 0) power = evaluated(Op::mul, power, base);
    base = evaluated(Op::mul, base, base);
  }
  return whole < 0 ? evaluated(Op::div, std::complex(1.0), power) : power;
}

std::optional<Scalar> combine_floats(Op op, double x, double y) {
  switch (op) {
    case Op::add: return Scalar(x + y);
    case Op::sub: return Scalar(x - y);
    case Op::mul: return Scalar(x * y);
    case Op::div: check_divisor(y == 0); return Scalar(x / y);
    case Op::remainder: check_divisor(y == 0); return Scalar(float_remainder(x, y));
    case Op::div_floor: check_divisor(y == 0); return Scalar(evaluated(op, x, y));
    case Op::pow:
      if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y))
        return Scalar(std::pow(std::complex<double>(x), y));
      check_divisor(x == 0 && y < 0 && std::isfinite(y));
      return Scalar(std::pow(x, y));
    default: return {};
  }
}

std::optional<Scalar> combine_complex(Op op, std::complex<double> x, std::complex<double> y) {
  switch (op) {
    case Op::add: return Scalar(x + y);
    case Op::sub: return Scalar(x - y);
    case Op::mul: return Scalar(evaluated(op, x, y));
    case Op::div: check_divisor(y == 0.0); return Scalar(evaluated(op, x, y));
    case Op::pow: return Scalar(complex_power(x, y));
    case Op::eq: return Scalar(x == y);
    case Op::ne: return Scalar(x != y);
    default: return {};
  }
}

bool is_bitwise(Op op) {
  return op == Op::bitwise_and || op == Op::bitwise_or || op == Op::bitwise_xor;
}

}  // namespace

std::optional<Scalar> combine_numbers(Op op, const Scalar& x, const Scalar& y) {
  const Scalar::Kind kind = std::max(x.kind(), y.kind());
  if (kind == Scalar::Kind::complex) return combine_complex(op, x.as_complex(), y.as_complex());
  if (kind == Scalar::Kind::floating) {
    // An integer of 64 bits next to a double is compared as it is.
    const auto exact = [](const Scalar& value) {
      return value.kind() == Scalar::Kind::floating ? static_cast<long double>(value.as_double())
                                                    : static_cast<long double>(wide(value));
    };
    const std::optional<Scalar> result = combine_floats(op, x.as_double(), y.as_double());
    return result ? result : compare(op, exact(x), exact(y));
  }
  const std::optional<Scalar> result = combine_integers(op, wide(x), wide(y));
  const bool stays_boolean = kind == Scalar::Kind::boolean && is_bitwise(op);
  if (result && stays_boolean) return Scalar(result->as_integer() != 0);
  return result;
}

std::optional<Scalar> combine_numbers(Op op, const Scalar& x) {
  const bool is_integer = x.kind() <= Scalar::Kind::integer;
  if (op == Op::bitwise_not && x.kind() == Scalar::Kind::boolean) return Scalar(!x.as_integer());
  if (op == Op::bitwise_not && is_integer) return narrow(-wide(x) - 1);
  if (op != Op::neg) return {};
  if (is_integer) return narrow(-wide(x));
  if (x.kind() == Scalar::Kind::floating) return Scalar(-x.as_double());
  return Scalar(-x.as_complex());
}

DType number_dtype(DType common) {
  return common == DType::f32 ? DType::f64 : common == DType::c64 ? DType::c128 : common;
}

std::optional<Scalar> evaluate_numbers(Op op, std::span<const Expr> args, DType common) {
  const OpInfo& row = info(op);
  if (op == Op::nextafter || !computes_in(row.domain, row.result, common)) return {};
  const DType wide = number_dtype(common);
  std::array<Bits, max_arity> bits;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ExprNode& node = args[i].node();
    if (node.kind != ExprNode::Kind::scalar) return {};
    const bool is_mask = row.result == ResultRule::select && i == 0;
    bits[i] = node.scalar.bits(is_mask ? DType::boolean : wide);
  }
  if (divides_integers(op, common) && bits[1] == Bits()) return {};
  const ir::Inst inst{.op = op, .dtype = wide};
  const auto value = [&] { return ir::evaluate(inst, std::span(bits).first(args.size()), wide); };
  switch (ir::result_dtype(inst)) {
    case DType::boolean: return Scalar(value().lo != 0);
    case DType::i64: return Scalar(static_cast<std::int64_t>(value().lo));
    case DType::f64: return Scalar(std::bit_cast<double>(value().lo));
    case DType::c128: {
      const Bits parts = value();
      return Scalar(std::complex(std::bit_cast<double>(parts.lo), std::bit_cast<double>(parts.hi)));
    }
    default: return {};
  }
}

}  // namespace weft
