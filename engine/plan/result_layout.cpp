#include "engine/plan/result_layout.h"

#include "engine/expression/parameters.h"
#include "engine/expression/walk.h"
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/iterator.h>

#include <algorithm>
#include <unordered_map>

namespace weft {
namespace {

using Kind = ExprNode::Kind;

/// Of all values here: strides don't depend on it.
constexpr DType any_dtype = DType::u8;

bool have_equal_layouts(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.sizes(), b.sizes()) && std::ranges::equal(a.strides(), b.strides());
}

Tensor without_bytes(IntSpan sizes, IntSpan strides, DType dtype = any_dtype, Device device = {}) {
  std::size_t size_bytes = itemsize_bytes(dtype);
  for (const std::int64_t size : sizes) size_bytes *= static_cast<std::size_t>(size);
  return make_tensor(Storage::unbacked(size_bytes, device), Dims(sizes), Dims(strides), 0, dtype);
}

/// Whether a leaf that comes before all others leaves nothing for them to decide.
bool decides_order(const Tensor& leaf, const Dims& sizes) {
  const TensorImpl& impl = *leaf.impl();
  if (!impl.is_non_overlapping_and_dense || !std::ranges::equal(impl.sizes, sizes)) return false;
  return std::ranges::all_of(impl.sizes, [](std::int64_t size) { return size > 1; });
}

/// Whether the plan of all leaves together has the strides that plans of each operator have.
bool is_one_step(const Program& program, std::span<const Tensor> inputs) {
  // Conversions keep the strides of dense tensors as they are, where there is a single element,
  // too.
  const auto is_cast = [](const ExprNode* result) { return result->kind == Kind::cast; };
  if (std::ranges::any_of(program.results, is_cast)) return false;
  const bool is_alone = program.results.size() == 1;
  const ExprNode& root = *program.results[0];
  const auto is_leaf = [](const auto& arg) {
    return arg->kind == Kind::tensor || arg->kind == Kind::scalar;
  };
  if (is_alone && std::ranges::all_of(root.args, is_leaf)) return true;
  const auto has_dims = [](const Tensor& tensor) { return tensor.dim() > 0; };
  const auto first = std::ranges::find_if(inputs, has_dims);
  if (first == inputs.end()) return true;
  if (is_alone && decides_order(*first, sizes_of(root))) return true;
  return std::all_of(first, inputs.end(), [&](const Tensor& input) {
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

  const Tensor& value(const ExprNode& root) {
    const auto is_known = [&](const ExprNode* node) {
      return node->kind == Kind::scalar || values_.contains(node);
    };
    for_each_in_order(&root, is_known,
                      [&](const ExprNode* node) { values_.emplace(node, made(*node)); });
    return values_.at(&root);
  }

 private:
  Tensor made(const ExprNode& node) const {
    switch (node.kind) {
      case Kind::tensor: return leaf(node);
      case Kind::cast: return cast(node);
      default: return result(node);
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

  Tensor result(const ExprNode& node) const {
    TensorIteratorConfig config;
    config.check_all_same_dtype(false).set_check_mem_overlap(false);
    config.add_owned_output(Tensor()).set_output_dtype(0, any_dtype);
    const bool is_swapped = node.op == Op::masked_fill;  // which has its mask in front
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const std::size_t place = is_swapped && i < 2 ? 1 - i : i;
      const ExprNode& arg = *node.args[place];
      if (arg.kind != Kind::scalar)
        config.add_input(values_.at(&arg));
      else if (!is_parameter(node.op, place))
        config.add_number(arg.scalar);
    }
    const TensorIterator iterator = config.build();
    return without_bytes(iterator.output(0).sizes(), iterator.output(0).strides());
  }

  std::vector<std::pair<const ExprNode*, Tensor>> leaves_;
  std::unordered_map<const ExprNode*, Tensor> values_;
};

}  // namespace

std::vector<Tensor> lay_out_results(const Program& program, std::span<const Tensor> inputs,
                                    std::span<const Tensor> outputs) {
  std::vector<Tensor> results(outputs.size());
  const bool has_new = std::ranges::any_of(outputs, [](const auto& to) { return !to.defined(); });
  if (!has_new || inputs.empty() || is_one_step(program, inputs)) return results;
  const auto has_no_bytes = [](const Tensor& tensor) {
    return tensor.numel() != 0 && tensor.data() == nullptr;
  };
  const bool is_unbacked = std::ranges::any_of(inputs, has_no_bytes);
  const auto on_device = std::ranges::find_if(
      inputs, [](const Tensor& input) { return input.device().type != DeviceType::cpu; });
  const Device device = on_device == inputs.end() ? Device{} : on_device->device();
  Steps steps(program, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].defined() || program.results[i]->kind == Kind::scalar) continue;
    const Tensor& layout = steps.value(*program.results[i]);
    const DType dtype = program.output_dtypes[i];
    results[i] = is_unbacked || device.type == DeviceType::meta
                     ? without_bytes(layout.sizes(), layout.strides(), dtype, device)
                     : empty_strided(layout.sizes(), layout.strides(), {dtype, device});
  }
  return results;
}

}  // namespace weft
