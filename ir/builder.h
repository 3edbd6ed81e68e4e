// Builder and Value: writing IR as if it were arithmetic.  The expressions of the op table run on
// Values as they run on numbers (ir/number.h): that is how composites are rebuilt.
#pragma once

#include "ir/kernel.h"

#include <initializer_list>
#include <span>
#include <vector>

namespace weft::ir {

class Builder;

/// The result of an instruction.  Cheap to copy; valid while its builder lives.
struct Value {
  Builder* builder = nullptr;
  ValueId id = no_value;
  DType dtype = DType::f32;
};

/// Appends instructions to a body.
class Builder {
 public:
  explicit Builder(std::vector<Inst>& body) : body_(body) {}

  /// Appends `inst` as it is.
  Value append(const Inst& inst);
  const std::vector<Inst>& body() const { return body_; }
  /// An earlier instruction's value.
  Value value(ValueId id) { return {this, id, result_dtype(body_[id])}; }

  Value constant(DType dtype, Bits bits);
  /// The element of `dtype` nearest to `number`.
  Value constant(DType dtype, double number);
  Value load(std::uint8_t operand, DType dtype);
  Value param(std::uint8_t index, DType dtype);
  void store(std::uint8_t operand, Value value);
  /// Nothing is appended if the dtype is already right.
  Value cast(Value value, DType dtype);
  Value bitcast(Value value, DType dtype);

  /// An op of the table on values of one dtype.  Ops on bool that are logic become that, and what
  /// leaves integers or real numbers as they are (floor, conj) returns its argument.
  Value apply(Op op, std::span<const Value> args);
  Value apply(Op op, std::initializer_list<Value> args) {
    return apply(op, std::span<const Value>(args.begin(), args.size()));
  }
  /// The row's expression, in primitives and other rows' ops.
  Value expand(Op op, std::span<const Value> args);
  /// Brings what was appended since `first` into the order of a walk from `result`, arguments first
  /// and left to right, and drops what that does not need.  Compilers evaluate the operands of a
  /// C++ expression in different orders; this makes their IR the same.  Requires: no stores since
  /// `first`.
  Value in_order(std::size_t first, Value result);

