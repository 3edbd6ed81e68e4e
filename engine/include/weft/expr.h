// Lazy expressions: what `a * b + c` on tensors builds, and what Engine::eval() compiles into one
// pass.
#pragma once

#include <weft/op.h>
#include <weft/tensor.h>

#include <array>
#include <complex>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

namespace [[gnu::visibility("default")]] weft {

struct ExprNode;

/// A node of an expression DAG.  Cheap to copy; immutable; shared sub-expressions are computed
/// once.
///
/// Dtypes follow PyTorch at every node, as if each op were called eagerly: tensors with dimensions,
/// 0-dim tensors and bare numbers are the three categories of promotion.
class Expr {
 public:
  Expr(const Tensor& tensor);  ///< reads the tensor
  Expr(const Scalar& value);   ///< a bare number
  template <class T>
  requires std::integral<T> || std::same_as<T, float> || std::same_as<T, double> Expr(T value)
      : Expr(Scalar(value)) {}
  template <class T>
  Expr(std::complex<T> value) : Expr(Scalar(std::complex<double>(value))) {}
  /// Requires: `node` is not null.
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  // What is moved is copied: no expression is ever without a node.
  Expr(const Expr&) = default;
  Expr& operator=(const Expr&) = default;

  /// A tensor with a name, which explain() and error messages use.
  static Expr named(std::string name, const Tensor& tensor);

  DType dtype() const;
  const ExprNode& node() const { return *node_; }
  const std::shared_ptr<const ExprNode>& shared_node() const { return node_; }

