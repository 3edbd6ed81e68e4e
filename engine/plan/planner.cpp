#include "engine/plan/planner.h"

#include "engine/device/device_plan.h"
#include "engine/iterator/iter_plan.h"
#include "engine/plan/layout_guard.h"
#include "engine/plan/lower.h"
#include "engine/plan/pass_list.h"
#include "engine/plan/result_layout.h"
#include "runtime/float_environment.h"
#include "runtime/log.h"

#include <weft/error.h>
#include <weft/overlap.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {
namespace {

/// The tensors of the leaves, and which of the key's inputs each is.
void collect_leaves(const CallKey& key, const Program& program, PlannedCall& call) {
  for (const ExprNode* leaf : program.leaves) {
    const auto same = [&](const Tensor* input) { return input->is_same(leaf->tensor); };
    const auto it = std::find_if(key.inputs.begin(), key.inputs.end(), same);
    WEFT_ASSERT(it != key.inputs.end(), "a leaf is missing from the call's key");
    call.plan->leaves.push_back(static_cast<std::uint32_t>(it - key.inputs.begin()));
    call.inputs.push_back(leaf->tensor);
  }
}

/// Whether the plan's leaves are the inputs of its key, each once.
bool takes_inputs_in_order(const CallPlan& plan, const CallKey& key) {
  if (plan.leaves.size() != key.inputs.size()) return false;
  for (std::uint32_t i = 0; i < plan.leaves.size(); ++i)
    if (plan.leaves[i] != i) return false;
  return true;
}

void collect_params(const CallKey& key, const Program& program, CallPlan& plan) {
  for (const Program::Param& param : program.params) {
    const auto it = std::find(key.numbers.begin(), key.numbers.end(), param.node);
    WEFT_ASSERT(it != key.numbers.end(), "a number is missing from the call's key");
    plan.params.push_back({static_cast<std::uint32_t>(it - key.numbers.begin()), param.dtype});
  }
}

/// Layouts without bytes can be planned, but not run.
void check_bytes(const Tensor& tensor, std::string_view role, std::size_t index) {
  if (!tensor.defined() || tensor.numel() == 0) return;
  WEFT_CHECK(tensor.data() != nullptr, ArgumentError, describe(tensor),
             " has no bytes to compute with, ", role, " ", index,
             ": it can only be planned, by explain() or infer()");
}

/// A dense copy of an operand, to be read in place of one that the call overwrites in the wrong
/// order.
Tensor temporary_copy(const Tensor& source, const PlannerOptions& options,
                      jit::KernelCache& kernels) {
  // The bytes as they are: the program applies the lazy bits when it loads.
  Tensor plain = source.is_conj() ? source.conj() : source;
  if (plain.is_neg()) plain = plain.neg_view();
  Tensor copy = empty_like(plain);
  const Expr expr(plain);
  PlannerOptions copy_options = options;
  copy_options.is_copy = true;
  CallKey key;
  make_key(key, std::span(&expr, 1), std::span(&copy, 1));
  const Program program = flatten(std::span(&expr, 1), std::span(&copy, 1));
  const PlannedCall call = plan_call(key, program, std::span(&copy, 1), copy_options, kernels);
  if (!call.plan->is_empty) {
    std::byte* const base[] = {copy.data(), plain.data()};
    run(*call.plan, base, nullptr);
  }
  return copy;
}

/// Once a plan; PyTorch says it once a process.
void log_discarded_parts(DType from, DType to) {
  if (is_complex(from) && !is_complex(to) && !is_boolean(to))
    log(LogTopic::plan, "Casting complex values to real discards the imaginary part");
}

/// The operands' names, outputs first; none if none has one.
std::vector<std::string> operand_names(const Program& program) {
  std::vector<std::string> names(static_cast<std::size_t>(program.num_outputs));
  for (const ExprNode* leaf : program.leaves) names.push_back(leaf->name);
  const bool has_one = std::ranges::any_of(names, [](const auto& name) { return !name.empty(); });
  return has_one ? names : std::vector<std::string>();
}

TensorIterator build_iterator(const Program& program, std::span<const Tensor> outputs,
                              std::span<const Tensor> inputs, bool resize_outputs,
                              std::vector<std::string> names) {
  std::vector<Tensor> results(outputs.size());
  if (resize_outputs) results = lay_out_results(program, inputs, outputs);
  TensorIteratorConfig config;
  if (!names.empty()) config.set_names(std::move(names));
  config.check_all_same_dtype(false).resize_outputs(resize_outputs).allow_cpu_scalars(true);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    // What is given is borrowed.
    if (results[i].defined())
      config.add_owned_output(std::move(results[i]));
    else
      config.add_output(outputs[i]);
    config.set_output_dtype(static_cast<int>(i), program.result_dtypes[i]);
  }
  for (const Tensor& input : inputs) config.add_input(input);
  for (const Program::Param& param : program.params)
    if (param.is_operand) config.add_number(param.node->scalar);
  // Copies, which never resize, convert to any dtype.
  if (resize_outputs && program.output_dtypes != program.result_dtypes)
    config.enforce_safe_casting_to_output(true).set_common_dtype(program.result_dtypes[0]);
  TensorIterator iterator = config.build();
  WEFT_CHECK(program.unsupported.empty(), ArgumentError, program.unsupported);
  return iterator;
}

