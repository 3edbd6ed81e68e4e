#include "engine/device/device_fold.h"

#include "engine/dispatch/operators.h"
#include "engine/engine_state.h"
#include "engine/expression/expr_node.h"
#include "engine/expression/program.h"
#include "engine/expression/rebuild.h"
#include "engine/fold/fold_call.h"
#include "engine/fold/fold_plan.h"
#include "engine/scan/scan_plan.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/combine.h"
#include "runtime/log.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace weft {
namespace {

Device device_of(const Expr& expr) {
  Device device;
  const auto visit = [&](const std::shared_ptr<const ExprNode>& node) {
    if (node->kind == ExprNode::Kind::tensor && device.type == DeviceType::cpu)
      device = node->tensor.device();
    return node;
  };
  Rebuilder(visit).rebuild(expr);
  return device;
}

/// What is folded, written by elementwise calls.
Tensor elements_of(Engine::State& state, const ExprNode& node, Device device) {
  const Expr argument(node.args[0]);
  const Tensor elements = empty({node.fold->arg_sizes.data(), node.fold->arg_sizes.size()},
                                {node.compute_dtype, device});
  compute_exprs(state, std::span(&argument, 1), std::span(&elements, 1));
  return elements;
}

/// Of an argument that is too much for one kernel.
void fold_elements(Engine::State& state, const ExprNode& node, const Tensor& out) {
  const Tensor elements = elements_of(state, node, out.device());
  const Expr fold = with_argument(Expr(std::make_shared<ExprNode>(node)), elements);
  compute_exprs(state, std::span(&fold, 1), std::span(&out, 1));
}

/// Every element gets the same bits.
void fill(Engine::State& state, const Tensor& out, Bits bits) {
  const Tensor one = empty(IntSpan(), {out.dtype()});
  std::memcpy(one.data(), &bits, itemsize_bytes(out.dtype()));
  compute_copy(state, out, one);
}

/// The sum, divided by how many elements become one.
Tensor divided_on_device(Engine::State& state, const ExprNode& node, const Tensor& given) {
  auto sum = std::make_shared<ExprNode>(node);
  auto fold = std::make_shared<FoldNode>(*node.fold);
  fold->is_mean = false;
  double count = 1;
  for (std::size_t dim = 0; dim < fold->arg_sizes.size(); ++dim)
    if (fold->folds(dim)) count *= static_cast<double>(fold->arg_sizes[dim]);
  sum->fold = std::move(fold);
  const Expr value(std::move(sum));
  const Tensor anew;
  const Expr quotient =
      Expr(compute_exprs(state, std::span(&value, 1), std::span(&anew, 1))[0]) / count;
  return compute_exprs(state, std::span(&quotient, 1), std::span(&given, 1))[0];
}

/// Kernels count places forwards, the later of equals being the larger.
bool counts_from_the_end(const ExprNode& node) {
  return node.fold->form == FoldForm::scan_index && node.fold->is_reverse;
}

/// Those of the elements turned round, turned again.
Tensor places_from_the_end(Engine::State& state, const ExprNode& node, const Tensor& given) {
  const FoldNode& fold = *node.fold;
  check_dtype(node);
  if (fold.dims == 0) {  // of no dimensions
    const Tensor result = given.defined() ? given
                                          : empty({fold.sizes.data(), 0},
                                                  {node.dtype, device_of(Expr(node.args[0]))});
    fill(state, result, Bits());
    return result;
  }
  const int dim = std::countr_zero(fold.dims);
  const Device device = device_of(Expr(node.args[0]));
  const Tensor elements = elements_of(state, node, device);
  const Tensor turned = empty({fold.sizes.data(), fold.sizes.size()}, {node.dtype, device});
  const Expr forward = scan_places(node.op, elements.flip({dim}), dim);
  const Tensor again = turned.flip({dim});
  compute_exprs(state, std::span(&forward, 1), std::span(&again, 1));
  const Expr places = Expr(fold.arg_sizes[static_cast<std::size_t>(dim)] - 1) - Expr(turned);
  const Tensor& out = given.defined() ? given : turned;
  return compute_exprs(state, std::span(&places, 1), std::span(&out, 1))[0];
}

/// What runs a scan, which may begin at the end of its operands.
DevicePass device_scan_pass(LoweredScan scan, std::span<const Device> operand_devices,
                            Device device, const PlannerOptions& options) {
  scan.first_bytes.resize(operand_devices.size());  // those in memory
  DevicePass pass = device_pass(std::move(*scan.lowered), operand_devices, device, options);
  if (std::ranges::count(scan.first_bytes, 0) == std::ssize(scan.first_bytes)) return pass;
  return [pass = std::move(pass), first_bytes = std::move(scan.first_bytes)](std::byte* const* base,
                                                                             const Bits* params) {
    std::array<std::byte*, ir::max_launch_operands> first;
    std::ranges::transform(first_bytes, std::span(base, first_bytes.size()), first.begin(),
                           [](std::int64_t bytes, std::byte* begin) { return begin + bytes; });
    pass(first.data(), params);
  };
}

}  // namespace

