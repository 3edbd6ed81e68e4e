#include "jit/nvrtc/backend.h"

#include "ir/pass.h"
#include "jit/nvrtc/body.h"
#include "jit/nvrtc/combine.h"
#include "jit/nvrtc/operators.h"
#include "jit/nvrtc/reduce.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;

constexpr auto archs =
    std::to_array<std::string_view>({"sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90",
                                     "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"});

/// What the passes plan for: the widest access of a thread.
constexpr int vector_bytes = 16;

/// Kernels have room for 4096 bytes of arguments.
constexpr std::size_t max_argument_bytes = 4096;

std::size_t argument_bytes(const Kernel& kernel) {
  const std::size_t num_operands = kernel.operands.size(), num_loops = kernel.loops.size();
  const std::size_t of_schedule = reduces_or_scans(kernel) ? 15 : 1;
  return 8 *
         (num_operands * (1 + num_loops) + 3 * num_loops + 2 * kernel.params.size() + of_schedule);
}

/// Whether the body only moves elements: then complex ones can be moved whole.
bool moves_only(const Kernel& kernel) {
  return std::ranges::all_of(kernel.body, [](const ir::Inst& inst) {
    return inst.op == Op::load || inst.op == Op::store;
  });
}

/// Whether an instruction on complex numbers may be emitted as it is, if there is code for it.
bool stays_whole(const Kernel& kernel, const ir::Inst& inst) {
  return moves_only(kernel) || (reduces_or_scans(kernel) && inst.op != Op::param);
}

std::string refuse(const Kernel& kernel, ir::ValueId id, std::string_view why) {
  const ir::Inst& inst = kernel.body[id];
  return detail::concat("%", id, " ", name(inst.op), " ", name(inst.dtype), " ", why);
}

std::string refuses_inst(const Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  if (inst.op == Op::cast) {
    const DType from = ir::result_dtype(kernel.body[inst.args[0]]);
    if (!has_cast(from, inst.dtype))
      return refuse(kernel, id, detail::concat("from ", name(from), " has no lowering"));
  }
  if (info(inst.op).form == Form::structural) return {};
  if (info(inst.op).form == Form::composite) return refuse(kernel, id, "is a composite op");
  if (!has_operator(inst.op, inst.dtype)) return refuse(kernel, id, "has no lowering");
  return {};
}

/// What a kernel has to be beyond that if it reduces or scans.
std::string refuses_reduction(const Kernel& kernel) {
  constexpr std::size_t most_instructions = 2048;
  if (ir::is_scan(kernel) && num_outputs(kernel) != 1) return "several outputs are scanned";
  const Variant widest{.items = most_accumulated_items(kernel), .index_bits = 32};
  const auto items = static_cast<std::size_t>(ir::is_scan(kernel) ? scanned_items(kernel, widest)
                                                                  : sets_of(kernel, widest).items);
  if (items * kernel.body.size() > most_instructions)
    return detail::concat(kernel.body.size(), " instructions for each of a thread's ", items,
                          " partial results are more than ", most_instructions);
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    const ir::Inst& inst = kernel.body[id];
    if (ir::accumulates(inst) && !can_combine(inst.combine, inst.dtype, kernel.numerics))
      return refuse(kernel, id, detail::concat(name(inst.combine), " has no lowering"));
  }
  return {};
}

}  // namespace

void check_arch(std::string_view arch) {
  if (std::ranges::find(archs, arch) != archs.end()) return;
  std::string known;
  for (const std::string_view name : archs) known.append(known.empty() ? "" : ", ").append(name);
  throw ArgumentError(detail::concat("unknown arch '", arch, "'; there are ", known));
}

std::string refuses(const Kernel& kernel) {
  if (reduces_or_scans(kernel))
    if (std::string reason = refuses_reduction(kernel); !reason.empty()) return reason;
  if (!reduces_or_scans(kernel) && ir::has_places(kernel)) return "places are stored";
  if (argument_bytes(kernel) > max_argument_bytes)
    return detail::concat(kernel.operands.size(), " operands along ", kernel.loops.size(),
                          " loops, whose strides are more than the ", max_argument_bytes,
                          " bytes that a launch takes");
  for (std::size_t k = 0; k < kernel.operands.size(); ++k)
    if (kernel.operands[k].role == ir::Role::output && kernel.operands[k].strides.back() == 0 &&
        kernel.loops.back().kind != ir::LoopKind::reduce)
      return detail::concat("$", k, " is an output whose elements are one, and threads would race");
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    if (is_complex(kernel.body[id].dtype) && !stays_whole(kernel, kernel.body[id]))
      return refuse(kernel, id, "is complex");
    if (std::string reason = refuses_inst(kernel, id); !reason.empty()) return reason;
  }
  return {};
}

Prepared prepare(Kernel kernel) {
  Prepared prepared;
  kernel.vector_bytes = vector_bytes;
  ir::run_pipeline(kernel);
  // What only combines is moved whole; what computes in front of that does so in parts.
  if (ir::has_complex(kernel) && !refuses(kernel).empty()) {
    ir::SplitKernel split = ir::split_complex(kernel);
    prepared.kernel = std::move(split.kernel);
    prepared.operands = std::move(split.operands);
    prepared.params = std::move(split.params);
    prepared.refusal = std::move(split.reason);
  } else {
    prepared.kernel = std::move(kernel);
    for (std::size_t k = 0; k < prepared.kernel.operands.size(); ++k)
      prepared.operands.push_back({static_cast<std::uint8_t>(k), 0});
    for (std::size_t p = 0; p < prepared.kernel.params.size(); ++p)
      prepared.params.push_back({static_cast<std::uint8_t>(p), 0});
  }
  if (prepared.refusal.empty()) prepared.refusal = refuses(prepared.kernel);
  return prepared;
}

Nest nest_of_parts(const Prepared& prepared, const Nest& whole) {
  Nest parts;
  parts.extents = whole.extents;
  const std::size_t num_whole = whole.base.size();
  for (std::size_t loop = 0; loop < whole.extents.size(); ++loop)
    for (const ir::PartOf& part : prepared.operands)
      parts.stride_bytes.push_back(whole.stride_bytes[loop * num_whole + part.source]);
  for (const ir::PartOf& part : prepared.operands)
    parts.base.push_back(whole.base[part.source] + part.offset_bytes);
  for (const ir::PartOf& part : prepared.params) {
    Bits bits{};
    const auto* const bytes = reinterpret_cast<const std::byte*>(&whole.params[part.source]);
    std::memcpy(&bits, bytes + part.offset_bytes, sizeof bits - part.offset_bytes);
    parts.params.push_back(bits);
  }
  return parts;
}

}  // namespace weft::jit::nvrtc
