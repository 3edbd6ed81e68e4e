// The text form, written.  ir/parser.cpp reads exactly this back.
#include "ir/text.h"

#include <charconv>

namespace weft::ir {
namespace {

void append(std::string& out, std::string_view text) { out += text; }
void append_number(std::string& out, std::int64_t value) { out += std::to_string(value); }

void append_hex(std::string& out, std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  out += "0x";
  out.append(digits, end);
}

void append_inst(std::string& out, ValueId id, const Inst& inst) {
  if (!writes(inst)) {
    out += '%';
    append_number(out, id);
    out += " = ";
  }
  append(out, info(inst.op).name);
  out += ' ';
  append(out, name(inst.dtype));
  if (inst.op == Op::load || writes(inst)) {
    out += " $";
    append_number(out, inst.operand);
  }
  if (accumulates(inst)) {
    out += ' ';
    append(out, info(inst.combine).name);
  }
  if (inst.op == Op::param) {
    out += " #";
    append_number(out, inst.operand);
  }
  if (casts_as_result(inst)) append(out, " result");
  if (inst.op == Op::constant) {
    out += ' ';
    append_hex(out, inst.bits.lo);
    if (inst.bits.hi != 0) {
      out += ':';
      append_hex(out, inst.bits.hi);
    }
  }
  const char* separator = " %";
  for (ValueId arg : inst.args) {
    if (arg == no_value) break;
    out += separator;
    append_number(out, arg);
    separator = ", %";
  }
}

void append_operand(std::string& out, std::size_t index, const Operand& operand) {
  out += "  $";
  append_number(out, static_cast<std::int64_t>(index));
  out += ' ';
  append(out, name(operand.role));
  out += ' ';
  append(out, name(operand.dtype));
  out += " [";
  for (std::size_t i = 0; i < operand.strides.size(); ++i) {
    if (i != 0) out += ' ';
    if (operand.strides[i] == stride_any)
      out += '*';
    else
      append_number(out, operand.strides[i]);
  }
  out += ']';
  if (operand.ahead_bytes != 0) {
    out += " ahead ";
    append_number(out, operand.ahead_bytes);
  }
  out += '\n';
}

void append_loop(std::string& out, const Loop& loop) {
  out += "  ";
  append(out, name(loop.kind));
  if (loop.kind == LoopKind::vector || loop.lanes != 1 || loop.unroll != 1) {
    out += ' ';
    append_number(out, loop.lanes);
    out += " x";
    append_number(out, loop.unroll);
  }
  out += '\n';
}

}  // namespace

std::string print(const Kernel& kernel) {
  std::string out = "kernel ";
  append(out, name(kernel.numerics));
  out += ' ';
  append(out, name(kernel.schedule));
  out += ' ';
  append_number(out, kernel.vector_bytes);
  if (kernel.is_streaming) out += " streaming";
  if (kernel.is_unfenced) out += " unfenced";
  out += " {\n";
  for (std::size_t i = 0; i < kernel.operands.size(); ++i)
    append_operand(out, i, kernel.operands[i]);
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    out += "  #";
    append_number(out, static_cast<std::int64_t>(i));
    out += ' ';
    append(out, name(kernel.params[i]));
    out += '\n';
  }
  for (const Loop& loop : kernel.loops) append_loop(out, loop);
  if (is_reduction(kernel)) {
    out += "  tree lanes ";
    append_number(out, kernel.tree.lanes);
    out += " block ";
    append_number(out, kernel.tree.block);
    out += '\n';
  }
  if (kernel.num_hoisted != 0) out += "hoisted:\n";
  for (ValueId id = 0; id <= kernel.body.size(); ++id) {
    if (id == kernel.num_hoisted) out += "body:\n";
    if (id == kernel.body.size()) break;
    out += "  ";
    append_inst(out, id, kernel.body[id]);
    out += '\n';
  }
  out += "}\n";
  return out;
}

std::string print(const Kernel& kernel, ValueId id) {
  std::string out;
  append_inst(out, id, kernel.body.at(id));
  return out;
}

}  // namespace weft::ir
