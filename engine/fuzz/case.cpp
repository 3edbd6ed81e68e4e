#include "engine/fuzz/case.h"

#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>

#include <algorithm>

namespace weft::fuzzing {

std::vector<Expr> build_expressions(const Case& fuzz_case, std::span<const Tensor> inputs) {
  std::vector<Expr> built;
  for (const CaseNode& node : fuzz_case.nodes) {
    std::vector<Expr> args;
    for (const int arg : node.args) args.push_back(built[static_cast<std::size_t>(arg)]);
    switch (node.kind) {
      case CaseNode::Kind::tensor: {
        const auto index = static_cast<std::size_t>(node.tensor);
        built.push_back(Expr::named(fuzz_case.inputs[index].name, inputs[index]));
        break;
      }
      case CaseNode::Kind::scalar: built.emplace_back(node.scalar); break;
      case CaseNode::Kind::op: built.push_back(weft::apply(node.op, args)); break;
      case CaseNode::Kind::cast: built.push_back(cast(args.at(0), node.dtype)); break;
    }
  }
  return built;
}

Tensor layout_of(const CaseTensor& tensor) {
  return with_lazy_bits(unbacked(tensor.sizes, tensor.strides, tensor.dtype, tensor.offset),
                        tensor);
}

Tensor with_lazy_bits(const Tensor& view, const CaseTensor& tensor) {
  const Tensor conjugated = tensor.is_conj ? view.conj() : view;
  return tensor.is_neg ? conjugated.neg_view() : conjugated;
}

std::vector<std::int64_t> shape_of(const Case& fuzz_case) {
  std::vector<std::int64_t> shape;
  for (const CaseTensor& input : without_unused(fuzz_case).inputs)
    shape = infer_size(shape, input.sizes);
  return shape;
}

std::vector<std::int64_t> shape_of_root(const Case& fuzz_case, int root) {
  Case one = fuzz_case;
  one.roots = {root};
  one.outputs = {CaseOutput()};
  return shape_of(one);
}

std::int64_t storage_elements(const CaseTensor& tensor) {
  const std::optional<Reach> reached = reach(tensor.sizes, tensor.strides);
  WEFT_CHECK(reached && tensor.offset + reached->first >= 0, ArgumentError,
             "a layout reaches outside of its storage");
  return tensor.offset + reached->last + 1;
}

std::optional<std::int64_t> shared_storage_elements(const Case& fuzz_case, int input) {
  std::optional<std::int64_t> count;
  for (const CaseOutput& output : fuzz_case.outputs)
    if (output.kind == CaseOutput::Kind::shared && output.input == input)
      count = std::max(count.value_or(0), storage_elements(output.tensor));
  if (count)
    count = std::max(*count, storage_elements(fuzz_case.inputs[static_cast<std::size_t>(input)]));
  return count;
}

Case without_unused(const Case& fuzz_case) {
  std::vector<bool> is_used(fuzz_case.nodes.size());
  for (const int root : fuzz_case.roots) is_used[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = fuzz_case.nodes.size(); i-- > 0;) {
    if (!is_used[i]) continue;
    for (const int arg : fuzz_case.nodes[i].args) is_used[static_cast<std::size_t>(arg)] = true;
  }
  Case result = fuzz_case;
  result.nodes.clear();
  result.inputs.clear();
  std::vector<int> node_number(fuzz_case.nodes.size());
  std::vector<int> input_number(fuzz_case.inputs.size(), -1);
  const auto keep_input = [&](int input) {
    int& number = input_number[static_cast<std::size_t>(input)];
    if (number < 0) {
      number = static_cast<int>(result.inputs.size());
      result.inputs.push_back(fuzz_case.inputs[static_cast<std::size_t>(input)]);
    }
    return number;
  };
  for (std::size_t i = 0; i < fuzz_case.nodes.size(); ++i) {
    if (!is_used[i]) continue;
    CaseNode node = fuzz_case.nodes[i];
    for (int& arg : node.args) arg = node_number[static_cast<std::size_t>(arg)];
    if (node.kind == CaseNode::Kind::tensor) node.tensor = keep_input(node.tensor);
    node_number[i] = static_cast<int>(result.nodes.size());
    result.nodes.push_back(std::move(node));
  }
  for (int& root : result.roots) root = node_number[static_cast<std::size_t>(root)];
  for (CaseOutput& output : result.outputs) {
    if (!writes_to(output, output.input)) continue;
    // An output that overwrites what the call no longer reads is an ordinary one.
    if (input_number[static_cast<std::size_t>(output.input)] >= 0) {
      output.input = input_number[static_cast<std::size_t>(output.input)];
    } else {
      if (output.kind == CaseOutput::Kind::in_place)
        output.tensor = fuzz_case.inputs[static_cast<std::size_t>(output.input)];
      output.kind = CaseOutput::Kind::given;
    }
  }
  return result;
}

}  // namespace weft::fuzzing
