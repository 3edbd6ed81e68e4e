#include "ir/pass.h"
#include "ir/passes/rewrite.h"

#include <bit>
#include <vector>

namespace weft::ir {
namespace {

std::size_t hash_of(const Inst& inst) {
  std::size_t hash = static_cast<std::size_t>(inst.op) | static_cast<std::size_t>(inst.dtype) << 8 |
                     static_cast<std::size_t>(inst.operand) << 16;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  for (ValueId arg : inst.args) mix(arg);
  mix(inst.bits.lo);
  mix(inst.bits.hi);
  return hash;
}

/// The instructions of a body that grows, by what they compute.  One array, at most half of it in
/// use, so that a body of a few instructions costs one allocation.
class Seen {
 public:
  explicit Seen(std::size_t max_instructions)
      : places_(std::bit_ceil(2 * max_instructions + 1), no_value) {}

  /// Where an equal instruction is noted, or is to be.
  ValueId& find(const std::vector<Inst>& body, const Inst& inst) {
    const std::size_t last = places_.size() - 1;
    std::size_t at = hash_of(inst) & last;
    while (places_[at] != no_value && body[places_[at]] != inst) at = (at + 1) & last;
    return places_[at];
  }

 private:
  std::vector<ValueId> places_;
};

}  // namespace

bool share_common_values(Kernel& kernel) {
  Seen seen(kernel.body.size());
  return rewrite_body(kernel,
                      [&](Builder& builder, ValueId, Inst inst, std::span<const Value> args) {
                        for (std::size_t i = 0; i < args.size(); ++i) inst.args[i] = args[i].id;
                        if (info(inst.op).has_side_effect) return builder.append(inst);
                        ValueId& noted = seen.find(builder.body(), inst);
                        if (noted == no_value) noted = builder.append(inst).id;
                        return builder.value(noted);
                      });
}

}  // namespace weft::ir
