// Leaves of a reduction.  Along a row that is reduced (fold_row) the main loop goes through all
// lanes of the tree at once, a register for each vector of them; what is left of the row goes to
// the lanes in memory.  Across rows (fold_columns) a strip of columns stays in registers while the
// rows go by.
#include "jit/xbyak/reduce.h"

#include "ir/combine.h"
#include "jit/xbyak/kernel_emitter.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>

namespace weft::jit::xbyak {
namespace {

/// Half of the registers: a body wants some.
int max_accumulators(Isa isa) { return isa == Isa::avx512 ? 16 : 8; }
/// Columns in more registers gain nothing: the additions of one row wait for those of the last.
constexpr int max_column_vectors = 4;

/// Whether the op's row is one instruction, whose result may be one of the arguments.
bool is_one_instruction(Op op, DType dtype, bool has_avx512) {
  const bool is_wide = itemsize_bytes(dtype) == 8;
  switch (op) {
    case Op::add:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor: return true;
    case Op::mul:
      return is_floating(dtype) || (itemsize_bytes(dtype) > 1 && (has_avx512 || !is_wide));
    case Op::maximum:
    case Op::minimum: return is_integer(dtype) && (has_avx512 || !is_wide);
    default: return false;
  }
}

/// Whether the op's row takes more of AVX2's registers than accumulators may leave: bytes are
/// shifted in halves of halves, and short integers divided as floats in quarters.
bool is_hungry(const ir::Inst& inst, Isa isa) {
  if (isa == Isa::avx512) return false;
  const bool shifts = inst.op == Op::bitwise_left_shift || inst.op == Op::bitwise_right_shift;
  const std::size_t itemsize = itemsize_bytes(inst.dtype);
  return (shifts && itemsize == 1) || (inst.op == Op::quotient && itemsize <= 2);
}

}  // namespace

std::vector<ir::ValueId> accumulations_of(const ir::Kernel& kernel) {
  std::vector<ir::ValueId> result;
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id)
    if (kernel.body[id].op == Op::accumulate) result.push_back(id);
  return result;
}

int accumulators_per_fold(const ir::Kernel& kernel, Isa isa) {
  if (!ir::is_reduction(kernel)) return 0;
  const std::size_t num_folds = accumulations_of(kernel).size();
  const int most = max_accumulators(isa) / static_cast<int>(num_folds);
  const int room = static_cast<int>(std::bit_floor(static_cast<unsigned>(most)));
  const bool is_inner = kernel.schedule == ir::Schedule::inner_reduce;
  return std::min({kernel.loops.back().unroll, room, is_inner ? room : max_column_vectors});
}

bool holds_whole_tree(const ir::Kernel& kernel, Isa isa) {
  return accumulators_per_fold(kernel, isa) == kernel.loops.back().unroll;
}

bool may_lack_registers(const ir::Kernel& kernel, Isa isa) {
  return std::ranges::any_of(kernel.body,
                             [&](const ir::Inst& inst) { return is_hungry(inst, isa); });
}

std::string refuses_reduction(const ir::Kernel& kernel, Isa isa) {
  const bool is_inner = kernel.schedule == ir::Schedule::inner_reduce;
  const ir::Loop& vectors = kernel.loops.back();
  if (!is_inner && kernel.schedule != ir::Schedule::outer_reduce)
    return "the schedule is " + std::string(name(kernel.schedule));
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const ir::StrideClass stride = kernel.operands[i].strides.back();
    const bool is_output = kernel.operands[i].role == ir::Role::output;
    if (is_output ? stride != (is_inner ? 0 : 1) : stride != 0 && stride != 1)
      return detail::concat("$", i, " is not dense along the innermost loop");
  }
  const std::vector<ir::ValueId> accumulations = accumulations_of(kernel);
  const DType dtype = kernel.body.back().dtype;
  for (const ir::ValueId id : accumulations) {
    const ir::Inst& inst = kernel.body[id];
    if (is_boolean(inst.dtype) || find_row(inst.combine, inst.dtype, isa) == nullptr)
      return detail::concat("accumulate ", name(inst.dtype), " ", name(inst.combine),
                            " has no row");
    if (itemsize_bytes(inst.dtype) != itemsize_bytes(dtype))
      return detail::concat("partial results of ", name(inst.dtype), " and ", name(dtype),
                            " differ in size");
  }
  if (static_cast<int>(itemsize_bytes(dtype)) * vectors.lanes < 16)
    return detail::concat("partial results of ", vectors.lanes, " lanes are less than a register");
  if (is_inner && vectors.unroll > max_accumulators(isa))
    return detail::concat(vectors.unroll, " vectors of partial results are more than ",
                          max_accumulators(isa));
  for (const ir::Inst& inst : kernel.body) {
    if (is_computed(inst) && (!has_row(kernel, inst, isa) || is_rare_call(inst.op)))
      return detail::concat(name(inst.op), " ", name(inst.dtype), " is a call");
  }
  return {};
}

