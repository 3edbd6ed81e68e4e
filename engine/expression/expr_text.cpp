// Writes expressions as the parser reads them, with as few brackets as Python needs.
#include "engine/expression/expr_node.h"
#include "engine/expression/expr_spelling.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace weft {
namespace {

/// What reads back as this number with the signs of its zeros.  A number with a j has a real part
/// of 0.0, sums and differences add the parts of what they have, and a negative turns both signs.
std::string complex_text(const std::complex<double>& value) {
  const bool is_negative = std::signbit(value.real());
  const bool is_below = std::signbit(value.imag()) && !std::isnan(value.imag());
  const bool has_zero = value.imag() == 0;
  if (value.real() != 0)
    return has_zero && is_below ? "-" + Scalar(-value).text() : Scalar(value).text();
  if (!is_below && !is_negative) return Scalar(value).text();
  if (is_below && is_negative) return "-" + Scalar(-value).text();
  const std::string imaginary = Scalar(std::complex<double>(0, std::abs(value.imag()))).text();
  const std::string below = "(0.0-" + imaginary + ")", zero = "(-0.0-" + imaginary + ")";
  if (has_zero) return is_negative ? zero : "-" + zero;
  return is_negative ? "-" + below : below;
}

// A DAG that shares its nodes can have a text of exponential length.
constexpr std::size_t max_text_bytes = std::size_t{1} << 16;

/// Keeps what is still to be written on a stack of its own: expressions may be nested deeply.
class ExprWriter {
 public:
  /// Tensors without a name keep the numbers that they have in what was written before.
  std::string write(const Expr& expr) {
    result_.clear();
    todo_.clear();
    push(expr.node(), 0);
    while (!todo_.empty()) {
      const Item item = std::move(todo_.back());
      todo_.pop_back();
      if (const auto* text = std::get_if<std::string>(&item)) {
        result_ += *text;
      } else {
        const auto& [node, precedence] = std::get<Place>(item);
        expand(*node, precedence);
      }
      if (result_.size() > max_text_bytes) return result_ + "...";
    }
    return std::move(result_);
  }

 private:
  /// A node, and how tightly its surroundings bind.
  using Place = std::pair<const ExprNode*, int>;
  using Item = std::variant<std::string, Place>;

  void push(std::string text) { todo_.emplace_back(std::move(text)); }
  void push(const ExprNode& node, int precedence) { todo_.emplace_back(Place{&node, precedence}); }

  void expand(const ExprNode& node, int precedence) {
    switch (node.kind) {
      case ExprNode::Kind::tensor: return push(tensor_name(node));
      case ExprNode::Kind::scalar: return expand_number(node.scalar, precedence);
      case ExprNode::Kind::cast:
        push(")");
        push(std::string(name(node.dtype)));
        push(", ");
        push(*node.args[0], 0);
        return push("cast(");
      case ExprNode::Kind::op: return expand_op(node, precedence);
      case ExprNode::Kind::fold: return expand_fold(node);
    }
  }

  void expand_number(const Scalar& number, int precedence) {
    const std::string text =
        number.kind() == Scalar::Kind::complex ? complex_text(number.as_complex()) : number.text();
    const bool is_sum = text.find_first_of("+-", 1) != text.npos && text.ends_with('j');
    const int own = is_sum ? 6 : (text.starts_with('-') ? unary_precedence : primary_precedence);
    const bool has_brackets = text.starts_with('(');
    push(own < precedence && !has_brackets ? detail::concat("(", text, ")") : text);
  }

  void expand_op(const ExprNode& node, int precedence) {
    if (node.op == Op::neg || node.op == Op::bitwise_not) {
      const bool needs_brackets = unary_precedence < precedence;
      if (needs_brackets) push(")");
      push(*node.args[0], unary_precedence);
      push(node.op == Op::neg ? "-" : "~");
      if (needs_brackets) push("(");
      return;
    }
    const auto spelling = std::ranges::find(binary_spellings, node.op, &BinarySpelling::op);
    if (spelling != binary_spellings.end()) return expand_binary(node, *spelling, precedence);
    push(")");
    for (std::size_t i = node.args.size(); i-- > 0;) {
      // PyTorch's order is input, mask, value.
      const bool is_swapped = node.op == Op::masked_fill && i < 2;
      push(*node.args[is_swapped ? 1 - i : i], 0);
      if (i > 0) push(", ");
    }
    push(detail::concat(name(node.op), "("));
  }

