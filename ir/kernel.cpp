#include "ir/kernel.h"

#include <algorithm>

namespace weft::ir {
namespace {

/// Mixes one word into a running hash (the finaliser of splitmix64).
void mix(std::uint64_t& hash, std::uint64_t word) {
  hash ^= word + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  hash ^= hash >> 31;
}

}  // namespace

namespace {

/// The complex dtype whose parts have this dtype.
DType complex_dtype(DType dtype) {
  switch (dtype) {
    case DType::f16: return DType::c32;
    case DType::f32: return DType::c64;
    case DType::f64: return DType::c128;
    default: return dtype;
  }
}

}  // namespace

DType result_dtype(const Inst& inst) {
  switch (info(inst.op).result) {
    case ResultRule::boolean: return DType::boolean;
    case ResultRule::floating_part:
    case ResultRule::real_part: return real_dtype(inst.dtype);
    case ResultRule::pair: return complex_dtype(inst.dtype);
    case ResultRule::i32: return DType::i32;
    default: return inst.dtype;
  }
}

bool is_transposed(const Operand& operand) {
  const std::size_t inner = operand.strides.size() - 1;
  const StrideClass stride = operand.strides[inner];
  return stride != 0 && !is_adjacent(stride) && is_adjacent(operand.strides[inner - 1]);
}

bool reduces_rows(const Kernel& kernel) {
  const std::size_t num_loops = kernel.loops.size();
  return is_reduction(kernel) && num_loops >= 2 && kernel.loops.back().kind == LoopKind::reduce &&
         kernel.loops[num_loops - 2].kind == LoopKind::parallel;
}

bool is_scan(const Kernel& kernel) {
  return std::ranges::find(kernel.loops, LoopKind::scan, &Loop::kind) != kernel.loops.end();
}

bool has_places(const Kernel& kernel) {
  return std::ranges::find(kernel.operands, Role::place, &Operand::role) != kernel.operands.end() ||
         std::ranges::find(kernel.body, Op::accumulate_place, &Inst::op) != kernel.body.end();
}

std::uint64_t structural_hash(const Kernel& kernel) {
  std::uint64_t hash = 0;
  mix(hash, static_cast<std::uint64_t>(kernel.numerics) |
                static_cast<std::uint64_t>(kernel.schedule) << 8 |
                static_cast<std::uint64_t>(kernel.is_streaming) << 16 |
                static_cast<std::uint64_t>(kernel.is_unfenced) << 17 |
                static_cast<std::uint64_t>(kernel.num_hoisted) << 32);
  mix(hash, static_cast<std::uint64_t>(kernel.vector_bytes));
  mix(hash, static_cast<std::uint64_t>(kernel.tree.lanes) << 32 |
                static_cast<std::uint32_t>(kernel.tree.block));
  mix(hash, kernel.operands.size());
  for (const Operand& operand : kernel.operands) {
    mix(hash,
        static_cast<std::uint64_t>(operand.dtype) | static_cast<std::uint64_t>(operand.role) << 8 |
            static_cast<std::uint64_t>(operand.strides.size()) << 16 |
            static_cast<std::uint64_t>(operand.is_imaginary) << 31 |
            static_cast<std::uint64_t>(static_cast<std::uint32_t>(operand.ahead_bytes)) << 32);
    for (StrideClass stride : operand.strides) mix(hash, static_cast<std::uint8_t>(stride));
  }
  mix(hash, kernel.params.size());
  for (DType dtype : kernel.params) mix(hash, static_cast<std::uint64_t>(dtype));
  mix(hash, kernel.loops.size());
  for (const Loop& loop : kernel.loops) {
    mix(hash, static_cast<std::uint64_t>(loop.kind));
    mix(hash, static_cast<std::uint64_t>(static_cast<std::uint32_t>(loop.lanes)) << 32 |
                  static_cast<std::uint32_t>(loop.unroll));
  }
  mix(hash, kernel.body.size());
  for (const Inst& inst : kernel.body) {
    mix(hash, static_cast<std::uint64_t>(inst.op) | static_cast<std::uint64_t>(inst.dtype) << 8 |
                  static_cast<std::uint64_t>(inst.operand) << 16 |
                  static_cast<std::uint64_t>(inst.combine) << 24);
    for (ValueId arg : inst.args) mix(hash, arg);
    mix(hash, inst.bits.lo);
    mix(hash, inst.bits.hi);
  }
  return hash;
}

std::string_view name(Role role) {
  switch (role) {
    case Role::input: return "in";
    case Role::output: return "out";
    case Role::place: return "place";
  }
  return "";
}

std::string_view name(LoopKind kind) {
  switch (kind) {
    case LoopKind::parallel: return "parallel";
    case LoopKind::sequential: return "sequential";
    case LoopKind::vector: return "vector";
    case LoopKind::tile: return "tile";
    case LoopKind::reduce: return "reduce";
    case LoopKind::scan: return "scan";
  }
  return "";
}

std::string_view name(Schedule schedule) {
  switch (schedule) {
    case Schedule::unscheduled: return "unscheduled";
    case Schedule::scalar: return "scalar";
    case Schedule::linear: return "linear";
    case Schedule::strided: return "strided";
    case Schedule::tile: return "tile";
    case Schedule::inner_reduce: return "inner_reduce";
    case Schedule::outer_reduce: return "outer_reduce";
  }
  return "";
}

}  // namespace weft::ir