Xmm KernelEmitter::accumulator(std::size_t fold, int index) const {
  const int number = static_cast<int>(fold) * per_fold_ + index;
  return vector_register(code_.num_vectors() - 1 - number, accumulator_bytes());
}

/// Where the partial results of a fold are, from vector `index` of the lanes or columns on.
RegExp KernelEmitter::partials(std::size_t fold, int index) {
  return operands_.address(accumulation(fold).operand, index * accumulator_bytes());
}

/// The first `count` accumulators of each fold, which hold the vectors from `first` on.
void KernelEmitter::move_accumulators(int first, int count, bool loads) {
  for (std::size_t fold = 0; fold < accumulations_.size(); ++fold)
    for (int i = 0; i < count; ++i) {
      const RegExp at = partials(fold, first + i);
      const Xmm x = accumulator(fold, i);
      code_.note_written(x);
      loads ? code_.load_bytes(x, at, accumulator_bytes())
            : code_.store_bytes(at, x, accumulator_bytes());
    }
}

/// out = op(partial, value); `out` may be `partial`.
void KernelEmitter::combine(const ir::Inst& accumulation, const Xmm& out, const Xmm& partial,
                            const Xmm& value) {
  const Row* const row = find_row(accumulation.combine, accumulation.dtype, code_.features().isa);
  if (out.getIdx() != partial.getIdx() ||
      is_one_instruction(accumulation.combine, accumulation.dtype, code_.has_avx512()))
    return row->emit(registers_, code_, out, partial, value, value);
  const Xmm result = registers_.temp(width_bytes(out));
  row->emit(registers_, code_, result, partial, value, value);
  code_.move(out, result);
}

/// Of `partial` only the lanes that the tail has elements for become those of `result`.
void KernelEmitter::merge_tail(const Xmm& partial, const Xmm& result, int itemsize) {
  if (!code_.has_avx512())
    return code_.vpblendvb(partial, partial, result, operands_.lane_mask(itemsize));
  const Opmask tail(Registers::tail_mask_index);
  switch (itemsize) {
    case 1: return code_.vmovdqu8(partial | tail, result);
    case 2: return code_.vmovdqu16(partial | tail, result);
    case 4: return code_.vmovdqa32(partial | tail, result);
    default: return code_.vmovdqa64(partial | tail, result);
  }
}

void KernelEmitter::accumulate(ir::ValueId id, Step step) {
  const ir::Inst& inst = kernel_.body[id];
  const auto fold =
      static_cast<std::size_t>(std::ranges::find(accumulations_, id) - accumulations_.begin());
  const Xmm value = registers_.use(inst.args[0]);
  // A strip's tail may compute what no column is.
  const bool has_room = kernel_.schedule == ir::Schedule::outer_reduce;
  if (step.accumulator >= 0 && (has_room || !step.is_tail)) {
    const Xmm partial = accumulator(fold, step.accumulator);
    return combine(inst, partial, partial, value);
  }
  const auto itemsize = static_cast<int>(itemsize_bytes(inst.dtype));
  const Xmm result = registers_.temp(accumulator_bytes());
  if (step.accumulator >= 0) {
    const Xmm partial = accumulator(fold, step.accumulator);
    combine(inst, result, partial, value);
    return merge_tail(partial, result, itemsize);
  }
  const Xmm partial = registers_.temp(accumulator_bytes());
  const auto at = [&] {
    code_.mov(code_.ecx, gpr::index.cvt32());
    code_.and_(code_.ecx, kernel_.tree.lanes - 1);
    return partials(fold, 0) + code_.rcx * itemsize;
  };
  code_.load_bytes(partial, at(), accumulator_bytes());
  combine(inst, result, partial, value);
  if (step.is_tail) merge_tail(partial, result, itemsize);
  code_.store_bytes(at(), step.is_tail ? partial : result, accumulator_bytes());
}

