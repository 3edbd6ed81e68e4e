#include "engine/device_fold.h"

#include "engine/device_plan.h"
#include "engine/engine_state.h"
#include "engine/expr_node.h"
#include "engine/fold_call.h"
#include "engine/fold_plan.h"
#include "engine/operators.h"
#include "engine/program.h"
#include "engine/rebuild.h"
#include "engine/scan_plan.h"
#include "engine/tensor_impl.h"
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

using Node = std::shared_ptr<const ExprNode>;

/// Beyond so many nodes an argument is computed once, and not in each slice of one kernel.
constexpr std::size_t most_fused_nodes = 16;

/// Distinct ones.
std::size_t num_nodes(const Expr& expr) {
  std::size_t count = 0;
  const auto visit = [&](const Node& node) {
    ++count;
    return node;
  };
  Rebuilder(visit).rebuild(expr);
  return count;
}

/// Slices that one call combines: few where each takes many instructions.
std::int64_t slices_a_call(const Expr& expr) {
  const std::size_t count = num_nodes(expr);
  return count <= 2 ? 8 : count <= 6 ? 4 : 2;
}

/// An expression on indices [first, first + count) of one of the dimensions that have `sizes`.
Expr slice_of(const Expr& expr, const Dims& sizes, std::size_t dim, std::int64_t first,
              std::int64_t count) {
  const auto slice = [&](const Node& node) -> Node {
    // What has no dimensions is the same for all slices, and may be a number of the CPU.
    if (node->kind != ExprNode::Kind::tensor || node->tensor.dim() == 0) return node;
    auto result = std::make_shared<ExprNode>(*node);
    result->tensor = node->tensor.expand(sizes).narrow(static_cast<int>(dim), first, count);
    return result;
  };
  return Rebuilder(slice).rebuild(expr);
}

Device device_of(const Expr& expr) {
  Device device;
  const auto visit = [&](const Node& node) {
    if (node->kind == ExprNode::Kind::tensor && device.type == DeviceType::cpu)
      device = node->tensor.device();
    return node;
  };
  Rebuilder(visit).rebuild(expr);
  return device;
}

class DeviceFold {
 public:
  DeviceFold(Engine::State& state, const ExprNode& node)
      : state_(state), fold_(*node.fold), op_(node.op), dtype_(node.compute_dtype) {
    device_ = device_of(Expr(node.args[0]));
  }

  /// Folds `argument` into `out`, which has its sizes but 1 where it is folded.
  void run(Expr argument, const Tensor& out) {
    Dims sizes = fold_.arg_sizes;
    if (num_nodes(argument) > most_fused_nodes) {
      const Tensor value = new_tensor(sizes);
      write(argument, value);
      argument = Expr(value);
    }
    while (!sizes.empty()) {
      const std::size_t dim = longest(sizes);
      if (sizes[dim] == 1 || !fold_.folds(dim)) break;
      const std::int64_t num_slices = std::min(sizes[dim], slices_a_call(argument));
      Dims left = sizes;
      left[dim] = sizes[dim] / num_slices;
      const bool is_last = std::ranges::equal(left, IntSpan(out.sizes()));
      const Tensor combined = is_last ? out : new_tensor(left);
      combine(argument, sizes, dim, num_slices, combined);
      if (is_last) return;
      argument = Expr(combined);
      sizes = left;
    }
    write(argument, out);
  }

 private:
  /// Of the folded dimensions the one with the most indices.
  std::size_t longest(const Dims& sizes) const {
    std::size_t found = 0;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim)
      if (fold_.folds(dim) && (!fold_.folds(found) || sizes[dim] > sizes[found])) found = dim;
    return found;
  }

  Tensor new_tensor(const Dims& sizes) const {
    return empty({sizes.data(), sizes.size()}, {dtype_, device_});
  }

  void write(const Expr& expr, const Tensor& out) {
    compute_exprs(state_, std::span(&expr, 1), std::span(&out, 1));
  }

  /// Combines slices of equal length along `dim`, then what is left over with the first of their
  /// results.
  void combine(const Expr& argument, const Dims& sizes, std::size_t dim, std::int64_t num_slices,
               const Tensor& out) {
    const std::int64_t length = out.size(static_cast<int>(dim));
    const auto slice = [&](std::int64_t first, std::int64_t count) {
      return slice_of(argument, sizes, dim, first, count);
    };
    std::vector<Expr> tree;
    for (std::int64_t i = 0; i < num_slices; ++i) tree.push_back(slice(i * length, length));
    while (tree.size() > 1) {
      std::vector<Expr> halved;
      for (std::size_t i = 0; i + 1 < tree.size(); i += 2)
        halved.push_back(apply(op_, {tree[i], tree[i + 1]}));
      if (tree.size() % 2 != 0) halved.push_back(tree.back());
      tree = std::move(halved);
    }
    write(tree[0], out);
    for (std::int64_t first = num_slices * length; first < sizes[dim];) {
      const std::int64_t count = std::min(length, sizes[dim] - first);
      const Tensor part = out.narrow(static_cast<int>(dim), 0, count);
      write(apply(op_, {Expr(part), slice(first, count)}), part);
      first += count;
    }
  }

  Engine::State& state_;
  const FoldNode& fold_;
  Op op_;
  DType dtype_;
  Device device_;
};

