#include "engine/lower.h"

#include "engine/streaming.h"

#include <weft/error.h>

#include <algorithm>

namespace weft {
namespace {

/// The class under which a stride along the innermost loop takes part in the signature.
ir::StrideClass inner_class(std::int64_t stride_bytes, std::int64_t extent, DType dtype) {
  if (extent == 1) return 1;  // never stepped along
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
  if (stride_bytes % itemsize != 0) return ir::stride_any;
  const std::int64_t items = stride_bytes / itemsize;
  return items >= -1 && items <= 4 ? static_cast<ir::StrideClass>(items) : ir::stride_any;
}

/// Whether the body only moves bytes: loads of one dtype stored as they are.
bool moves_only(const std::vector<ir::Inst>& body) {
  for (const ir::Inst& inst : body)
    if ((inst.op != Op::load && inst.op != Op::store) || inst.dtype != body.front().dtype)
      return false;
  return !body.empty();
}

/// The unsigned integer that moves items of this size; c128 has none and stays as it is.
DType mover(DType dtype) {
  switch (itemsize_bytes(dtype)) {
    case 1: return DType::u8;
    case 2: return DType::u16;
    case 4: return DType::u32;
    case 8: return DType::u64;
    default: return dtype;
  }
}

/// Copies without conversion are the same work for all dtypes of a size, so they share one kernel.
void share_moves(ir::Kernel& kernel) {
  if (!moves_only(kernel.body)) return;
  const DType dtype = mover(kernel.body.front().dtype);
  for (ir::Inst& inst : kernel.body) inst.dtype = dtype;
  for (ir::Operand& operand : kernel.operands) operand.dtype = dtype;
}

/// c128 moves become two u64 moves an item, along an innermost dimension of two.
void split_wide_moves(Lowered& lowered) {
  ir::Kernel& kernel = lowered.kernel;
  if (!moves_only(kernel.body) || kernel.body.front().dtype != DType::c128) return;
  for (ir::Inst& inst : kernel.body) inst.dtype = DType::u64;
  bool is_dense = kernel.loops.size() == 1;
  for (ir::Operand& operand : kernel.operands) {
    operand.dtype = DType::u64;
    is_dense = is_dense && operand.strides.back() == 1;
  }
  const std::size_t num_operands = kernel.operands.size();
  if (is_dense) {  // the halves of one run of items are one run themselves
    lowered.extents[0] *= 2;
    for (std::size_t i = 0; i < num_operands; ++i) lowered.stride_bytes[i] = 8;
    return;
  }
  kernel.loops.push_back({});
  lowered.extents.push_back(2);
  for (ir::Operand& operand : kernel.operands) {
    operand.strides.back() = ir::stride_any;
    operand.strides.push_back(1);
    lowered.stride_bytes.push_back(8);
  }
}

/// Rows shorter than this fill no vector, and cost more to start than to run.
constexpr std::int64_t small_inner_extent = 8;

/// The dimension that becomes the innermost loop.  It is the iterator's fastest, unless its rows
/// are so short (the channels of an image) that strided vectors along the longest dimension do
/// better.
std::size_t innermost_dim(IntSpan shape) {
  if (shape.size() < 2 || shape[0] > small_inner_extent) return 0;
  const auto longest = std::max_element(shape.begin(), shape.end()) - shape.begin();
  return shape[static_cast<std::size_t>(longest)] >= 4 * shape[0]
             ? static_cast<std::size_t>(longest)
             : 0;
}

/// Elements of the innermost loop after which the short rows start over: what they share stays in
/// L1.
constexpr std::int64_t small_inner_block = 1024;

}  // namespace

Lowered lower(const TensorIterator& iterator, const Program& program, Numerics numerics,
              std::int64_t streaming_bytes) {
  Lowered lowered;
  ir::Kernel& kernel = lowered.kernel;
  kernel.numerics = numerics;
  kernel.is_streaming = streams_outputs(iterator, streaming_bytes);
  kernel.body = program.body;
  for (const Program::Param& param : program.params) kernel.params.push_back(param.dtype);

  const int num_loops = std::max(iterator.ndim(), 1);
  const int num_operands = iterator.ntensors();
  const std::size_t inner_dim = innermost_dim(iterator.shape());
  lowered.block_extent = inner_dim == 0 ? 0 : small_inner_block;
  kernel.loops.resize(static_cast<std::size_t>(num_loops));
  for (int loop = 0; loop < num_loops; ++loop) {
    // Outermost first; the dimension chosen for the innermost loop has left its place to those
    // outside it.
    auto dim = static_cast<std::size_t>(num_loops - 1 - loop);
    if (dim == 0)
      dim = inner_dim;
    else if (dim <= inner_dim)
      --dim;
    const bool is_scalar = iterator.ndim() == 0;
    lowered.extents.push_back(is_scalar ? 1 : iterator.shape()[dim]);
    for (int i = 0; i < num_operands; ++i)
      lowered.stride_bytes.push_back(is_scalar ? 0 : iterator.stride_bytes(i)[dim]);
  }
  for (int i = 0; i < num_operands; ++i) {
    const bool is_output = i < program.num_outputs;
    const DType dtype =
        is_output ? program.output_dtypes[static_cast<std::size_t>(i)] : iterator.dtype(i);
    ir::Operand operand{dtype, is_output ? ir::Role::output : ir::Role::input, {}};
    operand.strides.assign(static_cast<std::size_t>(num_loops), ir::stride_any);
    const auto inner =
        static_cast<std::size_t>(num_loops - 1) * static_cast<std::size_t>(num_operands) +
        static_cast<std::size_t>(i);
    operand.strides.back() =
        inner_class(lowered.stride_bytes[inner], lowered.extents.back(), dtype);
    kernel.operands.push_back(std::move(operand));
  }
  split_wide_moves(lowered);
  share_moves(kernel);
  return lowered;
}

}  // namespace weft