/// The op's identity.
void KernelEmitter::clear_accumulators() {
  for (std::size_t fold = 0; fold < accumulations_.size(); ++fold) {
    const ir::Inst& inst = accumulation(fold);
    const std::uint64_t identity = ir::identity_of(inst.combine, inst.dtype)->lo;
    const auto itemsize = static_cast<int>(itemsize_bytes(inst.dtype));
    for (int i = 0; i < per_fold_; ++i) {
      const Xmm x = accumulator(fold, i);
      code_.note_written(x);
      if (identity == 0)
        code_.set_zero(x);
      else
        code_.vmovups(x, code_.splat(identity, itemsize, accumulator_bytes()));
    }
  }
}

void KernelEmitter::combine_lanes() {
  code_.mark("lanes");
  registers_.start(Registers::Section::body);
  for (std::size_t fold = 0; fold < accumulations_.size(); ++fold) combine_lanes_of(fold);
}

/// The lanes by halves, down to one, which is stored.
void KernelEmitter::combine_lanes_of(std::size_t fold) {
  const ir::Inst& inst = accumulation(fold);
  const Xmm upper = registers_.temp(accumulator_bytes());
  const std::uint32_t temps = registers_.marked_temps();
  const auto fold_in = [&](const Xmm& x, const Xmm& y) {
    combine(inst, x, x, y);
    registers_.free_temps_since(temps);
  };
  for (int width = per_fold_ / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) fold_in(accumulator(fold, i), accumulator(fold, i + width));
  const auto itemsize = static_cast<int>(itemsize_bytes(inst.dtype));
  const Xmm first = accumulator(fold, 0);
  for (int bytes = accumulator_bytes(); bytes > itemsize; bytes /= 2) {
    code_.extract_upper(upper, first, bytes);
    const int half = std::max(16, bytes / 2);
    fold_in(resized(first, half), resized(upper, half));
  }
  registers_.free_temps_since(0);
  const RegExp to = partials(fold, 0);
  const Xmm one(first.getIdx());
  switch (itemsize) {
    case 1: code_.vpextrb(code_.byte[to], one, 0); break;
    case 2: code_.vpextrw(code_.word[to], one, 0); break;
    case 4: code_.vmovd(code_.dword[to], one); break;
    default: code_.vmovq(code_.qword[to], one); break;
  }
}

/// Each vector of a row's rest goes to the next register, and so does the tail: a copy of the body
/// for each of them.
void KernelEmitter::fold_whole_row() {
  start_fold();
  const int count = per_fold_;
  clear_accumulators();
  code_.sub(gpr::remaining, count * lanes_);
  const auto few = code_.jump_if(Condition::below);
  fold_steps(0);
  code_.bind(few);
  code_.add(gpr::remaining, count * lanes_);
  std::vector<Assembler::Jump> done{code_.jump_if(Condition::zero)}, tails;
  for (int i = 0; i + 1 < count; ++i) {
    code_.sub(gpr::remaining, lanes_);
    tails.push_back(code_.jump_if(Condition::below));
    body({.accumulator = i});
    code_.add(gpr::index, lanes_);
  }
  code_.sub(gpr::remaining, lanes_);
  for (int i = count; i-- > 0;) {
    if (i + 1 < count) code_.bind(tails[static_cast<std::size_t>(i)]);
    code_.mark("tail");
    code_.add(gpr::remaining, lanes_);
    done.push_back(code_.jump_if(Condition::zero));
    if (!operands_.is_simple()) code_.mov(gpr::count, gpr::remaining);
    if (code_.has_avx512()) tail_mask();
    body({.is_tail = true, .accumulator = i});
    if (i > 0) done.push_back(code_.jump_always());
  }
  for (const Assembler::Jump jump : done) code_.bind(jump);
  combine_lanes();
}

void KernelEmitter::start_fold() {
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(gpr::remaining, code_.qword[code_.rax + 8 * num_outer()]);
  code_.mark("start of a row");
  operands_.start_row();
  code_.xor_(gpr::index.cvt32(), gpr::index.cvt32());
  hoisted(false);
}

/// For another main loop over a row that has elements for one.
void KernelEmitter::restart_row() {
  code_.mark("the row again");
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(gpr::remaining, code_.qword[code_.rax + 8 * num_outer()]);
  code_.sub(gpr::remaining, tree_vectors() * lanes_);
  code_.xor_(gpr::index.cvt32(), gpr::index.cvt32());
}

