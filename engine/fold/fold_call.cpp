#include "engine/fold/fold_call.h"
#include "engine/tensor/dims.h"

#include "engine/device/device_fold.h"
#include "engine/device/device_plan.h"
#include "engine/expression/merger.h"
#include "engine/expression/rebuild.h"
#include "engine/expression/walk.h"
#include "engine/fold/fold_plan.h"
#include "engine/plan/pass_list.h"
#include "engine/scan/scan_plan.h"
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/float_environment.h"

#include <weft/error.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weft {
namespace {

std::shared_ptr<ExprNode> with_kept_dims(const ExprNode& node) {
  auto result = std::make_shared<ExprNode>(node);
  if (node.fold->is_scan()) return result;
  auto fold = std::make_shared<FoldNode>(*node.fold);
  fold->keepdim = true;
  fold->sizes = fold->arg_sizes;
  for (std::size_t dim = 0; dim < fold->sizes.size(); ++dim)
    if (fold->folds(dim)) fold->sizes[dim] = 1;
  result->fold = std::move(fold);
  return result;
}

/// The folds of expressions by how many folds lie one in another below them, arguments first.
std::vector<std::vector<const ExprNode*>> folds_by_depth(std::span<const Expr> exprs) {
  std::vector<std::vector<const ExprNode*>> folds;
  std::unordered_map<const ExprNode*, std::int64_t> depths;  // counted with the node itself
  const auto is_known = [&](const ExprNode* node) { return depths.contains(node); };
  const auto visit = [&](const ExprNode* node) {
    std::int64_t depth = 0;
    for (const auto& arg : node->args) depth = std::max(depth, depths.at(arg.get()));
    if (node->kind == ExprNode::Kind::fold) {
      const auto place = static_cast<std::size_t>(depth++);
      if (folds.size() == place) folds.emplace_back();
      folds[place].push_back(node);
    }
    depths.emplace(node, depth);
  };
  for (const Expr& expr : exprs) for_each_in_order(&expr.node(), is_known, visit);
  return folds;
}

/// The nodes around the folds of expressions, and those folds.
std::unordered_set<const ExprNode*> nodes_around_folds(std::span<const Expr> exprs) {
  std::unordered_set<const ExprNode*> nodes;
  for_each_node(nodes_of(exprs), [&](const ExprNode& node) {
    nodes.insert(&node);
    return node.kind != ExprNode::Kind::fold;
  });
  return nodes;
}

/// Puts the values of folds in their places.
class FoldRemover {
 public:
  Rebuilder::Node operator()(const Rebuilder::Node& node) {
    return node->kind == ExprNode::Kind::fold ? leaf(*node) : node;
  }

  /// Computes folds, which keep the dimensions that they reduce, of arguments without folds.
  void compute(std::span<const Expr> folds, ComputeFolds values_of) {
    std::vector<Expr> anew;
    for (const Expr& fold : folds) {
      if (find(fold.node()) != computed_.end()) continue;
      computed_.emplace_back(fold.shared_node(), Tensor());
      anew.push_back(fold);
    }
    const std::vector<Tensor> values = values_of(anew);
    for (std::size_t i = 0; i < anew.size(); ++i) find(anew[i].node())->second = values[i];
  }

 private:
  using Computed = std::vector<std::pair<std::shared_ptr<const ExprNode>, Tensor>>;

  Computed::iterator find(const ExprNode& node) {
    return std::find_if(computed_.begin(), computed_.end(),
                        [&](const auto& known) { return is_same_fold(*known.first, node); });
  }

  Rebuilder::Node leaf(const ExprNode& node) {
    const Dims& sizes = node.fold->sizes;
    return Expr(find(node)->second.view({sizes.data(), sizes.size()})).shared_node();
  }

  Computed computed_;
};

}  // namespace

