#include "engine/expression/program.h"

#include "engine/expression/node_index.h"
#include "engine/expression/parameters.h"
#include "engine/expression/walk.h"
#include "ir/limits.h"

#include <weft/error.h>
#include <weft/inline_array.h>

namespace weft {
namespace {

class Flattener {
 public:
  explicit Flattener(Program& program) : program_(program) {
    constexpr std::size_t usual_instructions = 16;
    program_.body.reserve(usual_instructions);
  }

  /// The value of `root`, converted to `dtype`.
  ir::ValueId value(const ExprNode& root, DType dtype) {
    const auto is_known = [&](const ExprNode* node) {
      return nodes_.find(node) >= 0 || node->kind == ExprNode::Kind::scalar;
    };
    for_each_in_order(&root, is_known, [&](const ExprNode* node) {
      values_.push_back(define(*node));
      nodes_.add(node);
    });
    return converted(root, dtype);
  }

  /// The bytes of a tensor, without its lazy bits.
  ir::ValueId load(const ExprNode& node) {
    std::size_t index = 0;
    while (index < program_.leaves.size() && !program_.leaves[index]->tensor.is_same(node.tensor))
      ++index;
    if (index == program_.leaves.size()) {
      WEFT_CHECK(index + program_.num_outputs < ir::max_launch_operands, ir::KernelLimitError,
                 "an expression may read and write at most ", ir::max_launch_operands, " tensors");
      program_.leaves.push_back(&node);
    }
    return append({.op = Op::load,
                   .dtype = node.dtype,
                   .operand = static_cast<std::uint8_t>(program_.num_outputs + index)});
  }

  /// Stores `value`, converted to `dtype`, with these lazy bits applied after the conversion.
  void store(int output, ir::ValueId value, DType from, DType dtype, bool is_neg, bool is_conj) {
    if (from != dtype) value = append({.op = Op::cast, .dtype = dtype, .args = args(value)});
    // A negated number is true exactly if the number is.
    if (is_neg && !is_boolean(dtype))
      value = append({.op = Op::neg, .dtype = dtype, .args = args(value)});
    if (is_conj && is_complex(dtype))
      value = append({.op = Op::conj, .dtype = dtype, .args = args(value)});
    append({.op = Op::store,
            .dtype = dtype,
            .operand = static_cast<std::uint8_t>(output),
            .args = args(value)});
  }

 private:
  static std::array<ir::ValueId, max_arity> args(ir::ValueId x) {
    return {x, ir::no_value, ir::no_value, ir::no_value};
  }

  ir::ValueId append(ir::Inst inst) {
    WEFT_CHECK(program_.body.size() < ir::max_instructions, ir::KernelLimitError,
               "an expression may take at most ", ir::max_instructions,
               " operations, loads and stores: compute it in parts");
    program_.body.push_back(inst);
    return static_cast<ir::ValueId>(program_.body.size() - 1);
  }

  /// An argument in the dtype that its user computes in.  Bare numbers become parameters of that
  /// dtype.
  ir::ValueId converted(const ExprNode& node, DType dtype, bool is_operand = true) {
    if (node.kind == ExprNode::Kind::scalar) return param(node, dtype, is_operand);
    const ir::ValueId id = values_[static_cast<std::size_t>(nodes_.find(&node))];
    return node.dtype == dtype ? id : append({.op = Op::cast, .dtype = dtype, .args = args(id)});
  }

  ir::ValueId param(const ExprNode& node, DType dtype, bool is_operand) {
    if (node.is_step)
      return append({.op = Op::constant, .dtype = dtype, .bits = node.scalar.bits(dtype)});
    std::size_t index = 0;
    while (index < program_.params.size() &&
           (program_.params[index].node != &node || program_.params[index].dtype != dtype))
      ++index;
    if (index == program_.params.size()) {
      WEFT_CHECK(index < ir::max_launch_params, ir::KernelLimitError,
                 "an expression may hold at most ", ir::max_launch_params, " numbers");
      program_.params.push_back({&node, dtype, is_operand});
    }
    program_.params[index].is_operand |= is_operand;
    return append({.op = Op::param, .dtype = dtype, .operand = static_cast<std::uint8_t>(index)});
  }

  ir::ValueId leaf(const ExprNode& node) {
    ir::ValueId id = load(node);
    if (node.tensor.is_conj()) id = append({.op = Op::conj, .dtype = node.dtype, .args = args(id)});
    if (node.tensor.is_neg()) id = append({.op = Op::neg, .dtype = node.dtype, .args = args(id)});
    return id;
  }

  ir::ValueId define(const ExprNode& node) {
    switch (node.kind) {
      case ExprNode::Kind::tensor: return leaf(node);
      case ExprNode::Kind::scalar: break;
      case ExprNode::Kind::cast: return cast(node);
      case ExprNode::Kind::op: return operation(node);
      case ExprNode::Kind::fold: throw InternalError("flatten: a fold is no elementwise operation");
    }
    throw InternalError("flatten: a bare number has no value of its own");
  }

