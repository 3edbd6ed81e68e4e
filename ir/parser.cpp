// The text form, read.  A hand-written descent without recursion; every complaint has line and
// column.
#include "ir/limits.h"
#include "ir/text.h"

#include <weft/error.h>

#include <charconv>
#include <concepts>

namespace weft::ir {
namespace {

/// A position in the text, and the words that can be taken from there.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(std::string_view expected) {
    skip_space();
    std::size_t line = 1, line_start = 0;
    for (std::size_t i = 0; i < position_; ++i)
      if (text_[i] == '\n') {
        ++line;
        line_start = i + 1;
      }
    const bool ends = position_ == text_.size();
    const std::string given = ends ? "the end of the text" : detail::concat("'", peek_word(), "'");
    throw ArgumentError(detail::concat("line ", line, ", column ", position_ - line_start + 1,
                                       ": expected ", expected, ", not ", given, "."));
  }

  bool at_end() {
    skip_space();
    return position_ == text_.size();
  }
  /// Takes `symbol` if it comes next, whatever follows it.
  bool take(char symbol) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != symbol) return false;
    ++position_;
    return true;
  }
  void expect(char symbol) {
    if (!take(symbol)) fail(detail::concat("'", symbol, "'"));
  }
  /// Takes the word `word` if it comes next.
  bool take(std::string_view word) {
    if (peek_word() != word) return false;
    position_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail(detail::concat("'", word, "'"));
  }
  /// The letters, digits and underscores that come next; one other character if there are none.
  std::string_view peek_word() {
    skip_space();
    std::size_t end = position_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end == position_ && end < text_.size()) ++end;
    return text_.substr(position_, end - position_);
  }
  /// Takes a word that `lookup` (word -> optional) knows.
  template <class Lookup>
  auto word(std::string_view expected, Lookup&& lookup) {
    const std::string_view next = peek_word();
    const auto found = lookup(next);
    if (!found) fail(expected);
    position_ += next.size();
    return *found;
  }
  template <std::integral T>
  T number(std::string_view expected, int base = 10) {
    skip_space();
    T value{};
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value, base);
    if (error != std::errc{}) fail(expected);
    position_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  std::uint64_t hex(std::string_view expected) {
    skip_space();
    if (text_.substr(position_, 2) != "0x") fail(expected);
    position_ += 2;
    if (position_ == text_.size() || !is_word(text_[position_])) fail(expected);
    return number<std::uint64_t>(expected, 16);
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  void skip_space() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == ';') {
        while (position_ < text_.size() && text_[position_] != '\n') ++position_;
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++position_;
      } else {
        break;
      }
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

template <class Enum, std::size_t count>
auto lookup_in(const Enum (&values)[count]) {
  return [&values](std::string_view word) -> std::optional<Enum> {
    for (Enum value : values)
      if (name(value) == word) return value;
    return std::nullopt;
  };
}

constexpr Schedule schedules[] = {Schedule::unscheduled, Schedule::scalar, Schedule::linear,
                                  Schedule::strided,     Schedule::tile,   Schedule::inner_reduce,
                                  Schedule::outer_reduce};
constexpr Role roles[] = {Role::input, Role::output, Role::place};
constexpr LoopKind loop_kinds[] = {LoopKind::parallel, LoopKind::sequential, LoopKind::vector,
                                   LoopKind::tile,     LoopKind::reduce,     LoopKind::scan};

DType read_dtype(Reader& reader) { return reader.word("a dtype", parse_dtype); }

/// Reads `index` after its sigil and checks that entries are numbered in order.
void expect_index(Reader& reader, std::size_t index, std::string_view what) {
  const auto expected = detail::concat(what, " ", index, " (they are numbered in order)");
  const std::string_view word = reader.peek_word();
  if (word != std::to_string(index)) reader.fail(expected);
  reader.number<std::size_t>(expected);
}

void read_operand(Reader& reader, Kernel& kernel) {
  if (kernel.operands.size() >= max_operands)
    reader.fail(detail::concat("at most ", max_operands, " operands"));
  expect_index(reader, kernel.operands.size(), "operand");
  Operand operand;
  operand.role = reader.word("'out', 'in' or 'place'", lookup_in(roles));
  operand.dtype = read_dtype(reader);
  reader.expect('[');
  while (!reader.take(']'))
    operand.strides.push_back(reader.take('*') ? stride_any
                                               : reader.number<StrideClass>("a stride class"));
  if (reader.take("ahead")) operand.ahead_bytes = reader.number<std::int32_t>("a number of bytes");
  kernel.operands.push_back(std::move(operand));
}

