// The rows of the op table for what is computed in a wider dtype: those of that dtype, between
// conversions.
#include "ir/evaluate_rows.h"

#include <algorithm>
#include <array>

namespace weft::ir {
namespace internal {
namespace {

constexpr std::size_t block_elements = 64;
/// Elements of any dtype that is computed in.
using Block = std::array<std::complex<float>, block_elements>;

DType result_dtype_of(Op op, DType dtype) { return result_dtype({.op = op, .dtype = dtype}); }

}  // namespace

void run_wider(Op op, DType dtype, void* out, const void* const* args, std::size_t num_elements) {
  const DType wider = wide_dtype(dtype);
  const DType result = result_dtype_of(op, dtype), wider_result = result_dtype_of(op, wider);
  const BlockFunction compute = block_function(op, wider);
  const BlockFunction widen = cast_function(wider, dtype);
  const BlockFunction narrow =
      result == wider_result ? nullptr : cast_function(result, wider_result);
  const int first = info(op).result == ResultRule::select ? 1 : 0;  // before it, a mask
  std::array<Block, max_arity> wide_args;
  Block wide_result;
  for (std::size_t done = 0; done < num_elements; done += block_elements) {
    const std::size_t count = std::min(num_elements - done, block_elements);
    std::array<const void*, max_arity> pointers{};
    if (first == 1) pointers[0] = static_cast<const bool*>(args[0]) + done;
    for (int i = first; i < info(op).arity; ++i) {
      const void* const from =
          static_cast<const std::byte*>(args[i]) + done * itemsize_bytes(dtype);
      widen(wide_args[i].data(), &from, count);
      pointers[i] = wide_args[i].data();
    }
    void* const to = static_cast<std::byte*>(out) + done * itemsize_bytes(result);
    compute(narrow == nullptr ? to : wide_result.data(), pointers.data(), count);
    const void* const computed = wide_result.data();
    if (narrow != nullptr) narrow(to, &computed, count);
  }
}

}  // namespace internal

template BlockFunction find_block_function<f16>(Op);
template BlockFunction find_block_function<bf16>(Op);
template BlockFunction find_block_function<f8e4m3fn>(Op);
template BlockFunction find_block_function<f8e5m2>(Op);
template BlockFunction find_block_function<c32>(Op);

}  // namespace weft::ir