Tensor with_reduced_dims(const Tensor& output, const FoldNode& fold) {
  if (fold.keepdim || fold.is_scan()) return output;
  std::vector<std::int64_t> sizes, strides;
  std::size_t own = 0;
  for (std::size_t dim = 0; dim < fold.arg_sizes.size(); ++dim) {
    sizes.push_back(fold.folds(dim) ? 1 : output.sizes()[own]);
    strides.push_back(fold.folds(dim) ? 1 : output.strides()[own]);
    if (!fold.folds(dim)) ++own;
  }
  return output.as_strided(sizes, strides);
}

namespace {

/// Where a call of these tensors computes: on the device of one of them, if any.
Device device_of_tensors(std::span<const Tensor* const> inputs, const Tensor& output) {
  if (output.defined() && output.device().type != DeviceType::cpu) return output.device();
  for (const Tensor* input : inputs)
    if (input->device().type != DeviceType::cpu) return input->device();
  return {};
}

std::string_view order_text(FoldOrder order) {
  switch (order) {
    case FoldOrder::by_layout: return "";
    case FoldOrder::by_shape: return " by shape";
    case FoldOrder::exact: return " without rounding";
  }
  return "";
}

}  // namespace

bool is_walkable(const ExprNode& node, FoldOrder order, const Tensor& output,
                 std::span<const Tensor> inputs) {
  const FoldNode& fold = *node.fold;
  if (fold.is_scan() || numel_of(fold.arg_sizes) == 0) return true;
  if (order_of(node, order) != FoldOrder::by_shape) return true;
  std::vector<Tensor> operands;
  if (output.defined()) operands.push_back(with_reduced_dims(output, fold));
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  return dims_by_shape(fold, operands).has_value();
}

bool compares_nothing(const ExprNode& node) {
  return node.fold->form == FoldForm::index &&
         numel_of(node.fold->arg_sizes) == numel_of(node.fold->sizes);
}

void check_dtype(const ExprNode& node) {
  const OpInfo& row = info(node.op);
  WEFT_CHECK(computes_in(row.domain, row.result, node.compute_dtype), ArgumentError,
             node.fold->name, "() does not take ", name(node.fold->given_dtype), "; it takes ",
             describe(row.domain));
}

std::vector<Expr> without_folds(std::span<const Expr> given, ComputeFolds compute,
                                KeepArgument keep) {
  Merger merger;
  Rebuilder merging(merger);
  std::vector<Expr> exprs;
  for (const Expr& expr : given) exprs.push_back(merging.rebuild(expr));
  FoldRemover remover;
  Rebuilder rebuilder(remover);
  const std::unordered_set<const ExprNode*> around = nodes_around_folds(exprs);
  for (const std::vector<const ExprNode*>& ready : folds_by_depth(exprs)) {
    std::vector<Expr> folds;
    for (const ExprNode* fold : ready) {
      const std::shared_ptr<ExprNode> kept = with_kept_dims(*fold);
      kept->args[0] = rebuilder.rebuild(Expr(fold->args[0])).shared_node();
      if (around.contains(fold->args[0].get()))
        if (const Tensor value = keep(Expr(kept)); value.defined()) {
          kept->args[0] = Expr(value).shared_node();
          rebuilder.replace(fold->args[0], kept->args[0]);
        }
      folds.emplace_back(kept);
    }
    remover.compute(folds, compute);
  }
  std::vector<Expr> result;
  for (const Expr& expr : exprs) result.push_back(rebuilder.rebuild(expr));
  return result;
}

namespace {

/// What planning a fold whose argument has no folds refuses.
void check_dtypes(const Expr& fold) {
  const ExprNode& node = fold.node();
  const Expr argument(node.args[0]);
  for_each_node(nodes_of(std::span(&argument, 1)), [](const ExprNode& op) {
    const std::string reason = unsupported_reason(op);
    WEFT_CHECK(reason.empty(), ArgumentError, reason);
    return true;
  });
  if (numel_of(node.fold->sizes) != 0 && !compares_nothing(node)) check_dtype(node);
}

}  // namespace

