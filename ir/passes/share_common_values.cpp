#include "ir/pass.h"
#include "ir/passes/rewrite.h"

#include <unordered_map>

namespace weft::ir {
namespace {

struct HashOfInst {
  std::size_t operator()(const Inst& inst) const {
    std::size_t hash = static_cast<std::size_t>(inst.op) |
                       static_cast<std::size_t>(inst.dtype) << 8 |
                       static_cast<std::size_t>(inst.operand) << 16;
    const auto mix = [&](std::uint64_t word) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u ^ hash >> 29;
    };
    for (ValueId arg : inst.args) mix(arg);
    mix(inst.bits.lo);
    mix(inst.bits.hi);
    return hash;
  }
};

}  // namespace

bool share_common_values(Kernel& kernel) {
  std::unordered_map<Inst, Value, HashOfInst> seen;
  return rewrite_body(kernel,
                      [&](Builder& builder, ValueId, Inst inst, std::span<const Value> args) {
                        for (std::size_t i = 0; i < args.size(); ++i) inst.args[i] = args[i].id;
                        if (info(inst.op).has_side_effect) return builder.append(inst);
                        const auto found = seen.find(inst);
                        if (found != seen.end()) return found->second;
                        return seen.emplace(inst, builder.append(inst)).first->second;
                      });
}

}  // namespace weft::ir
