#include "ir/evaluate.h"

#include <weft/error.h>

#include <array>

namespace weft::ir {

template <class Element>
BlockFunction find_block_function(Op op);  // ir/evaluate_rows.h, instantiated elsewhere

BlockFunction block_function(Op op, DType dtype) {
  return visit_dtype(dtype,
                     [op]<class T>(std::type_identity<T>) { return find_block_function<T>(op); });
}

Bits evaluate(const Inst& inst, std::span<const Bits> args, DType arg_dtype) {
  if (inst.op == Op::bitcast) return args[0];
  const BlockFunction function = inst.op == Op::cast ? cast_function(inst.dtype, arg_dtype)
                                                     : block_function(inst.op, inst.dtype);
  WEFT_ASSERT(function != nullptr, name(inst.op), ' ', name(inst.dtype), " has no value");
  std::array<const void*, max_arity> pointers{};
  for (std::size_t i = 0; i < args.size() && i < pointers.size(); ++i) pointers[i] = &args[i];
  Bits result;
  function(&result, pointers.data(), 1);
  return result;
}

}  // namespace weft::ir