std::vector<Expr> without_folds(std::span<const Expr> exprs, Device device) {
  const auto empty_values = [&](std::span<const Expr> folds) {
    std::vector<Tensor> values;
    for (const Expr& fold : folds) {
      check_dtypes(fold);
      const Dims& sizes = fold.node().fold->sizes;
      values.push_back(empty({sizes.data(), sizes.size()}, {fold.dtype(), device}));
    }
    return values;
  };
  const auto keep_nothing = [](const Expr&) { return Tensor(); };
  return without_folds(exprs, ComputeFolds(empty_values), KeepArgument(keep_nothing));
}

Tensor contiguous_layout(const Dims& sizes, DType dtype) {
  const IntSpan span(sizes.data(), sizes.size());
  const Dims strides = contiguous_strides(span);
  return unbacked(span, {strides.data(), strides.size()}, dtype);
}

namespace {

/// The code that a fold or scan has for good, if it gets some: waits for LLVM.
std::shared_ptr<const jit::CodeObject> best_code(const std::shared_ptr<jit::TieredKernel>& kernel,
                                                 const Lowered* lowered,
                                                 const PlannerOptions& options) {
  if (kernel == nullptr) return nullptr;
  if (const jit::CodeObject* const code = kernel->folding_code()) return {kernel, code};
  jit::Target target;
  target.features = options.features;
  target.run = options.features == host_features();
  target.keep_texts = !target.run;
  auto code = jit::compile(signature_of(lowered->kernel, options), target).code;
  return code->backend == "interp" ? nullptr : code;
}

void describe_scan(const ExprNode& node, const Program& program, std::span<const Tensor> inputs,
                   const PlannerOptions& options, jit::KernelCache& kernels, PassText& result) {
  result.reads_in_place = is_plain_load(program);
  result.schedule = "scan";
  check_dtype(node);
  const Tensor output = contiguous_layout(node.fold->sizes, node.dtype);
  if (options.backend == "nvrtc") {
    result.lowered = lower_scan(node, program, output, inputs, options.numerics).lowered;
    result.is_compiled = true;
    return;
  }
  std::vector<const Tensor*> read;
  for (const Tensor& input : inputs) read.push_back(&input);
  result.is_apart = is_scanned_apart(node, output, read);
  if (result.is_apart) {
    const Expr written(contiguous_layout(node.fold->arg_sizes, node.args[0]->dtype));
    const Expr apart = with_argument(Expr(std::make_shared<ExprNode>(node)), written.node().tensor);
    result.loops = scan_loops(*plan_scan(apart.node(), flatten(std::span(&written, 1), {}), output,
                                         std::span(&written.node().tensor, 1), options, kernels));
    return;
  }
  const auto plan = plan_scan(node, program, output, inputs, options, kernels);
  if (plan->kernel != nullptr)
    result.lowered = lower_scan(node, program, output, inputs, options.numerics).lowered;
  result.code = best_code(plan->kernel, result.lowered.get(), options);
  result.is_compiled = result.code != nullptr;
  if (!result.is_compiled) result.loops = scan_loops(*plan);
}
/// Returns whether the fold is an inner one.
bool describe_fold(const ExprNode& node, const Program& program, const Tensor& output,
                   std::span<const Tensor> inputs, const PlannerOptions& options,
                   jit::KernelCache& kernels, PassText& result) {
  const auto plan = plan_fold(node, program, output, inputs, options, kernels);
  result.lowered = lower_fold_to_run(*plan, program, inputs, options);
  result.code = best_code(plan->reduction, result.lowered.get(), options);
  result.is_compiled = result.code != nullptr;
  if (!result.is_compiled) {
    result.refusals = plan->refusals;
    result.loops = precompiled_loops(*plan);
  }
  result.reads_in_place = folds_in_place(*plan);
  return plan->is_inner;
}

/// The same on a device.
bool describe_device_fold(const ExprNode& node, const Program& program, const Tensor& output,
                          std::span<const Tensor> inputs, const PlannerOptions& options,
                          PassText& result) {
  const auto plan = lay_out_fold(node, output, inputs, options);
  result.lowered = lower_whole_fold(*plan, program, inputs, options.numerics);
  result.is_compiled = result.lowered != nullptr;
  return plan->is_inner;
}

}  // namespace