/// All lanes once, as often as the row has so many elements; `remaining` is less by that.  Of the
/// lanes, part number `part` is accumulated, as many as there are accumulators for.
void KernelEmitter::fold_steps(int part) {
  const int step = tree_vectors() * lanes_;
  code_.align(32);
  const std::uint8_t* head = code_.here();
  for (int i = 0; i < per_fold_; ++i)
    body({.copy = part * per_fold_ + i, .is_main = true, .accumulator = i});
  code_.add(gpr::index, step);
  code_.sub(gpr::remaining, step);
  code_.jump_back_if(Condition::not_below, head);
}

/// A part of the lanes, from memory and back.
void KernelEmitter::fold_part(int part) {
  const int first = part * per_fold_;
  code_.mark("partial results");
  move_accumulators(first, per_fold_, true);
  fold_steps(part);
  code_.mark("partial results");
  move_accumulators(first, per_fold_, false);
}

void KernelEmitter::fold_row() {
  start_fold();
  const int step = tree_vectors() * lanes_;
  code_.sub(gpr::remaining, step);
  const auto few = code_.jump_if(Condition::below);
  for (int part = 0; part < tree_vectors() / per_fold_; ++part) {
    if (part > 0) restart_row();
    fold_part(part);
  }
  code_.bind(few);
  code_.add(gpr::remaining, step);
  vectors(1, false);
  const auto none = code_.jump_if(Condition::zero);
  tail();
  code_.bind(none);
}

/// The innermost loop but one is the rows', inside of each strip of columns.
void KernelEmitter::fold_columns() {
  const std::size_t rows = num_outer() - 1;
  for (std::size_t loop = 0; loop < rows; ++loop) {
    enter_loop(loop);
    loop_heads_.push_back(code_.here());
  }
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(gpr::remaining, code_.qword[code_.rax + 8 * num_outer()]);
  code_.xor_(gpr::index.cvt32(), gpr::index.cvt32());
  const int together = per_fold_;
  if (together > 1) columns(together);
  columns(1);
  code_.test(gpr::remaining, gpr::remaining);
  const auto none = code_.jump_if(Condition::zero);
  code_.mark("tail");
  if (!operands_.is_simple()) code_.mov(gpr::count, gpr::remaining);
  if (code_.has_avx512()) tail_mask();
  strip(1, true);
  code_.bind(none);
  for (std::size_t loop = rows; loop-- > 0;) leave_loop(loop);
}

/// Strips of so many vectors, as long as there are whole ones.
void KernelEmitter::columns(int together) {
  const int width = together * lanes_;
  code_.sub(gpr::remaining, width);
  const auto few = code_.jump_if(Condition::below);
  const std::uint8_t* head = code_.here();
  code_.mark("a strip of columns");
  strip(together, false);
  code_.add(gpr::index, width);
  code_.sub(gpr::remaining, width);
  code_.jump_back_if(Condition::not_below, head);
  code_.bind(few);
  code_.add(gpr::remaining, width);
}

/// Addresses of the first row.
void KernelEmitter::start_strip() {
  const std::size_t rows = num_outer() - 1;
  if (rows > 0) return operands_.start_rows(saved_pointer(rows - 1, 0));
  code_.mov(code_.rcx, code_.qword[gpr::arguments + offsetof(KernelArgs, base)]);
  operands_.start_rows(code_.rcx);
}

void KernelEmitter::strip(int together, bool is_tail) {
  const std::size_t rows = num_outer() - 1;
  start_strip();
  // Of the tail, what lies behind the columns is room: CodeObject::leaf.
  move_accumulators(0, together, true);
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(code_.rax, code_.qword[code_.rax + 8 * rows]);
  code_.mov(counter(rows), code_.rax);
  code_.align(32);
  const std::uint8_t* head = code_.here();
  hoisted(false);
  const bool is_main = !is_tail && together == unroll();
  for (int i = 0; i < together; ++i)
    body({.is_tail = is_tail, .copy = i, .is_main = is_main, .accumulator = i});
  code_.mark("next row");
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, stride_bytes)]);
  operands_.next_row(rows);
  code_.dec(counter(rows));
  code_.jump_back_if(Condition::not_zero, head);
  code_.mark("partial results");
  move_accumulators(0, together, false);
}

}  // namespace weft::jit::xbyak