void read_param(Reader& reader, Kernel& kernel) {
  if (kernel.params.size() >= max_operands)
    reader.fail(detail::concat("at most ", max_operands, " parameters"));
  expect_index(reader, kernel.params.size(), "parameter");
  kernel.params.push_back(read_dtype(reader));
}

void read_loop(Reader& reader, Kernel& kernel) {
  Loop loop;
  loop.kind = reader.word("an operand, a parameter, a loop, 'tree', 'hoisted:' or 'body:'",
                          lookup_in(loop_kinds));
  const std::string_view next = reader.peek_word();
  const bool has_lanes = !next.empty() && ((next[0] >= '0' && next[0] <= '9') || next[0] == '-');
  if (loop.kind == LoopKind::vector || has_lanes) {
    loop.lanes = reader.number<int>("a number of lanes");
    if (!reader.take('x')) reader.fail("'x' and an unroll factor");
    loop.unroll = reader.number<int>("an unroll factor");
  }
  kernel.loops.push_back(loop);
}

/// "lanes N block N".
void read_tree(Reader& reader, Kernel& kernel) {
  if (is_reduction(kernel)) reader.fail("one tree");
  reader.expect("lanes");
  kernel.tree.lanes = reader.number<int>("a number of lanes");
  if (kernel.tree.lanes == 0) reader.fail("one lane or more before this");
  reader.expect("block");
  kernel.tree.block = reader.number<int>("a number of elements");
}

bool is_write(std::string_view word) {
  return word == "store" || word == "accumulate" || word == "accumulate_place";
}

void read_inst(Reader& reader, Kernel& kernel) {
  const bool defines_value = reader.take('%');
  if (defines_value) {
    expect_index(reader, kernel.body.size(), "value");
    reader.expect('=');
  }
  Inst inst;
  if (!defines_value && !is_write(reader.peek_word()))
    reader.fail("'%', 'store', 'accumulate', 'accumulate_place' or '}'");
  if (defines_value && is_write(reader.peek_word())) reader.fail("an op that defines a value");
  inst.op = reader.word("an op", parse_op);
  inst.dtype = read_dtype(reader);
  if (inst.op == Op::load || writes(inst)) {
    reader.expect('$');
    inst.operand = reader.number<std::uint8_t>("an operand's index");
  }
  if (accumulates(inst)) inst.combine = reader.word("an op to combine with", parse_op);
  if (inst.op == Op::param) {
    reader.expect('#');
    inst.operand = reader.number<std::uint8_t>("a parameter's index");
  }
  if (inst.op == Op::cast && reader.take("result")) inst.operand = 1;
  if (inst.op == Op::constant) {
    inst.bits.lo = reader.hex("a constant's bits in hexadecimal");
    if (reader.take(':')) inst.bits.hi = reader.hex("a constant's upper bits in hexadecimal");
  }
  for (int i = 0; i < info(inst.op).arity; ++i) {
    if (i != 0) reader.expect(',');
    reader.expect('%');
    inst.args[static_cast<std::size_t>(i)] = reader.number<ValueId>("a value's index");
  }
  kernel.body.push_back(inst);
}

}  // namespace

Kernel parse(std::string_view text) {
  Reader reader(text);
  Kernel kernel;
  reader.expect("kernel");
  kernel.numerics = reader.word("'default', 'strict' or 'fast'", [](std::string_view text) {
    const std::optional<Numerics> numerics = parse_numerics(text);
    return numerics && *numerics == elementwise(*numerics) ? numerics : std::nullopt;
  });
  kernel.schedule = reader.word("a schedule", lookup_in(schedules));
  kernel.vector_bytes = reader.number<int>("a vector width in bytes");
  kernel.is_streaming = reader.take("streaming");
  kernel.is_unfenced = kernel.is_streaming && reader.take("unfenced");
  reader.expect('{');
  bool has_hoisted = false;
  while (true) {
    if (reader.take('$')) {
      read_operand(reader, kernel);
    } else if (reader.take('#')) {
      read_param(reader, kernel);
    } else if (reader.take("tree")) {
      read_tree(reader, kernel);
    } else if (reader.take("hoisted")) {
      has_hoisted = true;
      break;
    } else if (reader.take("body")) {
      break;
    } else {
      read_loop(reader, kernel);
    }
  }
  reader.expect(':');
  while (!reader.take('}')) {
    if (has_hoisted && reader.take("body")) {
      reader.expect(':');
      has_hoisted = false;
      kernel.num_hoisted = static_cast<std::uint32_t>(kernel.body.size());
      continue;
    }
    read_inst(reader, kernel);
  }
  if (has_hoisted) reader.fail("'body:' before '}'");
  if (!reader.at_end()) reader.fail("nothing after the kernel");
  return kernel;
}

}  // namespace weft::ir
