#include <weft/naive.h>

#include "engine/expression/parameters.h"
#include "engine/expression/walk.h"
#include "engine/tensor/dims.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/evaluate.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

/// One element of any dtype.
struct alignas(16) Slot {
  std::array<std::byte, 16> bytes{};
};

/// A tensor that is read or written, with strides of the result's shape.
struct Access {
  std::byte* base;
  std::size_t itemsize_bytes;
  std::vector<std::int64_t> stride_bytes;
  Slot* slot;
};

/// A copy of one element, without the call that memcpy of a size known only at run time costs.
void copy_element(void* to, const void* from, std::size_t itemsize_bytes) {
  switch (itemsize_bytes) {
    case 1: std::memcpy(to, from, 1); return;
    case 2: std::memcpy(to, from, 2); return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    default: std::memcpy(to, from, 16);
  }
}

/// One op or cast on slots.
struct Step {
  ir::BlockFunction function;
  std::array<const void*, max_arity> args;
  void* result;
};

class NaiveProgram {
 public:
  NaiveProgram(const Expr& expr, const Tensor& out)
      : sizes_(out.sizes().begin(), out.sizes().end()) {
    WEFT_CHECK(!out.is_conj() && !out.is_neg(), UnsupportedError,
               "the naive loop writes no lazily conjugated or negated tensors");
    check_writable(out);
    check_is_current(std::span(&expr, 1));
    const ExprNode& root = expr.node();
    Slot* const value = root.kind == ExprNode::Kind::tensor
                            ? copied(root, out.dtype())
                            : converted(define_all(root), out.dtype());
    out_ = access(out, value);
  }

  void run() const {
    std::int64_t count = 1;
    for (std::int64_t size : sizes_) count = wrapping_product(count, size);
    for (std::int64_t i = 0; i < count; ++i) run_element(i);
  }

 private:
  void run_element(std::int64_t index) const {
    for (const Access& leaf : leaves_) {
      copy_element(leaf.slot->bytes.data(), leaf.base + byte_offset(leaf, index),
                   leaf.itemsize_bytes);
    }
    for (const Step& step : steps_) step.function(step.result, step.args.data(), 1);
    copy_element(out_.base + byte_offset(out_, index), out_.slot->bytes.data(),
                 out_.itemsize_bytes);
  }

  std::int64_t byte_offset(const Access& access, std::int64_t index) const {
    std::int64_t offset = 0;
    for (std::size_t dim = sizes_.size(); dim-- > 0;) {
      offset += index % sizes_[dim] * access.stride_bytes[dim];
      index /= sizes_[dim];
    }
    return offset;
  }

  Access access(const Tensor& tensor, Slot* slot) const {
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
    const Tensor expanded = tensor.expand(sizes_);
    Access result{cpu_data(tensor), itemsize_bytes(tensor.dtype()), {}, slot};
    for (int dim = 0; dim < expanded.dim(); ++dim)
      result.stride_bytes.push_back(
          stride_in_bytes(expanded.stride(dim), expanded.size(dim), itemsize));
    WEFT_CHECK(result.base != nullptr || expanded.numel() == 0, ArgumentError,
               "expected a tensor with bytes, got ", describe(tensor));
    return result;
  }

  const ExprNode& define_all(const ExprNode& root) {
    const auto is_defined = [&](const ExprNode* node) {
      WEFT_CHECK(node->kind != ExprNode::Kind::fold, UnsupportedError,
                 "the naive loop goes through elements one by one and folds nothing");
      return values_.contains(node);
    };
    for_each_in_order(&root, is_defined,
                      [&](const ExprNode* node) { values_[node] = define(*node); });
    return root;
  }

  Slot* define(const ExprNode& node) {
    switch (node.kind) {
      case ExprNode::Kind::tensor: {
        Slot* const slot = &slots_.emplace_back();
        leaves_.push_back(access(node.tensor, slot));
        Slot* value = slot;
        if (node.tensor.is_conj()) value = applied(Op::conj, node.dtype, value);
        if (node.tensor.is_neg()) value = applied(Op::neg, node.dtype, value);
        return value;
      }
      case ExprNode::Kind::scalar: return constant(node.scalar, node.dtype);
      case ExprNode::Kind::cast: return converted(*node.args[0], node.dtype);
      case ExprNode::Kind::op:
      case ExprNode::Kind::fold: break;
    }
    const OpInfo& row = info(node.op);
    const bool is_wide = keeps_numbers(node);
    const DType dtype = is_wide ? DType::f32 : node.compute_dtype;
    Step step{ir::block_function(node.op, dtype), {}, nullptr};
    WEFT_CHECK(step.function != nullptr, UnsupportedError, row.name, " is not computed in ",
               name(node.compute_dtype));
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const bool is_mask = row.result == ResultRule::select && i == 0;
      const ExprNode& arg = *node.args[i];
      const bool is_number = arg.kind == ExprNode::Kind::scalar && is_parameter(node.op, i);
      step.args[i] = is_mask ? converted(arg, DType::boolean)
                     : is_number
                         ? converted(arg, dtype)
                         : cast(converted(arg, node.compute_dtype), node.compute_dtype, dtype);
    }
    Slot* const slot = &slots_.emplace_back();
    step.result = slot;
    steps_.push_back(step);
    return cast(slot, dtype, node.compute_dtype);
  }

  Slot* cast(Slot* value, DType from, DType to) {
    if (from == to) return value;
    Slot* const slot = &slots_.emplace_back();
    steps_.push_back({ir::cast_function(to, from), {value}, slot});
    return slot;
  }

  /// A copy converts first and then applies the lazy bits.
  Slot* copied(const ExprNode& node, DType dtype) {
    Slot* value = &slots_.emplace_back();
    leaves_.push_back(access(node.tensor, value));
    values_[&node] = value;
    value = converted(node, dtype);
    if (node.tensor.is_conj() && is_complex(dtype)) value = applied(Op::conj, dtype, value);
    if (node.tensor.is_neg() && !is_boolean(dtype)) value = applied(Op::neg, dtype, value);
    return value;
  }

  Slot* applied(Op op, DType dtype, Slot* value) {
    Slot* const result = &slots_.emplace_back();
    steps_.push_back({ir::block_function(op, dtype), {value}, result});
    return result;
  }

  Slot* constant(const Scalar& scalar, DType dtype) {
    const Bits bits = scalar.bits(dtype);
    Slot* const slot = &slots_.emplace_back();
    std::memcpy(slot->bytes.data(), &bits, sizeof bits);
    return slot;
  }

  /// The value of `node` in `dtype`.  A bare number is converted from what was written, not by way
  /// of the dtype that it has alone.
  Slot* converted(const ExprNode& node, DType dtype) {
    if (node.kind == ExprNode::Kind::scalar) return constant(node.scalar, dtype);
    return cast(values_.at(&node), node.dtype, dtype);
  }

  std::vector<std::int64_t> sizes_;
  std::deque<Slot> slots_;  ///< never moves its elements: steps point into it
  std::unordered_map<const ExprNode*, Slot*> values_;
  std::vector<Access> leaves_;
  std::vector<Step> steps_;
  Access out_{};
};

}  // namespace

void naive_eval(const Expr& expr, const Tensor& out) { NaiveProgram(expr, out).run(); }

}  // namespace weft
