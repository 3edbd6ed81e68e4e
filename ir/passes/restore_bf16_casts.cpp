// Casts from f32 to bf16, put together again after expand_casts() for machines that have them.
#include "ir/pass.h"

#include <utility>
#include <vector>

namespace weft::ir {
namespace {

constexpr std::uint32_t half_less_one = 0x7fff;
constexpr std::uint32_t nan_bits = 0x7fc00000;

/// What expand_casts() makes of a cast from f32 to bf16, with constants on either side of what
/// commutes.  What returns a value returns none where the pattern is another.
class Pattern {
 public:
  explicit Pattern(const Kernel& kernel) : body_(kernel.body) {}

  /// The f32 that instruction `id` has rounded.
  ValueId rounded(ValueId id) const {
    const ValueId item = argument(id, Op::bitcast, DType::bf16, 0);
    const ValueId half = argument(item, Op::cast, DType::u16, 0);
    const ValueId chosen = with_constant(half, Op::bitwise_right_shift, 16);
    const ValueId is_nan = argument(chosen, Op::where, DType::u32, 0);
    if (!is_constant(argument(chosen, Op::where, DType::u32, 1), nan_bits)) return no_value;
    const ValueId x = argument(is_nan, Op::ne, DType::f32, 0);
    if (x == no_value || argument(is_nan, Op::ne, DType::f32, 1) != x) return no_value;
    const ValueId sum = argument(chosen, Op::where, DType::u32, 2);
    return is_rounding(sum, x) ? x : no_value;
  }

 private:
  /// Whether a value is the bits of `x`, rounded where the lower half begins.
  bool is_rounding(ValueId sum, ValueId x) const {
    const ValueId first = argument(sum, Op::add, DType::u32, 0);
    const ValueId second = argument(sum, Op::add, DType::u32, 1);
    for (const auto& [biased, odd] : {std::pair(first, second), std::pair(second, first)}) {
      const ValueId bits = with_constant(biased, Op::add, half_less_one);
      const ValueId high = with_constant(odd, Op::bitwise_and, 1);
      const ValueId shifted = with_constant(high, Op::bitwise_right_shift, 16);
      if (bits != no_value && bits == shifted && argument(bits, Op::bitcast, DType::u32, 0) == x)
        return true;
    }
    return false;
  }
  bool is(ValueId id, Op op, DType dtype) const {
    return id != no_value && body_[id].op == op && body_[id].dtype == dtype;
  }
  ValueId argument(ValueId id, Op op, DType dtype, std::size_t index) const {
    return is(id, op, dtype) ? body_[id].args[index] : no_value;
  }
  bool is_constant(ValueId id, std::uint32_t bits) const {
    return is(id, Op::constant, DType::u32) && body_[id].bits.lo == bits;
  }
  /// The argument of a u32 op besides a constant.
  ValueId with_constant(ValueId id, Op op, std::uint32_t bits) const {
    if (is_constant(argument(id, op, DType::u32, 1), bits)) return body_[id].args[0];
    const bool commutes = op != Op::bitwise_right_shift;
    if (commutes && is_constant(argument(id, op, DType::u32, 0), bits)) return body_[id].args[1];
    return no_value;
  }

  const std::vector<Inst>& body_;
};

}  // namespace

bool restore_bf16_casts(Kernel& kernel) {
  const Pattern pattern(kernel);
  bool changed = false;
  for (ValueId id = 0; id < kernel.body.size(); ++id) {
    const ValueId x = pattern.rounded(id);
    if (x == no_value) continue;
    kernel.body[id] = {
        .op = Op::cast, .dtype = DType::bf16, .args = {x, no_value, no_value, no_value}};
    changed = true;
  }
  if (changed) eliminate_dead_code(kernel);
  return changed;
}

}  // namespace weft::ir
