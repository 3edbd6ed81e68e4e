// Expressions as texts, over tensors without bytes.
#pragma once

#include "engine/expression/expr_node.h"

#include <weft/expr.h>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::testing {

using Names = std::vector<std::pair<std::string, Tensor>>;

/// Some of floats, some of integers, and one of bool.
inline const Names& names() {
  static const Names result = [] {
    const std::vector<std::int64_t> sizes{2, 3};
    const std::vector<std::int64_t> strides{3, 1};
    Names made;
    for (const char* name : {"a", "b", "c", "d"}) {
      made.emplace_back(name, unbacked(sizes, strides, DType::f32));
    }
    for (const char* name : {"i", "j", "k"}) {
      made.emplace_back(name, unbacked(sizes, strides, DType::i32));
    }
    made.emplace_back("m", unbacked(sizes, strides, DType::boolean));
    return made;
  }();
  return result;
}

inline Expr parse(std::string_view text) { return parse_expr(text, names()); }

/// Of a text that is one.
inline Scalar number(std::string_view text) {
  const Expr expr = parse(text);
  EXPECT_EQ(expr.node().kind, ExprNode::Kind::scalar) << text;
  return expr.node().scalar;
}

/// The tree with every bracket written: what precedence made of a text.
inline std::string bracketed(const ExprNode& node) {
  switch (node.kind) {
    case ExprNode::Kind::tensor: return node.name;
    case ExprNode::Kind::scalar: return node.scalar.text();
    case ExprNode::Kind::cast:
      return "cast(" + bracketed(*node.args[0]) + "," + std::string(name(node.dtype)) + ")";
    case ExprNode::Kind::op: break;
    case ExprNode::Kind::fold: return "fold(" + bracketed(*node.args[0]) + ")";
  }
  std::string result = std::string(name(node.op)) + "(";
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    result += (i > 0 ? "," : "") + bracketed(*node.args[i]);
  }
  return result + ")";
}
inline std::string bracketed(std::string_view text) { return bracketed(parse(text).node()); }

}  // namespace weft::testing