bool may_have_device_kernel(const ExprNode& node, FoldOrder order) {
  const FoldNode& fold = *node.fold;
  const bool has_elements = std::ranges::find(fold.arg_sizes, 0) == fold.arg_sizes.end();
  return !compares_nothing(node) && !fold.is_mean && !counts_from_the_end(node) && has_elements &&
         (fold.is_scan() || order != FoldOrder::exact);
}

DevicePass device_fold_pass(const ExprNode& node, const Program& program, const Tensor& output,
                            std::span<const Tensor> inputs, Device device,
                            const PlannerOptions& options) {
  std::vector<Device> devices{output.device()};
  for (const Tensor& input : inputs) devices.push_back(input.device());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool is_number = i > 0 && devices[i].type == DeviceType::cpu && inputs[i - 1].dim() == 0;
    if (devices[i] != device && !is_number) return {};
  }
  try {
    if (node.fold->is_scan())
      return device_scan_pass(lower_scan(node, program, output, inputs, options.numerics), devices,
                              device, options);
    const std::shared_ptr<const FoldPlan> plan = lay_out_fold(node, output, inputs, options);
    std::unique_ptr<Lowered> lowered = lower_whole_fold(*plan, program, inputs, options.numerics);
    WEFT_ASSERT(lowered != nullptr, "a fold of elements that rounds is loop IR");
    return device_pass(std::move(*lowered), devices, device, options);
  } catch (const UnsupportedError& error) {
    if (node.args[0]->kind == ExprNode::Kind::tensor) throw;
    log(LogTopic::plan, "elements are written first: ", error.what());
    return {};
  }
}

Tensor fold_on_device(Engine::State& state, const Expr& expr, const Tensor& given) {
  const ExprNode& node = expr.node();
  const FoldNode& fold = *node.fold;
  // Refuses what is too long or does not compute in its dtype, and chains too deep to go through.
  const Expr argument(node.args[0]);
  const std::string unsupported = flatten(std::span(&argument, 1), {}).unsupported;
  WEFT_CHECK(unsupported.empty(), ArgumentError, unsupported);
  WEFT_CHECK(order_of(node, fold_order(state.options.numerics)) != FoldOrder::exact,
             UnsupportedError, "Numerics::exact: sums on devices round at each step");
  if (fold.is_mean) return divided_on_device(state, node, given);
  if (counts_from_the_end(node)) return places_from_the_end(state, node, given);
  const Tensor result = given.defined() ? given
                                        : empty({fold.sizes.data(), fold.sizes.size()},
                                                {node.dtype, device_of(Expr(node.args[0]))});
  if (result.numel() == 0) return result;
  if (compares_nothing(node)) {
    fill(state, result, Bits());
    return result;
  }
  check_dtype(node);
  if (std::ranges::find(fold.arg_sizes, 0) != fold.arg_sizes.end())
    fill(state, result, *ir::identity_of(node.op, node.dtype));
  else
    fold_elements(state, node, result);
  return result;
}

}  // namespace weft