  ir::ValueId cast(const ExprNode& node) {
    const ExprNode& source = *node.args[0];
    const DType own = source.kind == ExprNode::Kind::scalar ? node.dtype : source.dtype;
    const ir::ValueId id = converted(source, own);
    if (own == node.dtype) return id;
    return append({.op = Op::cast,
                   .dtype = node.dtype,
                   .operand = static_cast<std::uint8_t>(node.is_step),
                   .args = args(id)});
  }

  ir::ValueId operation(const ExprNode& node) {
    if (program_.unsupported.empty()) program_.unsupported = unsupported_reason(node);
    const bool is_select = info(node.op).result == ResultRule::select;
    const bool is_wide = keeps_numbers(node);
    ir::Inst inst{.op = node.op, .dtype = is_wide ? DType::f32 : node.compute_dtype};
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const bool may_be_number = is_parameter(node.op, i);
      const bool is_number = may_be_number && node.args[i]->kind == ExprNode::Kind::scalar;
      const DType dtype = is_select && i == 0 ? DType::boolean
                          : is_number         ? inst.dtype
                                              : node.compute_dtype;
      inst.args[i] = converted(*node.args[i], dtype, !may_be_number);
      if (is_wide && dtype != inst.dtype) inst.args[i] = step(inst.args[i], inst.dtype);
    }
    if (may_divide_by_zero(node))
      program_.integer_divisors.push_back({node.args[1].get(), node.compute_dtype});
    const ir::ValueId result = append(inst);
    return is_wide ? step(result, node.compute_dtype) : result;
  }

  /// Rounds as results of ops do.
  ir::ValueId step(ir::ValueId value, DType dtype) {
    return append({.op = Op::cast, .dtype = dtype, .operand = 1, .args = args(value)});
  }

  Program& program_;
  NodeIndex nodes_;
  InlineArray<ir::ValueId, 32> values_;  ///< [node]
};

}  // namespace

bool divides_integers(Op op, DType dtype) {
  const bool divides =
      op == Op::div_floor || op == Op::div_trunc || op == Op::remainder || op == Op::fmod;
  return divides && is_integer(dtype);
}

bool may_divide_by_zero(const ExprNode& node) {
  if (node.kind != ExprNode::Kind::op || !divides_integers(node.op, node.compute_dtype))
    return false;
  const ExprNode& divisor = *node.args[1];
  return divisor.kind != ExprNode::Kind::scalar ||
         divisor.scalar.bits(node.compute_dtype) == Bits();
}

Program flatten(std::span<const Expr> exprs, std::span<const Tensor> outputs) {
  WEFT_CHECK(exprs.size() <= ir::max_launch_operands, ir::KernelLimitError,
             "an expression may read and write at "
             "most ",
             ir::max_launch_operands, " tensors, but ", exprs.size(), " results are asked for");
  Program program;
  program.num_outputs = static_cast<int>(exprs.size());
  Flattener flattener(program);
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const Tensor output = i < outputs.size() ? outputs[i] : Tensor();
    const DType result = exprs[i].dtype();
    program.results.push_back(&exprs[i].node());
    program.result_dtypes.push_back(result);
    program.output_dtypes.push_back(output.defined() ? output.dtype() : result);
  }
  // All results are computed before the first is stored, so that an output may also be an input of
  // another.
  std::vector<ir::ValueId> values;
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const ExprNode& root = exprs[i].node();
    WEFT_CHECK(root.kind != ExprNode::Kind::scalar || !is_beyond_i64(root.scalar) ||
                   program.output_dtypes[i] == DType::u64,
               ArgumentError, "value cannot be converted to type ", name(root.dtype),
               " without overflow: ", root.scalar.text());
    values.push_back(root.kind == ExprNode::Kind::tensor
                         ? flattener.load(root)
                         : flattener.value(root, program.result_dtypes[i]));
  }
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const ExprNode& root = exprs[i].node();
    const Tensor output = i < outputs.size() ? outputs[i] : Tensor();
    // A copy converts first, and then applies those lazy bits that only one of the two has.
    bool is_neg = output.defined() && output.is_neg();
    bool is_conj = output.defined() && output.is_conj();
    if (root.kind == ExprNode::Kind::tensor) {
      is_neg = is_neg != root.tensor.is_neg();
      is_conj = is_conj != root.tensor.is_conj();
    }
    flattener.store(static_cast<int>(i), values[i], program.result_dtypes[i],
                    program.output_dtypes[i], is_neg, is_conj);
  }
  return program;
}

std::vector<Tensor> leaves_of(const Program& program) {
  std::vector<Tensor> leaves;
  for (const ExprNode* leaf : program.leaves) leaves.push_back(leaf->tensor);
  return leaves;
}

}  // namespace weft
