#include "jit/xbyak/invariant_bounds.h"

#include "jit/xbyak/rows.h"

#include <algorithm>
#include <optional>

namespace weft::jit::xbyak {
namespace {

/// Of a maximum or minimum in the loop whose first argument is known before it; constants, which
/// are no NaN, need nothing.
bool has_invariant_bound(const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  return id >= kernel.num_hoisted && (inst.op == Op::maximum || inst.op == Op::minimum) &&
         (inst.dtype == DType::f32 || inst.dtype == DType::f64) &&
         inst.args[0] < kernel.num_hoisted && kernel.body[inst.args[0]].op != Op::constant;
}

}  // namespace

InvariantBounds::InvariantBounds(Assembler& code, Registers& registers, const ir::Kernel& kernel,
                                 bool calls)
    : code_(code), registers_(registers), kernel_(kernel) {
  if (calls) return;
  for (ir::ValueId id = kernel.num_hoisted; id < kernel.body.size(); ++id) {
    if (!has_invariant_bound(kernel, id) || can_emit(id)) continue;
    const std::optional<int> index = registers.keep();
    if (!index) return;
    masks_.push_back({kernel.body[id].args[0], *index});
  }
}

const InvariantBounds::Mask* InvariantBounds::mask_of(ir::ValueId id) const {
  if (masks_.empty() || !has_invariant_bound(kernel_, id)) return nullptr;
  const auto found = std::ranges::find(masks_, kernel_.body[id].args[0], &Mask::bound);
  return found == masks_.end() ? nullptr : &*found;
}

Xmm InvariantBounds::kept(const Mask& mask) const {
  const auto itemsize = static_cast<int>(itemsize_bytes(kernel_.body[mask.bound].dtype));
  return vector_register(mask.index, std::max(16, itemsize * registers_.lanes()));
}

void InvariantBounds::prepare(ir::ValueId id) {
  const auto found = std::ranges::find(masks_, id, &Mask::bound);
  if (found == masks_.end()) return;
  constexpr std::uint8_t unordered = 3;
  const bool is_double = kernel_.body[id].dtype == DType::f64;
  const Xmm mask = kept(*found), bound = registers_.use(id);
  code_.note_written(mask);
  if (!code_.has_avx512())
    return is_double ? code_.vcmppd(mask, bound, bound, unordered)
                     : code_.vcmpps(mask, bound, bound, unordered);
  const Opmask is_nan = registers_.temp_mask();
  if (is_double) {
    code_.vcmppd(is_nan, bound, bound, unordered);
    code_.vpmovm2q(mask, is_nan);
  } else {
    code_.vcmpps(is_nan, bound, bound, unordered);
    code_.vpmovm2d(mask, is_nan);
  }
}

void InvariantBounds::emit(ir::ValueId id, const Xmm& out, const Xmm& bound, const Xmm& x) {
  emit_machine_extremum(code_, kernel_.body[id], out, bound, x);
  const Xmm mask = kept(*mask_of(id));
  constexpr std::uint8_t second_where_third = 0xd8;
  if (code_.has_avx512())
    code_.vpternlogd(out, bound, mask, second_where_third);
  else
    code_.vblendvps(out, out, bound, mask);
}

}  // namespace weft::jit::xbyak