PassText describe_pass(const Expr& fold, const Dims& told_sizes, const PlannerOptions& options,
                       jit::KernelCache& kernels) {
  const ExprNode& node = fold.node();
  const Dims& arg_sizes = node.fold->arg_sizes;
  Expr argument(node.args[0]);
  Program program = flatten(std::span(&argument, 1), {});
  std::vector<Tensor> inputs = leaves_of(program);
  std::string order(order_text(order_of(node, options.fold_order)));
  if (!is_walkable(node, options.fold_order, Tensor(), inputs)) {
    order += " through a copy";
    argument = Expr(
        empty({arg_sizes.data(), arg_sizes.size()}, {argument.dtype(), {DeviceType::meta, 0}}));
    program = flatten(std::span(&argument, 1), {});
    inputs = {argument.node().tensor};
  }
  PassText result;
  std::string_view kind = "fold";
  if (node.fold->is_scan()) {
    kind = "scan";
    if (numel_of(arg_sizes) != 0 && !inputs.empty())
      describe_scan(node, program, inputs, options, kernels, result);
  } else if (numel_of(arg_sizes) == 0 || compares_nothing(node)) {
    kind = "constant";
  } else if (!inputs.empty()) {
    check_dtype(node);
    const Dims& sizes = node.fold->sizes;
    const std::vector<std::int64_t> strides(sizes.size(), 1);
    const Tensor output = unbacked({sizes.data(), sizes.size()}, strides, node.dtype);
    const bool is_inner =
        options.backend == "nvrtc"
            ? describe_device_fold(node, program, output, inputs, options, result)
            : describe_fold(node, program, output, inputs, options, kernels, result);
    kind = is_inner ? "inner fold" : "outer fold";
    result.schedule = is_inner ? "inner_reduce" : "outer_reduce";
  }
  result.text = detail::concat(kind, order, " of ", name(node.compute_dtype),
                               dims_text({told_sizes.data(), told_sizes.size()}), ": ", text(fold));
  if (result.is_apart) result.text += ", of what is written before";
  if (options.backend == "nvrtc" && node.fold->is_mean) result.text += ", divided in another pass";
  return result;
}

PassText describe_kept(const Expr& fold, const Dims& arg_sizes) {
  const Expr argument(fold.node().args[0]);
  PassText result;
  result.text = detail::concat("elementwise ", name(argument.dtype()),
                               dims_text({arg_sizes.data(), arg_sizes.size()}), ": ",
                               text(argument), ", which is read again");
  return result;
}

Expr with_argument(const Expr& fold, const Tensor& value) {
  auto node = std::make_shared<ExprNode>(fold.node());
  node->args[0] = Expr(value).shared_node();
  return Expr(std::move(node));
}

bool lies_apart(const Tensor& tensor, const CallKey& key) {
  const TensorImpl& output = *tensor.impl();
  const auto is_apart = [&](const Tensor* input) {
    return !share_bytes(*input->storage(), *output.storage);
  };
  return output.is_non_overlapping_and_dense && !output.is_conj && !output.is_neg &&
         output.access == Access::read_write &&
         std::all_of(key.inputs.begin(), key.inputs.end(), is_apart);
}

bool can_be_written(const Tensor& output, const CallKey& key) {
  return output.storage()->data() != nullptr && lies_apart(output, key);
}

std::optional<std::vector<Tensor>> new_or_apart(const CallKey& key, std::span<const Expr> rest,
                                                std::span<const Tensor> given) {
  const Program program = flatten(rest, given);
  std::vector<Tensor> inputs = leaves_of(program);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Tensor& output = given[i];
    if (!output.defined()) continue;
    const Dims sizes = sizes_of(rest[i].node());
    const bool is_fit = std::ranges::equal(output.sizes(), sizes) && can_be_written(output, key);
    if (!is_fit) return {};
  }
  std::vector<Tensor> outputs(given.begin(), given.end());
  const TensorIterator iterator = plan_iteration(program, outputs, inputs, true);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = iterator.output(static_cast<int>(i));
    outputs[i] = output.storage()->data() != nullptr
                     ? output
                     : empty_strided(output.sizes(), output.strides(), {output.dtype()});
  }
  return outputs;
}

