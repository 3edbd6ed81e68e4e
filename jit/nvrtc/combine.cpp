// How partial results are combined: by an operator, or, where the op is a composite, by a function
// that is written next to the kernel.
#include "jit/nvrtc/combine.h"

#include "ir/builder.h"
#include "ir/pass.h"
#include "jit/nvrtc/body.h"
#include "jit/nvrtc/operators.h"

#include <weft/error.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit::nvrtc {
namespace {

using ir::Inst;
using ir::Kernel;

bool is_composite(Op op) { return info(op).form == Form::composite; }

/// One combination, of $1 and $2, after the passes.
Kernel combination_of(Op op, DType dtype, Numerics numerics) {
  Kernel kernel;
  kernel.numerics = numerics;
  kernel.loops.resize(1);
  for (const ir::Role role : {ir::Role::output, ir::Role::input, ir::Role::input})
    kernel.operands.push_back({dtype, role, {1}});
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.load(1, dtype), y = builder.load(2, dtype);
  builder.store(0, builder.apply(op, {x, y}));
  ir::run_pipeline(kernel);
  return kernel;
}

std::string function_name(Op op, DType dtype) {
  return detail::concat("combined_by_", name(op), "_", name(dtype));
}

}  // namespace

bool can_combine(Op op, DType dtype, Numerics numerics) {
  if (!is_composite(op)) return has_operator(op, dtype);
  const Kernel kernel = combination_of(op, dtype, numerics);
  return std::ranges::all_of(kernel.body, [&](const Inst& inst) {
    if (inst.op == Op::cast)
      return has_cast(ir::result_dtype(kernel.body[inst.args[0]]), inst.dtype);
    return info(inst.op).form == Form::structural || has_operator(inst.op, inst.dtype);
  });
}

void emit_combinations(Source& source, const Kernel& kernel) {
  std::vector<std::string> known;
  for (const Inst& inst : kernel.body) {
    if (!ir::accumulates(inst) || !is_composite(inst.combine)) continue;
    const std::string function = function_name(inst.combine, inst.dtype);
    if (std::ranges::find(known, function) != known.end()) continue;
    known.push_back(function);
    const std::string_view type = value_type(inst.dtype);
    // Hundreds of instructions, which stand once in the code and not for every partial result.
    source.open("__device__ __noinline__ ", type, " ", function, "(", type, " x, ", type, " y)");
    const Kernel combination = combination_of(inst.combine, inst.dtype, kernel.numerics);
    const Body body(combination, false);
    const auto load = [](std::size_t k) { return std::string(k == 1 ? "x" : "y"); };
    const auto store = [&](std::size_t, const std::string& value) {
      source.line("return ", value, ";");
    };
    for (const Body::Level level : {Body::Level::kernel, Body::Level::item})
      body.emit(source, level, load, store);
    source.close();
  }
}

std::string combined_text(const Inst& inst, const std::string& kept, const std::string& value) {
  if (is_composite(inst.combine))
    return detail::concat(function_name(inst.combine, inst.dtype), "(", kept, ", ", value, ")");
  const std::string args[] = {kept, value};
  return operator_text(inst.combine, inst.dtype, args);
}

}  // namespace weft::jit::nvrtc
