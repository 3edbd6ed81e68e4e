#include "engine/plan/result_layout.h"

#include "engine/expression/parameters.h"
#include "engine/expression/walk.h"
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/iterator.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace weft {
namespace {

using Kind = ExprNode::Kind;

/// Of all values here: strides don't depend on it.
constexpr DType any_dtype = DType::u8;

bool have_equal_layouts(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.sizes(), b.sizes()) && std::ranges::equal(a.strides(), b.strides());
}

bool has_dims(const Tensor& tensor) { return tensor.dim() > 0; }

/// Whether each dimension has elements that are apart: where one has a single element, strides say
/// nothing, and the fast set-up has other ones than the iterator.
bool has_no_single_element(const Tensor& tensor) {
  return std::ranges::all_of(tensor.sizes(), [](std::int64_t size) { return size > 1; });
}

bool broadcasts_to(const Tensor& tensor, IntSpan sizes) {
  if (tensor.sizes().size() > sizes.size()) return false;
  const std::size_t missing = sizes.size() - tensor.sizes().size();
  for (std::size_t dim = 0; dim < tensor.sizes().size(); ++dim)
    if (tensor.sizes()[dim] != 1 && tensor.sizes()[dim] != sizes[missing + dim]) return false;
  return true;
}

/// Whether the first operand that has dimensions leaves nothing for the others to decide.
bool decides_order(const Tensor& first, std::span<const Tensor> operands) {
  return first.impl()->is_non_overlapping_and_dense && has_no_single_element(first) &&
         std::ranges::all_of(operands, [&](const Tensor& operand) {
           return broadcasts_to(operand, first.sizes());
         });
}

/// Of values on the way, whose bytes nobody asks for.
Tensor without_bytes(IntSpan sizes, IntSpan strides) {
  return make_tensor(Storage::unbacked(1, Device{}), Dims(sizes), Dims(strides), 0, any_dtype);
}

/// A tensor, or a conversion that is none.
bool is_leaf(const ExprNode& root) {
  const ExprNode* node = &root;
  while (node->kind == Kind::cast && node->dtype == node->args[0]->dtype)
    node = node->args[0].get();
  return node->kind == Kind::tensor;
}

bool has_reductions(const Program& program) {
  std::vector<const ExprNode*> roots(program.results.begin(), program.results.end());
  bool found = false;
  for_each_node(std::move(roots), [&](const ExprNode& node) {
    found = found || node.is_reduced;
    return !found;
  });
  return found;
}

/// Whether the plan of all leaves together, `are_new` outputs all of them, has the strides that
/// plans of each operator have.
bool is_one_step(const Program& program, std::span<const Tensor> inputs, bool are_new) {
  const auto has_none = [](const Tensor& input) { return input.numel() == 0; };
  if (std::ranges::any_of(inputs, has_none) && has_reductions(program)) return false;
  const bool is_alone = program.results.size() == 1;
  const ExprNode& root = *program.results[0];
  if (is_alone && is_leaf(root)) return true;
  // Conversions keep the strides of dense tensors as they are, where there is a single element,
  // too.
  const auto is_cast = [](const ExprNode* result) { return result->kind == Kind::cast; };
  if (std::ranges::any_of(program.results, is_cast)) return false;
  const auto is_operand = [](const auto& arg) {
    return arg->kind == Kind::tensor || arg->kind == Kind::scalar;
  };
  if (is_alone && std::ranges::all_of(root.args, is_operand)) return true;
  const auto first = std::ranges::find_if(inputs, has_dims);
  if (first == inputs.end()) return true;
  if (is_alone && decides_order(*first, inputs)) return true;
  return are_new && has_no_single_element(*first) &&
         std::all_of(first, inputs.end(), [&](const Tensor& input) {
           return !has_dims(input) || have_equal_layouts(input, *first);
         });
}

/// The values of an expression, without bytes, as each operator on its own would lay them out.
class Steps {
 public:
  Steps(const Program& program, std::span<const Tensor> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      leaves_.emplace_back(program.leaves[i],
                           without_bytes(inputs[i].sizes(), inputs[i].strides()));
  }

  /// What a copy of the value, if that is none of its own, has.
  Tensor result(const ExprNode& root) {
    const Tensor& value = this->value(root);
    return is_leaf(root) ? computed({&value, 1}, {}) : value;
  }

 private:
  const Tensor& value(const ExprNode& root) {
    const auto is_known = [&](const ExprNode* node) {
      return node->kind == Kind::scalar || values_.contains(node);
    };
    for_each_in_order(&root, is_known,
                      [&](const ExprNode* node) { values_.emplace(node, made(*node)); });
    return values_.at(&root);
  }

  Tensor made(const ExprNode& node) const {
    const Tensor value = made_by_kind(node);
    if (!node.is_reduced) return value;
    const Dims strides = contiguous_strides(value.sizes());
    return without_bytes(value.sizes(), {strides.data(), strides.size()});
  }

  Tensor made_by_kind(const ExprNode& node) const {
    switch (node.kind) {
      case Kind::tensor: return leaf(node);
      case Kind::cast: return cast(node);
      default: return operation(node);
    }
  }

  Tensor leaf(const ExprNode& node) const {
    return std::ranges::find_if(
               leaves_, [&](const auto& known) { return known.first->tensor.is_same(node.tensor); })
        ->second;
  }

  Tensor cast(const ExprNode& node) const {
    const ExprNode& source = *node.args[0];
    if (source.kind == Kind::scalar) return without_bytes({}, {});
    const Tensor& value = values_.at(&source);
    if (node.is_step || node.dtype == source.dtype) return value;
    return without_bytes(value.sizes(), empty_like_strides(*value.impl(), MemoryFormat::preserve));
  }

  Tensor operation(const ExprNode& node) const {
    std::vector<Tensor> operands;
    std::vector<Scalar> numbers;
    const bool is_swapped = node.op == Op::masked_fill;  // which has its mask in front
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const std::size_t place = is_swapped && i < 2 ? 1 - i : i;
      const ExprNode& arg = *node.args[place];
      if (arg.kind != Kind::scalar)
        operands.push_back(values_.at(&arg));
      else if (!is_parameter(node.op, place))
        numbers.push_back(arg.scalar);
    }
    const auto first = std::ranges::find_if(operands, has_dims);
    if (first != operands.end() && decides_order(*first, operands)) return *first;
    return computed(operands, numbers);
  }

  static Tensor computed(std::span<const Tensor> operands, std::span<const Scalar> numbers) {
    TensorIteratorConfig config;
    config.check_all_same_dtype(false).set_check_mem_overlap(false);
    config.add_owned_output(Tensor()).set_output_dtype(0, any_dtype);
    for (const Tensor& operand : operands) config.add_input(operand);
    for (const Scalar& number : numbers) config.add_number(number);
    const TensorIterator iterator = config.build();
    return without_bytes(iterator.output(0).sizes(), iterator.output(0).strides());
  }

  std::vector<std::pair<const ExprNode*, Tensor>> leaves_;
  std::unordered_map<const ExprNode*, Tensor> values_;
};