bool is_single_fold(const CallKey& key, std::span<const Expr> exprs,
                    std::span<const Tensor> outputs, FoldOrder order, std::string_view backend) {
  if (key.num_folds != 1 || exprs.size() != 1 || key.inputs.size() == 0) return false;
  const ExprNode& node = exprs[0].node();
  if (node.kind != ExprNode::Kind::fold) return false;
  const std::span<const Tensor* const> inputs{key.inputs.data(), key.inputs.size()};
  const Tensor& output = outputs.empty() ? Tensor() : outputs[0];
  const bool is_fit = !output.defined() || (output.dtype() == node.dtype &&
                                            std::ranges::equal(output.sizes(), node.fold->sizes) &&
                                            can_be_written(output, key));
  std::vector<Tensor> read;
  for (const Tensor* input : inputs) read.push_back(*input);
  if (!is_fit || !is_walkable(node, order, output, read)) return false;
  if (!node.fold->is_scan() || is_for_device(inputs, outputs, backend)) return true;
  const Tensor result = output.defined() ? output : contiguous_layout(node.fold->sizes, node.dtype);
  return !is_scanned_apart(node, result, inputs);
}

PlannedCall plan_fold_call(const CallKey& key, const ExprNode& node, const Program& program,
                           const Tensor& output, const PlannerOptions& options,
                           jit::KernelCache& kernels, const std::function<void()>& check_values) {
  const FloatEnvironmentScope same_for_all(FloatEnvironment::standard());
  PlannedCall call = begin_call(key, program);
  CallPlan& plan = *call.plan;
  const FoldNode& fold = *node.fold;
  const std::span<const Tensor* const> inputs{key.inputs.data(), key.inputs.size()};
  const bool is_on_device = is_for_device(inputs, std::span(&output, 1), options.backend);
  WEFT_CHECK(program.unsupported.empty(), ArgumentError, program.unsupported);
  const std::int64_t num_outputs = numel_of(fold.sizes);
  if (num_outputs != 0 && !compares_nothing(node)) check_dtype(node);
  const FoldOrder order = order_of(node, options.fold_order);
  if (is_on_device && !may_have_device_kernel(node, order)) return {};
  if (check_values) check_values();

  const Device device = is_on_device ? device_of_tensors(inputs, output) : Device();
  const Tensor result = output.defined()
                            ? output
                            : empty({fold.sizes.data(), fold.sizes.size()}, {node.dtype, device});
  plan.outputs.push_back(planned_output(result, !output.defined()));
  call.outputs.push_back(result);
  plan.is_empty = num_outputs == 0;
  if (plan.is_empty) return call;
  const Tensor walked = with_reduced_dims(result, fold);
  if (is_on_device) {
    plan.pass = device_fold_pass(node, program, walked, call.inputs, device, options);
    return plan.pass ? call : PlannedCall();
  }
  if (fold.is_scan()) {
    const auto scan = plan_scan(node, program, result, call.inputs, options, kernels);
    plan.pass = [scan](std::byte* const* base, const Bits* params) {
      run_scan(*scan, base, params);
    };
    plan.reduction = scan->kernel;
    return call;
  }
  const std::shared_ptr<const FoldPlan> pass =
      numel_of(fold.arg_sizes) == 0 || compares_nothing(node)
          ? plan_fill(node, walked)
          : plan_fold(node, program, walked, call.inputs, options, kernels);
  plan.pass = [pass](std::byte* const* base, const Bits* params) { run_fold(*pass, base, params); };
  plan.fold = pass;
  plan.reduction = pass->reduction;
  return call;
}

}  // namespace weft
