// A step reads 16 bytes from each of step_bytes / itemsize lines.  The loads bring lines that are
// items_a_step() apart into the 16-byte lanes of one register, so that all that is left to do is to
// transpose a small square within each lane: log2(side) rounds in which item `k` of the register
// list is interleaved with item `k + side / 2`.
#include "jit/xbyak/transpose.h"

#include "runtime/cache_line.h"

#include <algorithm>
#include <array>
#include <vector>

namespace weft::jit::xbyak {
namespace {

using tiles::lane_bytes;

class TransposeEmitter {
 public:
  TransposeEmitter(Assembler& code, const tiles::TransposeShape& shape)
      : code_(code),
        shape_(shape),
        side_(shape.items_a_step()),
        num_lanes_(shape.vector_bytes / lane_bytes),
        num_parts_(shape.step_bytes / shape.vector_bytes),
        frame_bytes_(lower_slot +
                     (completes_lines() && !keeps_lower() ? shape.vector_bytes * side_ : 0)) {}

  void emit();

 private:
  /// Whether the two registers that make a line are stored one after the other.
  bool completes_lines() const { return shape_.is_streaming && num_parts_ == 2; }
  bool keeps_lower() const { return side_ <= 4; }
  Xmm vector(int index) const { return vector_register(index, shape_.vector_bytes); }
  int block_items() const { return line_bytes / shape_.itemsize; }
  bool is_zen5() const { return code_.features().amd_family >= zen5_family; }
  int steps_a_turn() const;
  void move_turn();
  void whole_block();
  void partial_block();
  void point_at(const Reg64& item);
  void point_to(const Reg64& base, const Reg64& item);
  void move_steps(const Reg64& to, int first_step, int num_steps);
  void move_part(const Reg64& to, int first_step, int num_steps, int part);
  void move_whole_lines(const Reg64& to, int first_step);
  int steps_at_once() const;
  int rows_at_once() const { return side_ * steps_at_once(); }
  void fetch_rows(const Reg64& base, int first_row);
  void fetch_lines();
  void fetch_strided_lines(bool into_second);
  void load_all(int first_step, int num_steps, int part);
  void load(int index, int line, int step, int part);
  void transpose_lanes();
  void round();
  void unpack(bool upper, int out, int x, const Xbyak::Operand& y);
  void store_all(const Reg64& base, int first_row, int part);
  void rewind(const Reg64& base, int slot);
  RegExp nth(const Reg64& base, const Reg64& stride, const Reg64& stride3, int n) const;
  void add_scaled(const Reg64& sum, const Reg64& index);

  Assembler& code_;
  const tiles::TransposeShape shape_;
  const int side_;
  const int num_lanes_;                  ///< of a register
  const int num_parts_;                  ///< registers that make a step
  std::vector<int> values_;              ///< registers, in the order of the list
  std::vector<std::vector<int>> steps_;  ///< the same of several steps
  std::vector<int> free_;
  std::vector<int> lower_;  ///< that wait for the other halves of their lines

  static constexpr int spill_bytes = 32;
  static constexpr int from_rewind_slot = spill_bytes;
  static constexpr int to_rewind_slot = spill_bytes + 8;
  static constexpr int item_slot = spill_bytes + 16;
  static constexpr int fetch_rewind_slot = spill_bytes + 24;
  static constexpr int lower_slot = spill_bytes + 40;
  const int frame_bytes_;

  /// The arguments that come on the stack, behind the saved registers and the return address.
  Address ahead() const { return on_stack(0); }
  Address in_order() const { return on_stack(1); }
  Address on_stack(int argument) const {
    return code_
        .qword[code_.rsp + frame_bytes_ + 8 * (static_cast<int>(saved.size()) + 1 + argument)];
  }
  static constexpr std::array saved = {Xbyak::Operand::RBX, Xbyak::Operand::RBP,
                                       Xbyak::Operand::R12, Xbyak::Operand::R13,
                                       Xbyak::Operand::R14, Xbyak::Operand::R15};