/// Every partial result of `argument` along the folded dimension.  Each step combines what lies
/// twice as far apart as the one before.
void scan_values(Engine::State& state, const Expr& argument, const FoldNode& fold, Op op,
                 const Tensor& out) {
  const auto write = [&](const Expr& expr, const Tensor& to) {
    compute_exprs(state, std::span(&expr, 1), std::span(&to, 1));
  };
  const int dim = std::countr_zero(fold.dims);
  const std::int64_t extent = out.size(dim);
  const int num_steps = std::bit_width(static_cast<std::uint64_t>(extent - 1));
  Tensor from = out, to = num_steps == 0 ? out : empty_like(out);
  if (num_steps % 2 != 0) std::swap(from, to);
  write(argument, from);
  for (std::int64_t apart = 1; apart < extent; apart *= 2) {
    const Tensor read = fold.is_reverse ? from.flip({dim}) : from;
    const Tensor written = fold.is_reverse ? to.flip({dim}) : to;
    const std::int64_t count = extent - apart;
    write(Expr(read.narrow(dim, 0, apart)), written.narrow(dim, 0, apart));
    write(apply(op, {Expr(read.narrow(dim, 0, count)), Expr(read.narrow(dim, apart, count))}),
          written.narrow(dim, apart, count));
    std::swap(from, to);
  }
}

/// Of an argument that a kernel can't compute, elementwise calls write the elements.
void fold_elements(Engine::State& state, const ExprNode& node, const Tensor& out) {
  const Expr argument(node.args[0]);
  WEFT_CHECK(node.args[0]->kind != ExprNode::Kind::tensor, UnsupportedError,
             "backend nvrtc has no kernel for the places of ", text(argument));
  const Tensor elements = empty({node.fold->arg_sizes.data(), node.fold->arg_sizes.size()},
                                {node.compute_dtype, out.device()});
  compute_exprs(state, std::span(&argument, 1), std::span(&elements, 1));
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
  return !compares_nothing(node) && !fold.is_mean && has_elements &&
         (fold.is_scan() || order != FoldOrder::exact);
}

DevicePass device_fold_pass(const ExprNode& node, const Program& program, const Tensor& output,
                            std::span<const Tensor> inputs, Device device,
                            const PlannerOptions& options) {
  if (options.backend != "auto" && options.backend != "nvrtc") return {};
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
    if (lowered == nullptr) return {};
    return device_pass(std::move(*lowered), devices, device, options);
  } catch (const UnsupportedError& error) {
    log(LogTopic::plan, "by elementwise calls: ", error.what());
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
  const Tensor result = given.defined() ? given
                                        : empty({fold.sizes.data(), fold.sizes.size()},
                                                {node.dtype, device_of(Expr(node.args[0]))});
  if (result.numel() == 0) return result;
  if (compares_nothing(node)) {
    fill(state, result, Bits());
    return result;
  }
  check_dtype(node);
  const Tensor out = with_reduced_dims(result, fold);
  if (std::ranges::find(fold.arg_sizes, 0) != fold.arg_sizes.end()) {
    fill(state, result, *ir::identity_of(node.op, node.dtype));
    return result;
  }
  const bool is_tensor = argument.node().kind == ExprNode::Kind::tensor;
  if (fold.form == FoldForm::index || (fold.is_scan() && !is_tensor))
    fold_elements(state, node, result);
  else if (fold.is_scan())
    scan_values(state, argument, fold, node.op, out);
  else
    DeviceFold(state, node).run(cast(argument, node.compute_dtype), out);
  return result;
}

}  // namespace weft
