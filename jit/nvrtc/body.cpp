#include "jit/nvrtc/body.h"

#include "jit/nvrtc/operators.h"

#include <algorithm>

namespace weft::jit::nvrtc {
namespace {

using ir::Inst;
using ir::Kernel;
using ir::ValueId;

bool is_minus_one(const Inst& inst) {
  constexpr std::uint64_t f32_bits = 0xbf800000, f64_bits = 0xbff0000000000000;
  return inst.op == Op::constant && ((inst.dtype == DType::f32 && inst.bits.lo == f32_bits) ||
                                     (inst.dtype == DType::f64 && inst.bits.lo == f64_bits));
}

std::string value_name(ValueId id) { return "v" + std::to_string(id); }

}  // namespace

void Source::lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (line.starts_with('}')) --depth_;
    if (!line.starts_with('#')) text_.append(2 * depth_, ' ');
    text_.append(line).push_back('\n');
    if (line.ends_with('{')) ++depth_;
  }
}

void emit_arguments(Source& source, const Kernel& kernel, const Variant& variant) {
  const std::size_t num_loops = kernel.loops.size();
  source.line("typedef u", variant.index_bits, " Index;");
  source.open("struct Args");
  source.line("u8* base[", kernel.operands.size(), "];");
  source.line("i64 stride_bytes[", num_loops, "][", kernel.operands.size(), "];");
  source.line("u64 work;         // vectors or tiles");
  source.line("u64 inner, rows, batches;  // extents of the innermost loops, from the inside");
  if (num_loops > 1) source.line("Divisor divide[", num_loops - 1, "];  // innermost first");
  if (!kernel.params.empty()) source.line("u64 param[", kernel.params.size(), "][2];");
  source.close(";");
}

std::string stride_text(const Kernel& kernel, std::size_t loop, std::size_t operand) {
  const ir::StrideClass known = kernel.operands[operand].strides[loop];
  if (known == ir::stride_any)
    return detail::concat("args.stride_bytes[", loop, "][", operand, "]");
  return detail::concat(
      "i64(", known * static_cast<int>(itemsize_bytes(kernel.operands[operand].dtype)), ")");
}

void emit_locate(Source& source, const Kernel& kernel, const Variant& variant) {
  const std::size_t num_loops = kernel.loops.size(), num_operands = kernel.operands.size();
  const bool is_tile = kernel.schedule == ir::Schedule::tile;
  source.open("__device__ __forceinline__ void locate(const Args& args, Index at, ",
              is_tile ? "Index& column, Index& row, Index& batch, " : "", "i64 (&offset)[",
              num_operands, "])");
  // The innermost loop counts vectors or sides of tiles, as does the loop around it in tiles.
  for (std::size_t i = 0; i + 1 < num_loops; ++i) {
    const std::size_t loop = num_loops - 1 - i;
    source.line("const Index rest", loop, " = quotient(at, args.divide[", i, "]);");
    source.line("const Index index", loop, " = at - rest", loop, " * Index(args.divide[", i,
                "].divisor);");
    source.line("at = rest", loop, ";");
  }
  source.line("const Index index0 = at;");
  const auto scaled = [&](std::size_t loop) {
    const int step = loop_step(kernel, variant, loop);
    return detail::concat("index", loop, step > 1 ? detail::concat(" * ", step, "u") : "");
  };
  if (is_tile) {
    source.line("column = ", scaled(num_loops - 1), ";");
    source.line("row = ", scaled(num_loops - 2), ";");
    source.line("batch = ", num_loops > 2 ? scaled(num_loops - 3) : "0", ";");
  }
  for (std::size_t k = 0; k < num_operands; ++k) {
    std::string sum;
    for (std::size_t loop = 0; loop < num_loops; ++loop)
      if (kernel.operands[k].strides[loop] != 0)
        sum += detail::concat(sum.empty() ? "" : " + ", "stepped(", scaled(loop), ", ",
                              stride_text(kernel, loop, k), ")");
    source.line("offset[", k, "] = ", sum.empty() ? "0" : sum, ";");
  }
  source.close();
}

