// The raw key of a call: operands' layouts, dtypes and aliasing as given, and the expression's
// structure. Two calls with equal keys have the same plan, so a repeated call skips the iterator.
#pragma once

#include "engine/expr_node.h"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <span>

namespace weft {

/// Words that describe the call, and the tensors and numbers that it was made of, in key order.
struct CallKey {
  boost::container::small_vector<std::uint64_t, 64> words;
  boost::container::small_vector<const Tensor*, 8> inputs;  ///< distinct by view
  boost::container::small_vector<const ExprNode*, 8>
      numbers;  ///< Kind::scalar, in order of first use

  std::uint64_t hash() const;
};

/// Key of one op on tensors.  Op::load stands for a copy.
void make_key(CallKey& key, Op op, std::span<const Tensor* const> inputs, const Tensor& output);
/// Key of expressions; `outputs[i]` may be undefined.
void make_key(CallKey& key, std::span<const Expr> exprs, std::span<const Tensor> outputs);

}  // namespace weft
