// The raw key of a call: operands' layouts, dtypes and aliasing as given, and the expression's
// structure. Two calls with equal keys have the same plan, so a repeated call skips the iterator.
#pragma once

#include "engine/expression/expr_node.h"

#include <weft/inline_array.h>

#include <cstdint>
#include <span>

namespace weft {

/// Words that describe the call, and the tensors and numbers that it was made of, in key order.
struct CallKey {
  InlineArray<std::uint64_t, 64> words;
  InlineArray<const Tensor*, 8> inputs;     ///< distinct by view
  InlineArray<const ExprNode*, 8> numbers;  ///< Kind::scalar, in order of first use
  std::size_t num_folds = 0;                ///< nodes of Kind::fold
  bool has_resized = false;                 ///< a tensor since the expression was made

  std::uint64_t hash() const;
};

/// One op on tensors.  Op::load stands for a copy.
struct EagerCall {
  Op op;
  std::span<const Tensor* const> inputs;
  const Tensor& output;  ///< undefined: a new one
};

void make_key(CallKey& key, const EagerCall& call);
/// Whether make_key() gives these words.  If so, `distinct` gets what CallKey::inputs would be, and
/// has room for as many as there are inputs.
bool is_key_of(const EagerCall& call, std::span<const std::uint64_t> words,
               const Tensor** distinct);

/// Key of expressions; `outputs[i]` may be undefined.
///
/// Errors: ArgumentError if they were made for other sizes than their tensors have now.
void make_key(CallKey& key, std::span<const Expr> exprs, std::span<const Tensor> outputs);

/// What a call knows of a larger one that it is a part of: a block of its rows (row_blocks.h).
struct PartOfCall {
  bool writes_past_caches = false;  ///< however little this part writes; the larger call fences
  std::int32_t ahead_bytes = 0;     ///< so far behind what it reads lies what the next part reads
  bool folds_ask = false;           ///< not one pass alone, but all code that folds asks for that

  friend bool operator==(const PartOfCall&, const PartOfCall&) = default;
};
/// Makes it the key of a part.
void add_to_key(CallKey& key, const PartOfCall& part);

}  // namespace weft