bool is_loaded(const Kernel& kernel, std::size_t operand) {
  return std::ranges::any_of(kernel.body, [operand](const Inst& inst) {
    return inst.op == Op::load && inst.operand == operand;
  });
}

std::string element_access(const char* access, const Kernel& kernel, const Variant& variant,
                           std::size_t operand) {
  if (kernel.operands[operand].role == ir::Role::place) return "place_at";
  const bool has_halves = variant.halves && itemsize_bytes(kernel.operands[operand].dtype) > 1;
  return std::string(access) + (has_halves ? "_halves" : "");
}

Body::Body(const Kernel& kernel, bool has_vectors)
    : kernel_(kernel), levels_(kernel.body.size()), are_dividers_(kernel.body.size()) {
  for (ValueId id = 0; id < kernel.body.size(); ++id) {
    const Inst& inst = kernel.body[id];
    Level level = Level::kernel;
    if (ir::writes(inst)) level = Level::item;
    if (inst.op == Op::load)
      level = has_vectors && kernel.operands[inst.operand].strides.back() == 0 ? Level::vector
                                                                               : Level::item;
    for (ValueId arg : inst.args)
      if (arg != ir::no_value) level = std::max(level, levels_[arg]);
    levels_[id] = level;
  }
  for (const Inst& inst : kernel.body)
    if (divides_by_constant(inst)) are_dividers_[inst.args[1]] = true;
}

bool Body::divides_by_constant(const Inst& inst) const {
  return inst.op == Op::div && inst.dtype == DType::f32 && kernel_.numerics != Numerics::fast &&
         levels_[inst.args[1]] == Level::kernel && levels_[inst.args[0]] != Level::kernel;
}

std::string Body::expression(const Inst& inst, const Load& load) const {
  std::vector<std::string> args;
  for (ValueId arg : inst.args)
    if (arg != ir::no_value) args.push_back(value_name(arg));
  const auto from = [&] { return ir::result_dtype(kernel_.body[inst.args[0]]); };
  switch (inst.op) {
    case Op::constant: return constant_text(inst.dtype, inst.bits);
    case Op::param:
      return from_word_text(detail::concat("args.param[", int{inst.operand}, "][0]"), inst.dtype);
    case Op::load: return load(inst.operand) + (is_boolean(inst.dtype) ? " != 0" : "");
    case Op::cast: return cast_text(args[0], from(), inst.dtype);
    case Op::bitcast: return bitcast_text(args[0], from(), inst.dtype);
    case Op::div:
      if (divides_by_constant(inst))
        return detail::concat("divided(", args[0], ", by_", args[1], ")");
      // A reciprocal costs half of a division, and compilers see only 1 / x as one.
      if (is_minus_one(kernel_.body[inst.args[0]]))
        return detail::concat("-(", value_type(inst.dtype), "(1) / ", args[1], ")");
      [[fallthrough]];
    default: return operator_text(inst.op, inst.dtype, args);
  }
}

void Body::emit(Source& source, Level level, const Load& load, const Store& store) const {
  for (ValueId id = 0; id < kernel_.body.size(); ++id) {
    if (levels_[id] != level) continue;
    const Inst& inst = kernel_.body[id];
    if (ir::writes(inst))
      store(inst.operand, inst.op == Op::accumulate_place
                              ? value_name(inst.args[0]) + ", " + value_name(inst.args[1])
                              : value_name(inst.args[0]));
    else
      source.line("const ", value_type(ir::result_dtype(inst)), " ", value_name(id), " = ",
                  expression(inst, load), ";");
    if (are_dividers_[id])
      source.line("const FloatDivider by_", value_name(id), " = float_divider(", value_name(id),
                  ");");
  }
}

}  // namespace weft::jit::nvrtc
