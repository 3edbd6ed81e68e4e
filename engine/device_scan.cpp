// A scan as loop IR, for devices.
#include "engine/device_fold.h"

#include "engine/device_plan.h"
#include "engine/lower.h"
#include "engine/tensor_impl.h"

#include <weft/iterator.h>

#include <array>
#include <bit>
#include <utility>

namespace weft {
namespace {

/// One loop: its extent, and how far output and input move.
struct ScanDim {
  std::int64_t extent = 1;
  std::array<std::int64_t, 2> stride_bytes{};
};

struct ScanLoops {
  ScanDim scanned;
  std::vector<ScanDim> rest;                  ///< fastest first
  std::array<std::int64_t, 2> first_bytes{};  ///< from the operands to where the scan begins
};

ScanLoops loops_of(const ExprNode& node, const Tensor& output, const Tensor& input) {
  ScanLoops loops;
  Tensor rest[2] = {output, input};
  if (node.fold->dims != 0) {
    const int dim = std::countr_zero(node.fold->dims);
    loops.scanned.extent = input.size(dim);
    for (std::size_t i = 0; i < 2; ++i) {
      std::int64_t& stride = loops.scanned.stride_bytes[i];
      stride = stride_in_bytes(rest[i].stride(dim), rest[i].size(dim),
                               static_cast<std::int64_t>(itemsize_bytes(rest[i].dtype())));
      if (node.fold->is_reverse) {
        loops.first_bytes[i] = (loops.scanned.extent - 1) * stride;
        stride = -stride;
      }
      rest[i] = rest[i].select(dim, 0);
    }
  }
  TensorIteratorConfig config;
  config.check_all_same_dtype(false).resize_outputs(false).set_check_mem_overlap(false);
  const TensorIterator iterator = config.add_output(rest[0]).add_input(rest[1]).build();
  for (std::size_t dim = 0; dim < iterator.shape().size(); ++dim)
    loops.rest.push_back(
        {iterator.shape()[dim], {iterator.stride_bytes(0)[dim], iterator.stride_bytes(1)[dim]}});
  return loops;
}

/// Whether threads take neighbours in `rest` and each scans: they are neighbours in memory, and the
/// elements that are scanned are none; or these are fewer than a warp would share.
bool are_columns(const ScanLoops& loops, std::int64_t itemsize) {
  constexpr std::int64_t least_columns = 16, few_elements = 32;
  if (loops.rest.empty() || loops.rest[0].extent < least_columns) return false;
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
  const auto add_loop = [&](const ScanDim& dim, ir::LoopKind kind, bool is_inner) {
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
  return lower(node, loops_of(node, output, input), numerics);
}

std::function<void(std::byte* const* base, const Bits* params)> device_scan_pass(
    const ExprNode& node, const Tensor& output, const Tensor& input, Device device,
    const PlannerOptions& options) {
  const ScanLoops loops = loops_of(node, output, input);
  const Device devices[] = {output.device(), input.device()};
  auto pass =
      device_pass(std::move(*lower(node, loops, options.numerics)), devices, device, options);
  return [pass = std::move(pass), first = loops.first_bytes](std::byte* const* base,
                                                             const Bits* params) {
    std::byte* const operands[] = {base[0] + first[0], base[1] + first[1]};
    pass(operands, params);
  };
}

}  // namespace weft