void log_plan(const TensorIterator& iterator, const CallPlan& plan) {
  if (!is_logged(LogTopic::plan)) return;
  log(LogTopic::plan, iterator.noutputs(), " outputs, ", iterator.ninputs(),
      " inputs, coalesced shape ", dims_text(iterator.shape()), ", ",
      name(plan.launch.kernel->first().kernel.schedule), " loops by ",
      plan.launch.kernel->first().code->backend);
}

/// Inputs that an output would change while they are read are read from copies.
void copy_overlapping(PlannedCall& call, const TensorIterator& iterator,
                      const PlannerOptions& options, jit::KernelCache& kernels) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!iterator.needs_temporary(static_cast<int>(i))) continue;
    WEFT_CHECK(!options.is_prepared, UnsupportedError,
               "prepare(): an input overlaps the output and would have to be copied before each "
               "run; use eval()");
    call.inputs[i] = temporary_copy(call.inputs[i], options, kernels);
    call.has_temporaries = true;
  }
}

/// The kernel of a call and how it is launched, but for what finish() adds.
LaunchPlan plan_kernel(const TensorIterator& iterator, const Program& program,
                       const PlannerOptions& options, jit::KernelCache& kernels) {
  Lowered lowered = lower(iterator, program, options.numerics, options.streaming_bytes);
  if (options.ahead_bytes != 0) ask_ahead(lowered, options.ahead_bytes);
  lowered.kernel.is_unfenced = options.is_unfenced && lowered.kernel.is_streaming;
  LaunchPlan launch;
  launch.kernel = kernels.get(signature_of(std::move(lowered.kernel), options));
  launch.extents = std::move(lowered.extents);
  launch.stride_bytes = std::move(lowered.stride_bytes);
  if (!launch.kernel->first().code->walks_in_blocks) launch.block_extent = lowered.block_extent;
  launch.max_threads = options.num_threads;
  return launch;
}

void plan_device_call(CallPlan& plan, const TensorIterator& iterator, const Program& program,
                      Device device, const PlannerOptions& options) {
  // The caches that streaming goes past are the CPU's.
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  plan.pass = device_pass(lower(iterator, program, options.numerics, never, DeviceType::cuda),
                          devices_of_call(iterator), device, options);
  if (is_logged(LogTopic::plan))
    log(LogTopic::plan, iterator.noutputs(), " outputs, ", iterator.ninputs(),
        " inputs, coalesced shape ", dims_text(iterator.shape()), ", by nvrtc");
}

}  // namespace

