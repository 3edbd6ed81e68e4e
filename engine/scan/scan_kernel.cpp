// A scan, and what is elementwise in front of it, as loop IR.
#include "engine/scan/scan_plan.h"

#include "engine/expression/program.h"

#include <weft/error.h>

#include <cstdlib>
#include <utility>

namespace weft {
namespace {

/// Whether the innermost loop is over neighbours, each of which is scanned: they lie side by side,
/// and what is scanned does not; or that is short.
bool are_columns(const ScanLoops& loops, std::span<const Tensor> inputs) {
  constexpr std::int64_t least_columns = 16, few_elements = 32;
  const FoldDim& fastest = loops.rest[0];
  if (fastest.extent < least_columns) return false;
  std::vector<FoldDim> dims = loops.rest;
  dims.push_back(loops.scanned);
  const std::size_t input = largest_input(dims, inputs.size());
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(inputs[input - 1].dtype()));
  return std::abs(fastest.stride_bytes[input]) == itemsize || loops.scanned.extent <= few_elements;
}

/// f32 is added and multiplied in f64, and c64 in c128.
DType kept_dtype(const ExprNode& node) {
  const DType dtype = node.compute_dtype;
  if (node.op != Op::add && node.op != Op::mul) return dtype;
  return dtype == DType::f32 ? DType::f64 : dtype == DType::c64 ? DType::c128 : dtype;
}

class ScanLowering {
 public:
  ScanLowering(const ExprNode& node, const Program& program, const Tensor& output,
               std::span<const Tensor> inputs)
      : node_(node),
        program_(program),
        inputs_(inputs),
        loops_(scan_loops_of(node, output, inputs)) {}

  LoweredScan run(Numerics numerics) {
    ir::Kernel& kernel = lowered_->kernel;
    kernel.numerics = numerics;
    kernel.body = program_.body;
    for (const Program::Param& param : program_.params) kernel.params.push_back(param.dtype);
    kernel.operands.push_back({node_.dtype, ir::Role::output, {}});
    for (const Tensor& input : inputs_)
      kernel.operands.push_back({input.dtype(), ir::Role::input, {}});
    if (finds_places()) add_places();
    std::vector<std::int64_t> first_bytes(kernel.operands.size());
    if (node_.fold->is_reverse) turn(first_bytes);
    add_loops();
    accumulate();
    return {std::move(lowered_), std::move(first_bytes)};
  }

 private:
  bool finds_places() const { return node_.fold->form == FoldForm::scan_index; }

  /// One more operand, without memory: the element's number along the dimension.
  void add_places() {
    lowered_->kernel.operands.push_back({DType::i64, ir::Role::place, {}});
    loops_.scanned.stride_bytes.push_back(sizeof(std::int64_t));
    for (FoldDim& dim : loops_.rest) dim.stride_bytes.push_back(0);
  }

  void turn(std::vector<std::int64_t>& first_bytes) {
    WEFT_ASSERT(!finds_places(), "places are counted forwards");
    for (std::size_t k = 0; k < first_bytes.size(); ++k) {
      std::int64_t& stride = loops_.scanned.stride_bytes[k];
      first_bytes[k] = (loops_.scanned.extent - 1) * stride;
      stride = -stride;
    }
  }

  void add_loop(const FoldDim& dim, ir::LoopKind kind, bool is_inner) {
    lowered_->extents.push_back(dim.extent);
    lowered_->stride_bytes.insert(lowered_->stride_bytes.end(), dim.stride_bytes.begin(),
                                  dim.stride_bytes.end());
    lowered_->kernel.loops.push_back({kind});
    for (std::size_t k = 0; k < dim.stride_bytes.size(); ++k) {
      ir::Operand& operand = lowered_->kernel.operands[k];
      operand.strides.push_back(
          is_inner ? inner_class(dim.stride_bytes[k], dim.extent, operand.dtype) : ir::stride_any);
    }
  }

  void add_loops() {
    const bool has_columns = are_columns(loops_, inputs_);
    for (std::size_t dim = loops_.rest.size(); dim-- > (has_columns ? 1u : 0u);)
      add_loop(loops_.rest[dim], ir::LoopKind::parallel, false);
    add_loop(loops_.scanned, ir::LoopKind::scan, !has_columns);
    if (has_columns) add_loop(loops_.rest[0], ir::LoopKind::parallel, true);
  }

  /// In place of the store of the program.
  void accumulate() {
    ir::Kernel& kernel = lowered_->kernel;
    ir::Inst last = kernel.body.back();
    WEFT_ASSERT(last.op == Op::store && last.dtype == node_.compute_dtype,
                "the argument of a scan is not stored in the dtype that it is scanned in");
    kernel.body.pop_back();
    const auto append = [&](const ir::Inst& inst) {
      kernel.body.push_back(inst);
      return static_cast<ir::ValueId>(kernel.body.size() - 1);
    };
    last.combine = node_.op;
    if (finds_places()) {
      last.op = Op::accumulate_place;
      last.args[1] = append({.op = Op::load,
                             .dtype = DType::i64,
                             .operand = static_cast<std::uint8_t>(kernel.operands.size() - 1)});
    } else {
      last.op = Op::accumulate;
      last.dtype = kept_dtype(node_);
      if (last.dtype != node_.compute_dtype)
        last.args[0] = append({.op = Op::cast, .dtype = last.dtype, .args = last.args});
    }
    append(last);
  }

  const ExprNode& node_;
  const Program& program_;
  std::span<const Tensor> inputs_;
  ScanLoops loops_;
  std::unique_ptr<Lowered> lowered_ = std::make_unique<Lowered>();
};

}  // namespace

LoweredScan lower_scan(const ExprNode& node, const Program& program, const Tensor& output,
                       std::span<const Tensor> inputs, Numerics numerics) {
  return ScanLowering(node, program, output, inputs).run(numerics);
}

}  // namespace weft
