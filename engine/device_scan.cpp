// A scan as loop IR, for devices.
#include "engine/device_fold.h"

#include "engine/device_plan.h"
#include "engine/lower.h"
#include "engine/scan_plan.h"

#include <array>
#include <utility>

namespace weft {
namespace {

using First = std::array<std::int64_t, 2>;

/// Turns a scan round where it is to go backwards.  Returns how many bytes behind the operands'
/// addresses it begins.
First turn(const ExprNode& node, ScanLoops& loops) {
  First first{};
  for (std::size_t i = 0; node.fold->is_reverse && i < 2; ++i) {
    std::int64_t& stride = loops.scanned.stride_bytes[i];
    first[i] = (loops.scanned.extent - 1) * stride;
    stride = -stride;
  }
  return first;
}

/// Whether threads take neighbours in `rest` and each scans: they are neighbours in memory, and the
/// elements that are scanned are none; or these are fewer than a warp would share.
bool are_columns(const ScanLoops& loops, std::int64_t itemsize) {
  constexpr std::int64_t least_columns = 16, few_elements = 32;
  if (loops.rest[0].extent < least_columns) return false;
  return loops.rest[0].stride_bytes[1] == itemsize || loops.scanned.extent <= few_elements;
}

/// f32 is added and multiplied in f64, as the CPU's loops do.
DType kept_dtype(const ExprNode& node) {
  const bool is_rounded = node.op == Op::add || node.op == Op::mul;
  return is_rounded && node.compute_dtype == DType::f32 ? DType::f64 : node.compute_dtype;
}

std::vector<ir::Inst> body_of(const ExprNode& node) {
  const DType dtype = node.compute_dtype, kept = kept_dtype(node);
  std::vector<ir::Inst> body{{.op = Op::load, .dtype = dtype, .operand = 1}};
  const bool finds_places = node.fold->form == FoldForm::scan_index;
  if (finds_places) body.push_back({.op = Op::load, .dtype = DType::i64, .operand = 2});
  if (kept != dtype) {
    body.push_back({.op = Op::cast, .dtype = kept});
    body.back().args[0] = 0;
  }
  ir::Inst last{.op = finds_places ? Op::accumulate_place : Op::accumulate,
                .dtype = kept,
                .combine = node.op};
  last.args[0] = kept != dtype ? 1 : 0;
  if (finds_places) last.args[1] = 1;
  body.push_back(last);
  return body;
}

std::unique_ptr<Lowered> lower(const ExprNode& node, const ScanLoops& loops, Numerics numerics) {
  auto lowered = std::make_unique<Lowered>();
  ir::Kernel& kernel = lowered->kernel;
  kernel.numerics = numerics;
  kernel.body = body_of(node);
  const bool finds_places = node.fold->form == FoldForm::scan_index;
  const DType dtypes[] = {node.dtype, node.compute_dtype};
  for (std::size_t k = 0; k < 2; ++k)
    kernel.operands.push_back({dtypes[k], k == 0 ? ir::Role::output : ir::Role::input, {}});
  if (finds_places) kernel.operands.push_back({DType::i64, ir::Role::place, {}});
  const auto add_loop = [&](const FoldDim& dim, ir::LoopKind kind, bool is_inner) {
    kernel.loops.push_back({kind});
    lowered->extents.push_back(dim.extent);
    for (std::size_t k = 0; k < 2; ++k) {
      lowered->stride_bytes.push_back(dim.stride_bytes[k]);
      kernel.operands[k].strides.push_back(
          is_inner ? inner_class(dim.stride_bytes[k], dim.extent, dtypes[k]) : ir::stride_any);
    }
    if (!finds_places) return;
    const bool is_scan = kind == ir::LoopKind::scan;
    lowered->stride_bytes.push_back(is_scan ? sizeof(std::int64_t) : 0);
    kernel.operands[2].strides.push_back(is_scan ? 1 : 0);
  };
  const bool has_columns =
      are_columns(loops, static_cast<std::int64_t>(itemsize_bytes(node.compute_dtype)));
  for (std::size_t dim = loops.rest.size(); dim-- > (has_columns ? 1u : 0u);)
    add_loop(loops.rest[dim], ir::LoopKind::parallel, false);
  add_loop(loops.scanned, ir::LoopKind::scan, !has_columns);
  if (has_columns) add_loop(loops.rest[0], ir::LoopKind::parallel, true);
  return lowered;
}

}  // namespace

std::unique_ptr<Lowered> lower_scan(const ExprNode& node, const Tensor& output, const Tensor& input,
                                    Numerics numerics) {
  ScanLoops loops = scan_loops_of(node, output, input);
  turn(node, loops);
  return lower(node, loops, numerics);
}

std::function<void(std::byte* const* base, const Bits* params)> device_scan_pass(
    const ExprNode& node, const Tensor& output, const Tensor& input, Device device,
    const PlannerOptions& options) {
  ScanLoops loops = scan_loops_of(node, output, input);
  const First first = turn(node, loops);
  const Device devices[] = {output.device(), input.device()};
  auto pass =
      device_pass(std::move(*lower(node, loops, options.numerics)), devices, device, options);
  return [pass = std::move(pass), first](std::byte* const* base, const Bits* params) {
    std::byte* const operands[] = {base[0] + first[0], base[1] + first[1]};
    pass(operands, params);
  };
}

}  // namespace weft