void check_outputs(std::span<const Tensor> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    if (!output.defined()) continue;
    WEFT_CHECK(!output.is_zero_tensor(), ArgumentError, immutable_zeros);
    check_bytes(output, "output", i);
    for (std::size_t j = 0; j < i; ++j)
      if (outputs[j].defined())
        assert_apart(output, outputs[j], detail::concat("output ", i),
                     detail::concat("output ", j));
  }
}

TensorIterator plan_iteration(const Program& program, std::span<const Tensor> outputs,
                              std::span<const Tensor> inputs, bool resize_outputs) {
  try {
    return build_iterator(program, outputs, inputs, resize_outputs, {});
  } catch (const ArgumentError&) {
    // Once more, for a message with names: calls that succeed do without.
    std::vector<std::string> names = operand_names(program);
    if (names.empty()) throw;
    return build_iterator(program, outputs, inputs, resize_outputs, std::move(names));
  }
}

jit::Signature signature_of(ir::Kernel kernel, const PlannerOptions& options) {
  return {std::move(kernel), options.features, options.backend};
}

PlannedCall begin_call(const CallKey& key, const Program& program) {
  PlannedCall call;
  call.plan = std::make_shared<CallPlan>();
  collect_leaves(key, program, call);
  collect_params(key, program, *call.plan);
  call.plan->divides_integers = !program.integer_divisors.empty();
  for (std::size_t i = 0; i < call.inputs.size(); ++i) check_bytes(call.inputs[i], "input", i);
  return call;
}

PlannedCall plan_call(const CallKey& key, const Program& program, std::span<const Tensor> outputs,
                      const PlannerOptions& options, jit::KernelCache& kernels,
                      const std::function<void()>& check_values) {
  // A kernel's numbers are those of all its callers.
  const FloatEnvironmentScope same_for_all(FloatEnvironment::standard());
  std::vector<Tensor> given(outputs.begin(), outputs.end());
  given.resize(static_cast<std::size_t>(program.num_outputs));
  check_outputs(given);
  PlannedCall call = begin_call(key, program);
  CallPlan& plan = *call.plan;
  LayoutGuard layouts(outputs);
  // A call without any tensor computes one number.
  if (call.inputs.empty())
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!given[i].defined()) given[i] = empty({}, program.output_dtypes[i]);

  TensorIterator iterator = plan_iteration(program, given, call.inputs, !options.is_copy);
  if (layouts.has_changed()) check_outputs(given);  // what grows may reach another
  if (check_values) check_values();
  if (options.is_copy) log_discarded_parts(program.result_dtypes[0], program.output_dtypes[0]);
  copy_overlapping(call, iterator, options, kernels);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor& output = iterator.output(static_cast<int>(i));
    const bool was_given = i < outputs.size() && outputs[i].defined();
    if (was_given && layouts.has_changed(i)) call.is_cacheable = false;
    plan.outputs.push_back(planned_output(output, !was_given));
    call.outputs.push_back(output);
  }
  if (call.has_temporaries) {
    call.is_cacheable = false;
    iterator = plan_iteration(program, call.outputs, call.inputs, false);
  }
  plan.is_empty = iterator.numel() == 0;
  if (plan.is_empty) {
    layouts.keep();
    return call;
  }
  const Device device = device_of_call(iterator);
  if (device.type == DeviceType::cuda || options.backend == "nvrtc") {
    plan_device_call(plan, iterator, program, device, options);
    layouts.keep();
    return call;
  }
  plan.launch = plan_kernel(iterator, program, options, kernels);
  log_plan(iterator, plan);
  finish(plan.launch, options.backend == "auto");
  plan.is_plain = plan.outputs.size() == 1 && plan.params.empty() && !plan.divides_integers &&
                  takes_inputs_in_order(plan, key);
  layouts.keep();
  return call;
}

}  // namespace weft