  // The arguments; the counts become the last positions at which a step may start.
  const Reg64 from_{Xbyak::Operand::RDI}, from_stride_{Xbyak::Operand::RSI};
  const Reg64 to_{Xbyak::Operand::RDX}, to_stride_{Xbyak::Operand::RCX};
  const Reg64 last_line_{Xbyak::Operand::R8}, last_item_{Xbyak::Operand::R9};
  const Reg64 block_{Xbyak::Operand::R10}, line_{Xbyak::Operand::R11}, item_{Xbyak::Operand::R12};
  const Reg64 from_stride3_{Xbyak::Operand::RBP}, to_stride3_{Xbyak::Operand::RBX};
  /// Where the lines of each lane are read.
  const std::array<Reg64, 4> lanes_{Reg64(Xbyak::Operand::RAX), Reg64(Xbyak::Operand::R13),
                                    Reg64(Xbyak::Operand::R14), Reg64(Xbyak::Operand::R15)};
};

void TransposeEmitter::add_scaled(const Reg64& sum, const Reg64& index) {
  const int scale = std::min(shape_.itemsize, 8);
  for (int added = 0; added < shape_.itemsize; added += scale)
    code_.lea(sum, code_.ptr[sum + index * scale]);
}

RegExp TransposeEmitter::nth(const Reg64& base, const Reg64& stride, const Reg64& stride3,
                             int n) const {
  switch (n % 4) {
    case 0: return base;
    case 1: return base + stride;
    case 2: return base + stride * 2;
    default: return base + stride3;
  }
}

// The lanes' lines, at this item.
void TransposeEmitter::point_at(const Reg64& item) {
  const Reg64& first = lanes_[0];
  code_.mov(first, line_);
  code_.imul(first, from_stride_);
  add_scaled(first, item);
  code_.add(first, from_);
  if (num_lanes_ * num_parts_ > 1) {
    code_.imul(lanes_[3], from_stride_, side_);
    code_.lea(lanes_[1], code_.ptr[first + lanes_[3]]);
  }
  if (num_lanes_ * num_parts_ > 2) {
    code_.lea(lanes_[2], code_.ptr[lanes_[1] + lanes_[3]]);
    code_.add(lanes_[3], lanes_[2]);
  }
}

void TransposeEmitter::point_to(const Reg64& base, const Reg64& item) {
  if (base.getIdx() != item.getIdx()) code_.mov(base, item);
  code_.imul(base, to_stride_);
  add_scaled(base, line_);
  code_.add(base, to_);
}

void TransposeEmitter::load(int index, int line, int step, int part) {
  const auto at = [&](int lane) {
    const Reg64& base = lanes_[static_cast<std::size_t>(part * num_lanes_ + lane)];
    return code_.ptr[nth(base, from_stride_, from_stride3_, line) + step * lane_bytes];
  };
  for (int lane = 0; lane < num_lanes_; ++lane) code_.load_part(vector(index), at(lane), lane);
}

// All that is needed of a line at once, so that it need not stay in a cache that lines of such
// strides fight for.  The lanes' pointers are 3/4 of the way further down afterwards, for sides of
// more than 4.
void TransposeEmitter::load_all(int first_step, int num_steps, int part) {
  steps_.assign(static_cast<std::size_t>(num_steps), {});
  free_.clear();
  for (int index = code_.num_vectors(); index-- > 0;)
    if (std::ranges::find(lower_, index) == lower_.end()) free_.push_back(index);
  for (int line = 0; line < side_; ++line) {
    if (line > 0 && line % 4 == 0)
      for (int lane = 0; lane < num_lanes_; ++lane) {
        const Reg64& base = lanes_[static_cast<std::size_t>(part * num_lanes_ + lane)];
        code_.lea(base, code_.ptr[base + from_stride_ * 4]);
      }
    for (int step = 0; step < num_steps; ++step) {
      const int value = free_.back();
      free_.pop_back();
      steps_[static_cast<std::size_t>(step)].push_back(value);
      load(value, line, first_step + step, part);
    }
  }
}

void TransposeEmitter::rewind(const Reg64& base, int slot) {
  if (side_ > 4) code_.sub(base, code_.qword[code_.rsp + slot]);
}

void TransposeEmitter::unpack(bool upper, int out, int x, const Xbyak::Operand& y) {
  const Xmm to = vector(out), from = vector(x);
  switch (shape_.itemsize) {
    case 1: return upper ? code_.vpunpckhbw(to, from, y) : code_.vpunpcklbw(to, from, y);
    case 2: return upper ? code_.vpunpckhwd(to, from, y) : code_.vpunpcklwd(to, from, y);
    case 4: return upper ? code_.vpunpckhdq(to, from, y) : code_.vpunpckldq(to, from, y);
    default: return upper ? code_.vpunpckhqdq(to, from, y) : code_.vpunpcklqdq(to, from, y);
  }
}

// Where the values fill all the registers, the last one waits in the stack, which frees the one
// register that a pair needs besides its own two.
void TransposeEmitter::round() {
  std::vector<int> next;
  const int half = side_ / 2;
  const bool is_tight = free_.empty();
  const Address spilled = code_.ptr[code_.rsp];
  if (is_tight) {
    code_.vmovups(spilled, vector(values_.back()));
    free_.push_back(values_.back());
  }
  for (int k = 0; k < half; ++k) {
    const int x = values_[static_cast<std::size_t>(k)];
    const int y = values_[static_cast<std::size_t>(k + half)];
    const int low = free_.back();
    free_.pop_back();
    if (is_tight && k + 1 == half) {
      unpack(false, low, x, spilled);
      unpack(true, x, x, spilled);
      next.insert(next.end(), {low, x});
    } else {
      unpack(false, low, x, vector(y));
      unpack(true, y, x, vector(y));
      next.insert(next.end(), {low, y});
      free_.insert(free_.begin(), x);
    }
  }
  values_ = next;
}

void TransposeEmitter::transpose_lanes() {
  for (int width = 1; width < side_; width *= 2) round();
}

// `base` is where row `first_row` is written if that is a multiple of 4, else 1 to 3 rows before.
void TransposeEmitter::store_all(const Reg64& base, int first_row, int part) {
  for (int k = 0; k < side_; ++k) {
    const int row = first_row + k;
    if (k > 0 && row % 4 == 0) code_.lea(base, code_.ptr[base + to_stride_ * 4]);
    const Address at =
        code_.ptr[nth(base, to_stride_, to_stride3_, row) + part * shape_.vector_bytes];
    const Xmm x = vector(values_[static_cast<std::size_t>(k)]);
    shape_.is_streaming ? code_.vmovntps(at, x) : code_.vmovups(at, x);
  }
}

// Steps of a block whose values fit half of the registers: the others are for what rounds make.
int TransposeEmitter::steps_at_once() const {
  return completes_lines() ? 1 : std::max(1, std::min(4, code_.num_vectors() / 2 / side_));
}

// The lines that a step writes are half a line each from two registers.  Processors collect what is
// stored past the caches in a few buffers of a line; where one is needed that has got half of its
// own, memory is read for the other half.  So the lower halves wait, in the stack if they are many.
void TransposeEmitter::move_whole_lines(const Reg64& to, int first_step) {
  load_all(first_step, 1, 0);
  values_ = steps_[0];
  transpose_lanes();
  const auto lower = [&](int k) {
    return code_.ptr[code_.rsp + (lower_slot + k * shape_.vector_bytes)];
  };
  if (keeps_lower())
    lower_ = values_;
  else
    for (int k = 0; k < side_; ++k)
      code_.vmovups(lower(k), vector(values_[static_cast<std::size_t>(k)]));
  load_all(first_step, 1, 1);
  values_ = steps_[0];
  transpose_lanes();
  for (int k = 0; k < side_; ++k) {
    const int row = first_step * side_ + k;
    if (k > 0 && row % 4 == 0) code_.lea(to, code_.ptr[to + to_stride_ * 4]);
    const RegExp line = nth(to, to_stride_, to_stride3_, row);
    const Xmm x = vector(values_[static_cast<std::size_t>(k)]);
    code_.vmovntps(code_.ptr[line + shape_.vector_bytes], x);
    if (!keeps_lower()) code_.vmovups(x, lower(k));
    code_.vmovntps(code_.ptr[line],
                   keeps_lower() ? vector(lower_[static_cast<std::size_t>(k)]) : x);
  }
  lower_.clear();
}

// Some steps' rows, from the `first_step`-th of a block.
void TransposeEmitter::move_steps(const Reg64& to, int first_step, int num_steps) {
  if (completes_lines()) return move_whole_lines(to, first_step);
  for (int part = 0; part < num_parts_; ++part) {
    if (part > 0) rewind(to, to_rewind_slot);
    move_part(to, first_step, num_steps, part);
  }
}

// The same of the lines that are in one of the registers that make a step.
void TransposeEmitter::move_part(const Reg64& to, int first_step, int num_steps, int part) {
  load_all(first_step, num_steps, part);
  for (int k = 0; k < num_steps; ++k) {
    const int first_row = (first_step + k) * side_;
    if (k > 0 && first_row % 4 == 0) code_.lea(to, code_.ptr[to + to_stride_ * 4]);
    values_ = steps_[static_cast<std::size_t>(k)];
    transpose_lanes();
    store_all(to, first_row, part);
    free_.insert(free_.begin(), values_.begin(), values_.end());
  }
}

// Asks for the lines that the next steps write: stores leave in order, so that each would wait
// alone for its line.  Bytes take so long to transpose that they gain nothing; nor do items of up
// to 4 bytes on Zen 5.
void TransposeEmitter::fetch_rows(const Reg64& base, int first_row) {
  const int least_itemsize = is_zen5() ? 8 : 2;
  if (shape_.is_streaming || shape_.step_bytes < line_bytes || shape_.itemsize < least_itemsize)
    return;
  for (int row = first_row; row < first_row + rows_at_once(); ++row) {
    if (row > first_row && row % 4 == 0) code_.lea(base, code_.ptr[base + to_stride_ * 4]);
    code_.prefetcht0(code_.ptr[nth(base, to_stride_, to_stride3_, row)]);
  }
  if (rows_at_once() > 4) code_.sub(base, code_.qword[code_.rsp + fetch_rewind_slot]);
}

// Asks for the lines that later blocks read, where the caller says that they come from memory.
void TransposeEmitter::fetch_lines() {
  if (shape_.step_bytes < line_bytes) return;
  code_.cmp(ahead(), 0);
  const auto is_near = code_.jump_if(Condition::zero);
  code_.cmp(in_order(), 0);
  const auto is_strided = code_.jump_if(Condition::zero);
  // As many lines of memory as those of the block, behind those of the blocks before.
  code_.imul(item_, block_, line_bytes - shape_.itemsize);
  code_.add(item_, lanes_[0]);
  code_.add(item_, ahead());
  for (int line = 0; line < shape_.lines_a_step(); ++line)
    code_.prefetcht1(code_.ptr[item_ + line * line_bytes]);
  const auto is_done = code_.jump_always();
  code_.bind(is_strided);
  // Those that fight for the first cache are asked into the second: copies of few bytes gain by it.
  if (shape_.is_streaming && (shape_.itemsize == 2 || shape_.itemsize == 4)) {
    code_.test(from_stride_, tiles::aliasing_bytes - 1);
    const auto is_apart = code_.jump_if(Condition::not_zero);
    fetch_strided_lines(true);
    const auto is_asked = code_.jump_always();
    code_.bind(is_apart);
    fetch_strided_lines(false);
    code_.bind(is_asked);
  } else {
    fetch_strided_lines(false);
  }
  code_.bind(is_done);
  code_.bind(is_near);
}

void TransposeEmitter::fetch_strided_lines(bool into_second) {
  for (const Reg64& lane : lanes_) {
    code_.mov(item_, lane);
    code_.add(item_, ahead());
    for (int line = 0; line < side_; ++line) {
      if (line > 0 && line % 4 == 0) code_.lea(item_, code_.ptr[item_ + from_stride_ * 4]);
      const Address at = code_.ptr[nth(item_, from_stride_, from_stride3_, line)];
      into_second ? code_.prefetcht1(at) : code_.prefetcht0(at);
    }
  }
}

// All steps of a block, as a rule.  Those of small items make so much code that a loop over half of
// it is faster on Zen 5 (docs/decisions/transposition.md).
int TransposeEmitter::steps_a_turn() const {
  const int num_steps = line_bytes / lane_bytes;
  const bool halves = is_zen5() && shape_.itemsize <= 2 && num_parts_ == 1;
  return halves && !shape_.is_streaming ? num_steps / 2 : num_steps;
}

// Steps one after the other, from where the lanes and the item point: the lines of one register
// from one end of the block to the other, and then those of the next.  All of them at once would
// fight for the first cache, where they lie pages apart, before they are read to their ends.
void TransposeEmitter::move_turn() {
  const int at_once = steps_at_once();
  const int num_passes = completes_lines() ? 1 : num_parts_;
  const int num_lanes = num_lanes_ * num_parts_ / num_passes;
  for (int pass = 0; pass < num_passes; ++pass) {
    if (pass > 0) point_to(item_, block_);
    for (int step = 0; step < steps_a_turn(); step += at_once) {
      if (step > 0) {
        for (int lane = 0; lane < num_lanes; ++lane)
          rewind(lanes_[static_cast<std::size_t>(pass * num_lanes + lane)], from_rewind_slot);
        if (step * side_ % 4 == 0) code_.lea(item_, code_.ptr[item_ + to_stride_ * 4]);
      }
      if (pass == 0) fetch_rows(item_, step * side_);
      completes_lines() ? move_whole_lines(item_, step) : move_part(item_, step, at_once, pass);
    }
  }
}

// A cache line's worth of items of the current lines, with the addresses computed once a turn.
void TransposeEmitter::whole_block() {
  point_at(block_);
  fetch_lines();
  const int turn_items = steps_a_turn() * side_;
  if (turn_items == block_items()) {
    point_to(item_, block_);
    return move_turn();
  }
  code_.mov(item_, block_);
  const std::uint8_t* next_turn = code_.here();
  code_.mov(code_.qword[code_.rsp + item_slot], item_);
  point_at(item_);
  point_to(item_, item_);
  move_turn();
  code_.mov(item_, code_.qword[code_.rsp + item_slot]);
  code_.add(item_, turn_items);
  code_.lea(lanes_[0], code_.ptr[block_ + block_items()]);
  code_.cmp(item_, lanes_[0]);
  code_.jump_back_if(Condition::below, next_turn);
}

// The last items of the current lines; a step that would reach past the end starts earlier instead.
void TransposeEmitter::partial_block() {
  code_.mov(item_, block_);
  const std::uint8_t* next_item = code_.here();
  code_.cmp(item_, last_item_);
  code_.cmovg(item_, last_item_);
  code_.mov(code_.qword[code_.rsp + item_slot], item_);
  point_at(item_);
  point_to(item_, item_);
  move_steps(item_, 0, 1);
  code_.mov(item_, code_.qword[code_.rsp + item_slot]);
  code_.cmp(item_, last_item_);
  const auto was_last = code_.jump_if(Condition::zero);
  code_.add(item_, side_);
  code_.jmp(next_item);
  code_.bind(was_last);
}

// Blocks of items that fill a cache line of each line read; in a block line after line; and there
// item after item.
void TransposeEmitter::emit() {
  for (const auto reg : saved) code_.push(Reg64(reg));
  code_.sub(code_.rsp, frame_bytes_);
  code_.imul(code_.rax, from_stride_, side_ - 4);
  code_.mov(code_.qword[code_.rsp + from_rewind_slot], code_.rax);
  code_.imul(code_.rax, to_stride_, side_ - 4);
  code_.mov(code_.qword[code_.rsp + to_rewind_slot], code_.rax);
  code_.imul(code_.rax, to_stride_, rows_at_once() - 4);
  code_.mov(code_.qword[code_.rsp + fetch_rewind_slot], code_.rax);
  code_.sub(last_line_, shape_.lines_a_step());
  code_.sub(last_item_, side_);
  code_.lea(from_stride3_, code_.ptr[from_stride_ + from_stride_ * 2]);
  code_.lea(to_stride3_, code_.ptr[to_stride_ + to_stride_ * 2]);
  code_.xor_(block_.cvt32(), block_.cvt32());

  const std::uint8_t* next_block = code_.here();
  code_.xor_(line_.cvt32(), line_.cvt32());
  const std::uint8_t* next_line = code_.here();
  code_.lea(item_, code_.ptr[block_ + (block_items() - side_)]);
  code_.cmp(item_, last_item_);
  const auto is_partial = code_.jump_if(Condition::above);
  whole_block();
  const auto done = code_.jump_always();
  code_.bind(is_partial);
  partial_block();
  code_.bind(done);
  code_.cmp(line_, last_line_);
  const auto was_last_line = code_.jump_if(Condition::zero);
  code_.add(line_, shape_.lines_a_step());
  code_.cmp(line_, last_line_);
  code_.cmovg(line_, last_line_);
  code_.jmp(next_line);
  code_.bind(was_last_line);

  code_.add(block_, block_items());
  code_.lea(lanes_[0], code_.ptr[last_item_ + side_]);
  code_.cmp(block_, lanes_[0]);
  code_.jump_back_if(Condition::below, next_block);

  code_.add(code_.rsp, frame_bytes_);
  for (auto reg = saved.rbegin(); reg != saved.rend(); ++reg) code_.pop(Reg64(*reg));
  code_.vzeroupper();
  code_.ret();
}

}  // namespace

void emit_transpose(Assembler& code, const tiles::TransposeShape& shape) {
  TransposeEmitter(code, shape).emit();
}

}  // namespace weft::jit::xbyak