  /// As the reduction that is nothing but this fold.
  void expand_fold(const ExprNode& node) {
    const FoldNode& fold = *node.fold;
    std::string dims;
    for (std::size_t dim = 0; dim < fold.arg_sizes.size(); ++dim)
      if (fold.folds(dim)) dims.append(dims.empty() ? "" : ", ").append(std::to_string(dim));
    if (fold.is_scan() && dims.empty()) dims = "0";  // of a single number, which has that one
    // Places are along one dimension or, which is how it is asked for, none that is named.
    const bool are_several = fold.form == FoldForm::index && dims.find(',') != dims.npos;
    push(detail::concat(are_several ? "" : ", dims=[" + dims + "]",
                        fold.keepdim ? ", keepdim=true" : "",
                        fold.is_reverse ? ", reverse=true" : "",
                        fold.order == FoldOrder::exact      ? ", numerics=exact"
                        : fold.order == FoldOrder::by_shape ? ", numerics=layout_invariant"
                                                            : "",
                        ")"));
    push(*node.args[0], 0);
    push(detail::concat(fold_name(node), "("));
  }

  static std::string fold_name(const ExprNode& node) {
    const FoldForm form = node.fold->form;
    if (node.fold->is_mean) return "mean";
    const bool is_truth = is_boolean(node.compute_dtype);
    const std::string_view prefix = node.fold->is_scan()                               ? "cum"
                                    : form == FoldForm::index                          ? "arg"
                                    : node.op == Op::maximum || node.op == Op::minimum ? "a"
                                                                                       : "";
    switch (node.op) {
      case Op::add: return detail::concat(prefix, is_truth && prefix.empty() ? "any" : "sum");
      case Op::mul: return detail::concat(prefix, is_truth && prefix.empty() ? "all" : "prod");
      case Op::maximum: return detail::concat(prefix, "max");
      case Op::minimum: return detail::concat(prefix, "min");
      case Op::logaddexp: return node.fold->is_scan() ? "logcumsumexp" : "logaddexp";
      default: return std::string(name(node.op));
    }
  }

  void expand_binary(const ExprNode& node, const BinarySpelling& spelling, int precedence) {
    const bool is_power = node.op == Op::pow;
    const bool is_comparison = spelling.precedence == comparison_precedence;
    const int left = spelling.precedence + (is_power || is_comparison ? 1 : 0);
    const int right = is_power ? unary_precedence : spelling.precedence + 1;
    const bool needs_brackets = spelling.precedence < precedence;
    if (needs_brackets) push(")");
    push(*node.args[1], right);
    push(detail::concat(" ", spelling.symbol, " "));
    push(*node.args[0], left);
    if (needs_brackets) push("(");
  }

  std::string tensor_name(const ExprNode& node) {
    if (!node.name.empty()) return node.name;
    const auto [place, is_new] = numbers_.try_emplace(node.tensor.impl().get(), numbers_.size());
    return detail::concat("t", place->second);
  }

  std::string result_;
  std::vector<Item> todo_;
  std::map<const TensorImpl*, std::size_t> numbers_;  ///< tensors without a name, as they appear
};

}  // namespace

std::string text(const Expr& expr) { return ExprWriter().write(expr); }

std::string short_text(const Expr& expr, std::span<const Expr> whole) {
  constexpr std::size_t most = 80;
  ExprWriter writer;
  for (const Expr& before : whole) writer.write(before);
  std::string told = writer.write(expr);
  if (told.size() > most) told.replace(most, std::string::npos, "...");
  return told;
}

}  // namespace weft