 private:
  std::shared_ptr<const ExprNode> node_;
};

/// `op` applied to `args`.
/// Errors: ArgumentError on a wrong number of arguments, and for bool operands of a subtraction;
///         ArithmeticError for parameters that no element has a result for, such as negative
///         exponents of integers.
///         Most dtypes that the op does not take are an error only of the call that computes the
///         expression, after shapes that don't match and outputs that can't take the result.
Expr apply(Op op, std::span<const Expr> args);
inline Expr apply(Op op, std::initializer_list<Expr> args) {
  return apply(op, std::span(args.begin(), args.size()));
}
/// Converts to `dtype`.
Expr cast(const Expr& value, DType dtype);

/// What a conversion makes of numbers beyond the largest of a small float.
enum class CastOverflow : std::uint8_t {
  overflows,  ///< as cast(): infinity, or NaN where the dtype has none
  saturates,  ///< the largest number, infinities included; NaN stays NaN
};
/// Errors: ArgumentError if `dtype` has to saturate and is not f16, bf16 or an 8-bit float.
Expr cast(const Expr& value, DType dtype, CastOverflow overflow);

// Operators as Python has them between tensors: `%` is remainder(), `~` of bool logical, and
// comparisons are elementwise, so that `==` is an expression and no bool.
inline Expr operator+(const Expr& a, const Expr& b) { return apply(Op::add, {a, b}); }
inline Expr operator-(const Expr& a, const Expr& b) { return apply(Op::sub, {a, b}); }
inline Expr operator*(const Expr& a, const Expr& b) { return apply(Op::mul, {a, b}); }
inline Expr operator/(const Expr& a, const Expr& b) { return apply(Op::div, {a, b}); }
inline Expr operator%(const Expr& a, const Expr& b) { return apply(Op::remainder, {a, b}); }
inline Expr operator<(const Expr& a, const Expr& b) { return apply(Op::lt, {a, b}); }
inline Expr operator<=(const Expr& a, const Expr& b) { return apply(Op::le, {a, b}); }
inline Expr operator>(const Expr& a, const Expr& b) { return apply(Op::gt, {a, b}); }
inline Expr operator>=(const Expr& a, const Expr& b) { return apply(Op::ge, {a, b}); }
inline Expr operator==(const Expr& a, const Expr& b) { return apply(Op::eq, {a, b}); }
inline Expr operator!=(const Expr& a, const Expr& b) { return apply(Op::ne, {a, b}); }
inline Expr operator&(const Expr& a, const Expr& b) { return apply(Op::bitwise_and, {a, b}); }
inline Expr operator|(const Expr& a, const Expr& b) { return apply(Op::bitwise_or, {a, b}); }
inline Expr operator^(const Expr& a, const Expr& b) { return apply(Op::bitwise_xor, {a, b}); }
inline Expr operator<<(const Expr& a, const Expr& b) {
  return apply(Op::bitwise_left_shift, {a, b});
}
inline Expr operator>>(const Expr& a, const Expr& b) {
  return apply(Op::bitwise_right_shift, {a, b});
}
inline Expr operator-(const Expr& a) { return apply(Op::neg, {a}); }
inline Expr operator~(const Expr& a) { return apply(Op::bitwise_not, {a}); }

// `sum += a * b` makes `sum` the larger expression; no tensor is written.
inline Expr& operator+=(Expr& a, const Expr& b) { return a = a + b; }
inline Expr& operator-=(Expr& a, const Expr& b) { return a = a - b; }
inline Expr& operator*=(Expr& a, const Expr& b) { return a = a * b; }
inline Expr& operator/=(Expr& a, const Expr& b) { return a = a / b; }
inline Expr& operator%=(Expr& a, const Expr& b) { return a = a % b; }
inline Expr& operator&=(Expr& a, const Expr& b) { return a = a & b; }
inline Expr& operator|=(Expr& a, const Expr& b) { return a = a | b; }
inline Expr& operator^=(Expr& a, const Expr& b) { return a = a ^ b; }
inline Expr& operator<<=(Expr& a, const Expr& b) { return a = a << b; }
inline Expr& operator>>=(Expr& a, const Expr& b) { return a = a >> b; }

/// `op` as PyTorch's function of its name is called, arguments by position: parameters with
/// defaults may be left out or added (`clamp(x, 0)`, `softplus(x, 2, 20)`, `add(x, y, alpha)`,
/// `round(x, 2)`), and masked_fill takes input, mask, value.
///
/// Errors: ArgumentError on a number of arguments that the function does not take.
Expr call_function(Op op, std::span<const Expr> args);

// One function a row of the op table: exp(x), maximum(x, y), where(mask, x, y) ...
namespace detail {
template <int arity>
struct ExprFunction {
  Op op;
  template <class... Args>
  requires(sizeof...(Args) > 0 && (std::convertible_to<const Args&, Expr> && ...)) Expr operator()(
      const Args&... args) const {
    const std::array<Expr, sizeof...(Args)> array{Expr(args)...};
    const std::span<const Expr> all(array);
    const bool is_plain = sizeof...(Args) == arity && op != Op::masked_fill;
    return is_plain ? apply(op, all) : call_function(op, all);
  }
};
}  // namespace detail

/// `weft::ops::tanh(a * b + c)`.  A short name for the namespace (`namespace w = weft::ops;`) is
/// safer than `using namespace`: the functions of <cmath> have the same names.
namespace ops {
#define WEFT_OP(name, arity, domain, result, form, expression) \
  inline constexpr detail::ExprFunction<arity> name{Op::name};
#include <weft/ops.def>
#undef WEFT_OP

/// Mantissa and exponent, x = mantissa * 2^exponent: `engine.eval(frexp(x))` is one pass.
inline std::array<Expr, 2> frexp(const Expr& x) { return {frexp_mantissa(x), frexp_exponent(x)}; }
}  // namespace ops

/// Reads an expression in Python's spelling over named tensors: `tanh(a*b + c)`, `where(m, a, 0)`,
/// `cast(a, bf16)`, `cast(a, f8e5m2, saturate=true)`, `copy(a)`, `a < b`, `2j`; PyTorch's keywords
/// and defaults: `clamp(a, max=1)`, `div(a, b, rounding_mode='floor')`, `round(a, decimals=2)`;
/// reductions and scans: `sum(a, dims=[0, 2], keepdim=true)`, `cumsum(a, dim=0)`.
///
/// Errors: ArgumentError, or ArithmeticError where apply() has one, whose message shows the text
///         with a caret under the place.
Expr parse_expr(std::string_view text, std::span<const std::pair<std::string, Tensor>> names);
/// As parse_expr() reads it; tensors without a name are t0, t1 ...  Cut off with "..." after 64
/// KiB.  The last step of a reduction of small floats is a cast in it, which rounds where it is
/// read and did not before, other than under Numerics::strict.
std::string text(const Expr& expr);

/// Reads the layout notation: DTYPE[s0,s1,...], then {t0,t1,...} or :channels_last or
/// :channels_last_3d, then @offset.  The tensor has no bytes (unbacked()).
///
/// Errors: ArgumentError with a caret under the place.
Tensor parse_layout(std::string_view text);

}  // namespace weft
