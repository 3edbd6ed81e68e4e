// What passes that replace instructions share: a walk over the old body that builds a new one.
#pragma once

#include "ir/builder.h"
#include "ir/limits.h"
#include "ir/verifier.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

namespace weft::ir {

/// Rebuilds a kernel's body.  `replace(builder, id, inst, args)` gets each old instruction, with
/// its arguments in the new body, and returns the value that takes its place (any value for a
/// store).
///
/// Errors: KernelLimitError if the new body gets too long even for a pass; the kernel has lost its
/// body then.
template <class Replace>
bool rewrite_body(Kernel& kernel, Replace&& replace) {
  const std::vector<Inst> old = std::move(kernel.body);
  std::vector<Inst> body;
  body.reserve(old.size());
  Builder builder(body);
  std::vector<ValueId> renamed(old.size(), no_value);
  std::uint32_t num_hoisted = 0;
  for (ValueId id = 0; id < old.size(); ++id) {
    std::array<Value, max_arity> args{};
    std::size_t num_args = 0;
    for (ValueId arg : old[id].args)
      if (arg != no_value) args[num_args++] = builder.value(renamed[arg]);
    renamed[id] = replace(builder, id, old[id], std::span<const Value>(args.data(), num_args)).id;
    if (body.size() > max_instructions_between) [[unlikely]]
      check_size_between(body.size());
    if (id + 1 == kernel.num_hoisted) num_hoisted = static_cast<std::uint32_t>(body.size());
  }
  const bool changed = body != old;
  kernel.body = std::move(body);
  kernel.num_hoisted = num_hoisted;
  return changed;
}

/// `inst` with other arguments, appended.
inline Value append_with(Builder& builder, Inst inst, std::span<const Value> args) {
  for (std::size_t i = 0; i < args.size(); ++i) inst.args[i] = args[i].id;
  return builder.append(inst);
}

}  // namespace weft::ir