 private:
  Value apply_to_bool(Op op, std::span<const Value> args);
  Value run_expression(Op op, std::span<const Value> args);
  std::vector<Inst>& body_;
};

// One function a row: exp(x), maximum(x, y), where(mask, x, y) ...
namespace internal {
template <class... Values>
Value call(Op op, const Value& first, const Values&... rest) {
  return first.builder->apply(op, {first, rest...});
}
}  // namespace internal
#define WEFT_PARAMETERS_1 const Value& x
#define WEFT_PARAMETERS_2 const Value &x, const Value &y
#define WEFT_PARAMETERS_3 const Value &x, const Value &y, const Value &z
#define WEFT_PARAMETERS_4 const Value &x, const Value &y, const Value &z, const Value &w
#define WEFT_ARGUMENTS_1 x
#define WEFT_ARGUMENTS_2 x, y
#define WEFT_ARGUMENTS_3 x, y, z
#define WEFT_ARGUMENTS_4 x, y, z, w
#define WEFT_OP(name, arity, domain, result, form, expression) \
  inline Value name(WEFT_PARAMETERS_##arity) {                 \
    return internal::call(Op::name, WEFT_ARGUMENTS_##arity);   \
  }
#include <weft/float_parts.def>
#include <weft/ops.def>
#undef WEFT_OP
#undef WEFT_PARAMETERS_1
#undef WEFT_PARAMETERS_2
#undef WEFT_PARAMETERS_3
#undef WEFT_PARAMETERS_4
#undef WEFT_ARGUMENTS_1
#undef WEFT_ARGUMENTS_2
#undef WEFT_ARGUMENTS_3
#undef WEFT_ARGUMENTS_4

inline Value operator+(const Value& x, const Value& y) { return add(x, y); }
inline Value operator-(const Value& x, const Value& y) { return sub(x, y); }
inline Value operator*(const Value& x, const Value& y) { return mul(x, y); }
inline Value operator/(const Value& x, const Value& y) { return div(x, y); }
inline Value operator-(const Value& x) { return neg(x); }
inline Value operator==(const Value& x, const Value& y) { return eq(x, y); }
inline Value operator!=(const Value& x, const Value& y) { return ne(x, y); }
inline Value operator<(const Value& x, const Value& y) { return lt(x, y); }
inline Value operator<=(const Value& x, const Value& y) { return le(x, y); }
inline Value operator>(const Value& x, const Value& y) { return gt(x, y); }
inline Value operator>=(const Value& x, const Value& y) { return ge(x, y); }
inline Value operator&(const Value& x, const Value& y) { return bitwise_and(x, y); }
inline Value operator|(const Value& x, const Value& y) { return bitwise_or(x, y); }
inline Value operator^(const Value& x, const Value& y) { return bitwise_xor(x, y); }
inline Value operator~(const Value& x) { return bitwise_not(x); }
inline Value operator<<(const Value& x, const Value& y) { return bitwise_left_shift(x, y); }
inline Value operator>>(const Value& x, const Value& y) { return bitwise_right_shift(x, y); }
// Masks.  Both sides are computed.
inline Value operator&&(const Value& x, const Value& y) { return bitwise_and(x, y); }
inline Value operator||(const Value& x, const Value& y) { return bitwise_or(x, y); }
inline Value operator!(const Value& x) { return bitwise_not(x); }
inline Value select(const Value& mask, const Value& x, const Value& y) { return where(mask, x, y); }

// What templates over Number and Value ask of x.
inline Value like(const Value& x, double constant) {
  return x.builder->constant(x.dtype, constant);
}
/// A constant that depends on the precision computed in.
inline Value like(const Value& x, double for_f32, double for_f64) {
  return like(x, itemsize_bytes(real_dtype(x.dtype)) == 8 ? for_f64 : for_f32);
}
inline bool is_integral_type(const Value& x) { return is_integral(x.dtype); }
inline bool is_complex_type(const Value& x) { return is_complex(x.dtype); }
inline bool is_wide_type(const Value& x) { return itemsize_bytes(x.dtype) >= 4; }
inline Value to_double(const Value& x) { return x.builder->cast(x, DType::f64); }
inline Value to_single(const Value& x) { return x.builder->cast(x, DType::f32); }
inline Value to_i32(const Value& x) { return x.builder->cast(x, DType::i32); }
/// An integer of the same size as a float.
inline Value to_float(const Value& x, const Value& integer) {
  return x.builder->cast(integer, x.dtype);
}
/// real(x) or, for a complex dtype, complex(x).
template <class Real, class Complex>
Value by_kind(const Value& x, Real of_real, Complex of_complex) {
  return is_complex(x.dtype) ? of_complex(x) : of_real(x);
}
/// singles(x) for complex numbers of two f32, else doubles(x).
template <class Singles, class Doubles>
Value by_part_precision(const Value& x, Singles singles, Doubles doubles) {
  return x.dtype == DType::c64 ? singles(x) : doubles(x);
}
/// single(x) in f32 for f32 and smaller floats, else of_double(x).
template <class Single, class Double>
Value by_precision(const Value& x, Single single, Double of_double) {
  if (x.dtype == DType::f64) return of_double(x);
  const Value result = single(to_single(x));
  return result.dtype == DType::f32 ? x.builder->cast(result, x.dtype) : result;
}
template <class Single, class Double>
Value by_precision(const Value& x, const Value& y, Single single, Double of_double) {
  if (x.dtype == DType::f64) return of_double(x, y);
  return x.builder->cast(single(to_single(x), to_single(y)), x.dtype);
}
/// A float's bits as a signed integer; an integer as it is.
Value to_bits(const Value& x);
inline Value from_bits(const Value& x, const Value& bits) {
  return x.builder->bitcast(bits, x.dtype);
}
/// The integer that has only its sign bit set.
Value sign_mask(const Value& x);

}  // namespace weft::ir
