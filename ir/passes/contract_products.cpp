// Under Numerics::fast: x * y + z with one rounding.  In the IR and not in the backends' compilers,
// so that every backend gives the same bits, and before the composites are opened, whose
// compensated arithmetic must stay as it is written.
#include "ir/pass.h"
#include "ir/passes/rewrite.h"

#include <algorithm>

namespace weft::ir {
namespace {

bool has_fma(const Inst& inst) { return inst.dtype == DType::f32 || inst.dtype == DType::f64; }

/// Opens the composites that are sums and products of their arguments, such as addcmul: what they
/// compute is what an expression of the same meaning does.
bool open_sums_of_products(Kernel& kernel) {
  const auto is_arithmetic = [](const Inst& inst) {
    return inst.op == Op::add || inst.op == Op::sub || inst.op == Op::mul ||
           inst.op == Op::constant;
  };
  const auto is_sum_of_products = [&](const Inst& inst) {
    if (info(inst.op).form != Form::composite || !has_fma(inst)) return false;
    std::vector<Inst> body;
    Builder trial(body);
    std::array<Value, max_arity> args{};
    const auto arity = static_cast<std::size_t>(info(inst.op).arity);
    for (std::size_t i = 0; i < arity; ++i) args[i] = trial.constant(inst.dtype, Bits{});
    trial.expand(inst.op, std::span<const Value>(args.data(), arity));
    return std::ranges::all_of(body, is_arithmetic);
  };
  return rewrite_body(
      kernel, [&](Builder& builder, ValueId, const Inst& inst, std::span<const Value> args) {
        return is_sum_of_products(inst) ? builder.expand(inst.op, args)
                                        : append_with(builder, inst, args);
      });
}

std::vector<int> count_uses(const std::vector<Inst>& body) {
  std::vector<int> uses(body.size());
  for (const Inst& inst : body)
    for (const ValueId arg : inst.args)
      if (arg != no_value) ++uses[arg];
  return uses;
}

/// The products stay behind without a use.
bool fuse(Kernel& kernel) {
  const std::vector<Inst> old = kernel.body;
  const std::vector<int> uses = count_uses(old);
  return rewrite_body(
      kernel, [&](Builder& builder, ValueId, const Inst& inst, std::span<const Value> args) {
        if ((inst.op != Op::add && inst.op != Op::sub) || !has_fma(inst))
          return append_with(builder, inst, args);
        const auto is_product = [&](int i) {
          const ValueId arg = inst.args[static_cast<std::size_t>(i)];
          return old[arg].op == Op::mul && uses[arg] == 1;
        };
        const int product = is_product(0) ? 0 : is_product(1) ? 1 : -1;
        if (product < 0) return append_with(builder, inst, args);
        const Inst& factors = builder.body()[args[static_cast<std::size_t>(product)].id];
        Value x = builder.value(factors.args[0]), z = args[static_cast<std::size_t>(1 - product)];
        const Value y = builder.value(factors.args[1]);
        if (inst.op == Op::sub) (product == 0 ? z : x) = -(product == 0 ? z : x);
        return builder.apply(Op::fma, {x, y, z});
      });
}

}  // namespace

bool contract_products(Kernel& kernel) {
  if (kernel.numerics != Numerics::fast) return false;
  const bool opened = open_sums_of_products(kernel);
  // Whether a product has other uses must not depend on how often an expression writes it.
  const bool shared = share_common_values(kernel);
  return fuse(kernel) || shared || opened;
}

}  // namespace weft::ir
