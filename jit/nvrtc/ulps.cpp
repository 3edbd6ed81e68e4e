#include "jit/nvrtc/ulps.h"

#include "ir/builder.h"
#include "jit/nvrtc/backend.h"
#include "jit/nvrtc/operators.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace weft::jit::nvrtc {
namespace {

using ir::Inst;
using ir::Kernel;
using ir::ValueId;

struct Distance {
  double ulps = 0;
  bool is_of_larger = false;  ///< in units of the larger part of a complex number
};

/// One op of loads, as it is before the passes.
Kernel kernel_of(Op op, DType dtype, Numerics numerics) {
  Kernel kernel;
  kernel.numerics = numerics;
  kernel.loops.resize(1);
  kernel.operands.push_back({dtype, ir::Role::output, {1}});
  Inst inst{.op = op, .dtype = dtype};
  for (int i = 0; i < info(op).arity; ++i) {
    const bool is_mask = i == 0 && info(op).result == ResultRule::select;
    const DType loaded = is_mask ? DType::boolean : dtype;
    const auto operand = static_cast<std::uint8_t>(kernel.operands.size());
    kernel.operands.push_back({loaded, ir::Role::input, {1}});
    kernel.body.push_back({.op = Op::load, .dtype = loaded, .operand = operand});
    inst.args[static_cast<std::size_t>(i)] = static_cast<ValueId>(i);
  }
  kernel.body.push_back(inst);
  kernel.operands[0].dtype = ir::result_dtype(inst);
  Inst store{.op = Op::store, .dtype = kernel.operands[0].dtype};
  store.args[0] = static_cast<ValueId>(kernel.body.size() - 1);
  kernel.body.push_back(store);
  return kernel;
}

/// Of what an instruction makes of inexact arguments.
Distance carried(Op op, const std::array<Distance, max_arity>& args) {
  const Distance &x = args[0], &y = args[1], &z = args[2];
  const auto either = [](const Distance& a, const Distance& b) {
    return Distance{std::max(a.ulps, b.ulps), a.is_of_larger || b.is_of_larger};
  };
  switch (op) {
    case Op::store:
    case Op::neg:
    case Op::abs: return x;
    case Op::complex: return either(x, y);
    case Op::where: return x.ulps == 0 ? either(y, z) : Distance{unknown_ulps};
    // The relative error stays, which may be twice as many units, and both round.
    case Op::mul:
    case Op::div:
      if ((x.ulps != 0 && y.ulps != 0) || x.is_of_larger || y.is_of_larger) break;
      return {2 * std::max(x.ulps, y.ulps) + 1};
    default: break;
  }
  return {unknown_ulps};
}

}  // namespace

double ulps_of_result(Op op, DType dtype, Numerics numerics) {
  const Prepared prepared = prepare(kernel_of(op, dtype, numerics));
  if (!prepared.refusal.empty()) return unknown_ulps;
  const Kernel& kernel = prepared.kernel;
  std::vector<Distance> distances;
  double furthest = 0;
  for (const Inst& inst : kernel.body) {
    std::array<Distance, max_arity> args{};
    for (std::size_t i = 0; i < inst.args.size(); ++i)
      if (inst.args[i] != ir::no_value) args[i] = distances[inst.args[i]];
    const bool is_exact =
        std::ranges::all_of(args, [](const Distance& arg) { return arg.ulps == 0; });
    distances.push_back(is_exact
                            ? Distance{ulps_apart(inst.op, inst.dtype), is_part_function(inst.op)}
                            : carried(inst.op, args));
    if (inst.op == Op::store) furthest = std::max(furthest, distances.back().ulps);
  }
  return furthest;
}

}  // namespace weft::jit::nvrtc