/// Of each result that is not a number alone.  None if the inputs don't broadcast: the plan of all
/// of them says that in words about the caller's tensors.
std::vector<Tensor> layouts_of(const Program& program, std::span<const Tensor> inputs) {
  std::vector<Tensor> layouts(program.results.size());
  try {
    Steps steps(program, inputs);
    for (std::size_t i = 0; i < layouts.size(); ++i)
      if (program.results[i]->kind != Kind::scalar) layouts[i] = steps.result(*program.results[i]);
  } catch (const ArgumentError&) {
    return {};
  }
  return layouts;
}

}  // namespace

std::vector<Tensor> lay_out_results(const Program& program, std::span<const Tensor> inputs,
                                    std::span<const Tensor> outputs) {
  std::vector<Tensor> results(outputs.size());
  const auto num_given = std::ranges::count_if(outputs, &Tensor::defined);
  const bool has_new = num_given < std::ssize(outputs);
  if (!has_new || inputs.empty() || is_one_step(program, inputs, num_given == 0)) return results;
  const auto has_no_bytes = [](const Tensor& tensor) {
    return tensor.numel() != 0 && tensor.data() == nullptr;
  };
  const auto on_device = std::ranges::find_if(
      inputs, [](const Tensor& input) { return input.device().type != DeviceType::cpu; });
  const Device device = on_device == inputs.end() ? Device{} : on_device->device();
  const bool is_unbacked =
      device.type == DeviceType::cpu && std::ranges::any_of(inputs, has_no_bytes);
  const auto layouts = layouts_of(program, inputs);
  if (layouts.empty()) return results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (program.results[i]->kind == Kind::scalar) continue;
    const Tensor& layout = layouts[i];
    // What one given output becomes when it is resized follows all leaves.
    if (outputs[i].defined() && !std::ranges::equal(outputs[i].sizes(), layout.sizes()))
      return std::vector<Tensor>(outputs.size());
    if (outputs[i].defined()) continue;
    const DType dtype = program.output_dtypes[i];
    results[i] = is_unbacked ? unbacked(layout.sizes(), layout.strides(), dtype)
                             : empty_strided(layout.sizes(), layout.strides(), {dtype, device});
  }
  return results;
}

}  // namespace weft
