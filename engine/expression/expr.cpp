#include "engine/expression/expr_node.h"
#include "engine/expression/number_arithmetic.h"
#include "engine/expression/parameters.h"
#include "engine/messages/torch_names.h"
#include "engine/tensor/tensor_impl.h"

#include "ir/kernel.h"

#include <weft/error.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <utility>

namespace weft {

ExprNode::~ExprNode() {
  // The outermost destructor of a thread lets go of what the inner ones held, one node at a time.
  // The list leads through the nodes themselves: there may be no memory for another.
  thread_local std::shared_ptr<const ExprNode>* outermost = nullptr;
  std::shared_ptr<const ExprNode> own;
  const bool is_outermost = outermost == nullptr;
  if (is_outermost) outermost = &own;
  for (auto& arg : args) {
    std::shared_ptr<const ExprNode> held = std::move(arg);
    if (held.use_count() != 1 || held->args.empty()) continue;
    held->next_released = std::move(*outermost);
    *outermost = std::move(held);
  }
  if (!is_outermost) return;
  while (own != nullptr) {
    const std::shared_ptr<const ExprNode> node = std::move(own);
    own = std::move(node->next_released);
  }
  outermost = nullptr;
}

namespace {

std::shared_ptr<ExprNode> make_leaf(std::string name, const Tensor& tensor) {
  WEFT_CHECK(tensor.defined(), ArgumentError, "an expression reads an undefined tensor",
             name.empty() ? "" : ": ", name);
  auto node = std::make_shared<ExprNode>();
  node->kind = ExprNode::Kind::tensor;
  node->dtype = tensor.dtype();
  node->category = operand_category(tensor);
  node->tensor = tensor;
  node->layout_version = tensor.impl()->layout_version;
  node->name = std::move(name);
  return node;
}

bool is_bare_parameter(Op op, const Expr& arg, std::size_t index) {
  return arg.node().kind == ExprNode::Kind::scalar && is_parameter(op, index);
}

bool are_numbers(std::span<const Expr> args) {
  return std::ranges::all_of(
      args, [](const Expr& arg) { return arg.node().kind == ExprNode::Kind::scalar; });
}

/// The dtype in which `op` computes, from the arguments that take part in promotion.
DType compute_dtype(Op op, std::span<const Expr> args) {
  const OpInfo& row = info(op);
  PromotionState state;
  for (std::size_t i = row.result == ResultRule::select ? 1 : 0; i < args.size(); ++i)
    if (!is_bare_parameter(op, args[i], i) || promotes_as_parameter(op)) {
      // PyTorch multiplies by 2.0 ** exponent, which is f32 for integers.
      const bool is_whole_exponent = op == Op::ldexp && i == 1 && is_integral(args[i].dtype());
      state.add(is_whole_exponent ? DType::f32 : args[i].dtype(), args[i].node().category);
    }
  const DType common = *state.result();
  if (op == Op::square && is_boolean(common)) return DType::i64;  // as pow(x, 2)
  return promotes_integers(row.result) && is_integral(common) ? DType::f32 : common;
}

void check_subtraction(DType a, DType b) {
  WEFT_CHECK(
      !is_boolean(a) || !is_boolean(b), ArgumentError,
      "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
      "`logical_xor()` operator instead.");
  WEFT_CHECK(
      !is_boolean(a) && !is_boolean(b), ArgumentError,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
      "to invert a mask, use the `~` or `logical_not()` operator instead.");
}

/// Whether PyTorch refuses complex numbers before it looks at shapes and outputs, and not for want
/// of a kernel.
bool refuses_complex_first(Op op) {
  constexpr Op ops[] = {Op::maximum, Op::minimum, Op::fmax,  Op::fmin, Op::clamp,
                        Op::sign,    Op::signbit, Op::floor, Op::ceil, Op::trunc};
  return std::ranges::find(ops, op) != std::end(ops);
}

}  // namespace

std::string unsupported_reason(const ExprNode& node) {
  const OpInfo& row = info(node.op);
  if (node.kind != ExprNode::Kind::op || accepts(row.domain, node.compute_dtype)) return {};
  return detail::concat(called_name(node.op), "() does not take ", name(node.compute_dtype),
                        "; it takes ", describe(row.domain));
}

Expr step(const Expr& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  auto node = std::make_shared<ExprNode>(cast(x, dtype).node());
  node->is_step = wide_dtype(dtype) != dtype || wide_dtype(x.dtype()) != x.dtype();
  return Expr(std::move(node));
}

Expr::Expr(const Tensor& tensor) : node_(make_leaf({}, tensor)) {}

Expr::Expr(const Scalar& value) {
  auto node = std::make_shared<ExprNode>();
  node->kind = ExprNode::Kind::scalar;
  node->dtype = value.dtype();
  node->category = OperandCategory::number;
  node->scalar = value;
  node_ = std::move(node);
}

Expr Expr::named(std::string name, const Tensor& tensor) {
  return Expr(make_leaf(std::move(name), tensor));
}

DType Expr::dtype() const { return node_->dtype; }

namespace {

/// `base` to the power of a number, where PyTorch computes it by simpler operators.
std::optional<Expr> simple_power(const Expr& base, const Expr& exponent, DType common) {
  if (exponent.node().kind != ExprNode::Kind::scalar || base.node().kind == ExprNode::Kind::scalar)
    return {};
  const std::complex<double> number = exponent.node().scalar.as_complex();
  const bool rounds = is_floating(common) || is_complex(common);
  if (number.imag() != 0 || (!rounds && (number.real() != 2 || base.dtype() != common))) return {};
  const Expr x = base.dtype() == common ? base : cast(base, common);
  const auto square = [&] { return apply(Op::square, {x}); };
  if (number.real() == 0) return apply(Op::where, {Expr(true), Expr(1), x});
  if (number.real() == 1) return x;
  if (number.real() == 2) return square();
  if (number.real() == 3) return apply(Op::mul, {square(), x});
  if (number.real() == 0.5 && common != DType::f16) return apply(Op::sqrt, {x});
  if (number.real() == -0.5 && common != DType::f16) return apply(Op::rsqrt, {x});
  if (number.real() == -1) return apply(Op::reciprocal, {x});
  if (number.real() == -2) return apply(Op::reciprocal, {square()});
  return {};
}

/// Integers beyond i64 are elements of u64 only.
void check_number(Op op, const Expr& arg, DType common) {
  const ExprNode& node = arg.node();
  if (node.kind != ExprNode::Kind::scalar || !is_beyond_i64(node.scalar)) return;
  WEFT_CHECK(!is_integral(common) || common == DType::u64, ArgumentError, called_name(op),
             "(): value cannot be converted to type ", name(common),
             " without overflow: ", node.scalar.text());
}

}  // namespace

Expr apply(Op op, std::span<const Expr> args) {
  const OpInfo& row = info(op);
  WEFT_CHECK(is_callable(op), ArgumentError, "'", row.name, "' is not an operator of expressions");
  WEFT_CHECK(args.size() == static_cast<std::size_t>(row.arity), ArgumentError, row.name,
             "() takes ", row.arity, row.arity == 1 ? " argument" : " arguments", ", but ",
             args.size(), " were given");
  // What is filled in becomes what it is filled into, numbers of tensors as bare ones.
  if (op == Op::masked_fill && args[2].node().kind != ExprNode::Kind::scalar &&
      args[2].dtype() != args[1].dtype())
    return apply(op, {args[0], args[1], cast(args[2], args[1].dtype())});
  const DType common = compute_dtype(op, args);
  if (op == Op::sub || op == Op::sub_scaled) check_subtraction(args[0].dtype(), args[1].dtype());
  WEFT_CHECK(op != Op::neg || !is_boolean(common), ArgumentError, bool_negation);
  for (std::size_t i = 0; i < args.size(); ++i)
    if (is_bare_parameter(op, args[i], i))
      check_parameter(op, args[i].node().scalar,
                      are_numbers(args) ? number_dtype(common) : parameter_dtype(op, common));
  for (const Expr& arg : args) check_number(op, arg, common);
  // Masks of bytes are deprecated in PyTorch, and still there.
  WEFT_CHECK(op != Op::masked_fill || is_boolean(args[0].dtype()) || args[0].dtype() == DType::u8,
             ArgumentError, "masked_fill(): expected mask dtype to be bool, but got ",
             name(args[0].dtype()), "; by Op it is called with the mask first, as where()");
  if (op == Op::pow && is_integral(common) && args[1].node().kind == ExprNode::Kind::scalar)
    WEFT_CHECK(args[1].node().scalar.as_double() >= 0, ArithmeticError,
               "Integers to negative integer powers are not allowed.");
  if (op == Op::pow)
    if (const std::optional<Expr> power = simple_power(args[0], args[1], common)) return *power;
  if (const std::optional<Scalar> number = evaluate_numbers(op, args, common)) return *number;
  auto node = std::make_shared<ExprNode>();
  node->kind = ExprNode::Kind::op;
  node->op = op;
  node->compute_dtype = common;
  node->dtype = ir::result_dtype({.op = op, .dtype = common});
  node->category = OperandCategory::number;
  for (const Expr& arg : args) {
    node->category = std::min(node->category, arg.node().category);
    node->args.push_back(arg.shared_node());
  }
  if (is_complex(common) && refuses_complex_first(op))
    throw ArgumentError(unsupported_reason(*node));
  return Expr(std::move(node));
}

Expr cast(const Expr& value, DType dtype) {
  auto node = std::make_shared<ExprNode>();
  node->kind = ExprNode::Kind::cast;
  node->dtype = checked(dtype);
  node->compute_dtype = dtype;
  // A bare number that is cast has a dtype of its own from then on, like a 0-dim tensor.
  node->category = std::min(value.node().category, OperandCategory::zero_dim);
  node->args.push_back(value.shared_node());
  return Expr(std::move(node));
}

Expr cast(const Expr& value, DType dtype, CastOverflow overflow) {
  if (overflow != CastOverflow::saturates) return cast(value, dtype);
  WEFT_CHECK(is_small_float(checked(dtype)), ArgumentError, "a cast to ", name(dtype),
             " does not saturate; those to f16, bf16, f8e4m3fn and f8e5m2 do",
             is_integer(dtype) ? "; clamp and round the value before it is cast" : "");
  const Expr real = is_complex(value.dtype()) ? apply(Op::real, {value}) : value;
  const double largest = largest_finite(dtype);
  // f8e4m3fn alone has no infinities; no integer is beyond the largest bf16.
  const bool has_larger = is_floating(real.dtype()) ? real.dtype() != DType::f8e4m3fn
                                                    : !is_boolean(real.dtype()) && largest < 0x1p64;
  if (!has_larger) return cast(real, dtype);
  // In a dtype that has the bounds; integers within them are exact in it.
  const Expr wide = real.dtype() == DType::f64 ? real : cast(real, DType::f32);
  return cast(apply(Op::clamp, {wide, -largest, largest}), dtype);
}

}  // namespace weft
