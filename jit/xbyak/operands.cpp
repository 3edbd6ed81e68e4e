// Addresses of operands, and accesses to whole vectors.  strided.cpp has those with other strides,
// tails.cpp the ends of rows.
#include "jit/xbyak/operands.h"

#include "jit/prefetching.h"
#include "runtime/cache_line.h"

#include <algorithm>
#include <array>
#include <bit>

namespace weft::jit::xbyak {
namespace {

constexpr int pointer_bytes = 8;
using Code = Xbyak::Operand::Code;

}  // namespace

Operands::Operands(Assembler& code, Registers& registers, const ir::Kernel& kernel,
                   std::uint64_t held, bool calls)
    : code_(code),
      registers_(registers),
      kernel_(kernel),
      lanes_(kernel.loops.back().lanes),
      full_elements_(kernel.loops.back().lanes),
      full_streamed_elements_(kernel.loops.back().lanes),
      places_(kernel.operands.size()) {
  for (std::size_t i = 0; i < places_.size() && held >> i != 0; ++i)
    places_[i].is_held = (held >> i & 1) != 0;
  classify();
  fetches_outputs_ = asks_for_outputs(kernel, code.features());
  assign_registers();
  if (!calls) keep_indices();
}

bool Operands::can_permute(const Place& place) const {
  return code_.has_avx512() && place.stride >= 2 && place.stride <= 4 &&
         (place.itemsize > 1 || code_.features().avx512_vbmi);
}

// Registers of n items, read n - 1 items apart, have the items of such a stride in places of their
// own.
bool Operands::can_blend(const Place& place) const {
  return !code_.has_avx512() && place.stride >= 2 && place.stride <= 4 && place.itemsize >= 4 &&
         (lanes_ == 8 || lanes_ == 4) && lanes_ * place.itemsize <= 32 &&
         place.stride % (lanes_ - 1) != 0;
}

// For larger items, inserting them one by one takes no more instructions.
bool Operands::can_shuffle(const Place& place) const {
  return place.stride >= 2 && place.stride <= 4 && place.itemsize <= 2 && !can_permute(place);
}

void Operands::classify() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    const ir::Operand& operand = kernel_.operands[i];
    place.stride = operand.strides.back();
    place.itemsize = static_cast<int>(itemsize_bytes(operand.dtype));
    if (place.is_held) continue;
    place.is_indexed = place.stride == 1;
    place.is_moving = place.stride != 0 && place.stride != 1;
    const bool is_output = operand.role == ir::Role::output;
    // Partial results are accessed as reduce.cpp likes, and not by strides.
    const bool is_partial = is_output && ir::is_reduction(kernel_);
    is_simple_ &= place.is_indexed || (place.stride == 0 && (!is_output || is_partial));
    if (is_partial) continue;
    if (is_output) {
      has_lane_access_ |= !place.is_indexed && place.stride != -1 && !can_permute(place);
      place.is_streamed = kernel_.is_streaming && place.is_indexed && place.itemsize * lanes_ >= 16;
      if (place.is_streamed && streamed_ < 0) streamed_ = static_cast<int>(i);
      continue;
    }
    reads_gaps_ |= place.stride >= 2;
    const int reads = can_permute(place) ? 64 : can_shuffle(place) ? 16 : 0;
    has_lane_access_ |= place.is_moving && place.stride != -1 && reads == 0 && !can_blend(place);
    if (reads > 0) {
      // Whole registers are read, which may be more than the lanes need: more elements must be
      // left.
      const int group = reads == 64 ? lanes_ : std::min(lanes_, 16 / place.itemsize);
      const int first = (lanes_ - group) * place.stride;
      const int span = ((group - 1) * place.stride + 1) * place.itemsize;
      const int items = first + (span + reads - 1) / reads * reads / place.itemsize;
      const int needed = (items - 2) / place.stride + 2;
      full_elements_ = std::max(full_elements_, needed);
      if (reads == 16 || !reads_exactly(place))
        full_streamed_elements_ = std::max(full_streamed_elements_, needed);
    }
  }
  is_simple_ &= code_.has_avx512() && !streams();
}

void Operands::assign_registers() {
  static constexpr Code simple[] = {Code::RDX, Code::R9,  Code::R10, Code::R11, Code::RBX,
                                    Code::RBP, Code::R12, Code::R13, Code::R14, Code::R15};
  static constexpr Code general[] = {Code::R9,  Code::RBX, Code::RBP, Code::R12,
                                     Code::R13, Code::R14, Code::R15};
  spare_registers_ = is_simple_ ? std::span<const Code>(simple) : general;
  const auto take = [&] { return take_spare_register()->getIdx(); };
  for (Place& place : places_) {
    const bool varies = place.is_indexed || place.is_moving;
    if (varies && !spare_registers_.empty()) {
      place.gpr = take();
    } else if (varies) {
      has_all_registers_ = false;
      place.slot = code_.allocate_frame(pointer_bytes, pointer_bytes);
    } else if (place.is_held) {
      has_all_registers_ &= spare_registers_.size() >= 3;
      if (has_all_registers_) place.gpr = take(), place.stride_gprs = {take(), take()};
    }
    if (place.stride == ir::stride_any)
      place.stride_slot = code_.allocate_frame(pointer_bytes, pointer_bytes);
  }
  if (kernel_.loops.size() > 1) assign_row_homes();
}

// Through memory an address that moves from row to row takes as long as a short row.
void Operands::assign_row_homes() {
  for (Place& place : places_) {
    if (place.is_indexed) continue;
    const auto spare = place.is_held ? std::nullopt : take_spare_register();
    if (spare)
      place.row_gpr = spare->getIdx();
    else
      place.row_slot = code_.allocate_frame(pointer_bytes, pointer_bytes);
  }
}

std::optional<Reg64> Operands::take_spare_register() {
  if (spare_registers_.empty()) return std::nullopt;
  const Reg64 reg(spare_registers_.front());
  spare_registers_ = spare_registers_.subspan(1);
  if (reg.getIdx() == Code::RBX || reg.getIdx() == Code::RBP || reg.getIdx() >= Code::R12)
    saved_.push_back(reg);
  return reg;
}

void Operands::start_rows(const RegExp& source) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const Address from = code_.qword[source + pointer_bytes * i];
    if (const int home = row_register(place); home >= 0) {
      code_.mov(Reg64(home), from);
    } else if (const int slot = row_slot(place); slot >= 0) {
      code_.mov(code_.rax, from);
      code_.mov(code_.qword[code_.frame(slot)], code_.rax);
    }
  }
}

void Operands::start_row() {
  for (const Place& place : places_) {
    if (!place.is_moving || (place.row_slot < 0 && place.row_gpr < 0)) continue;
    if (place.gpr >= 0) {
      place.row_gpr >= 0 ? code_.mov(Reg64(place.gpr), Reg64(place.row_gpr))
                         : code_.mov(Reg64(place.gpr), code_.qword[code_.frame(place.row_slot)]);
      continue;
    }
    if (place.row_gpr < 0) code_.mov(code_.rax, code_.qword[code_.frame(place.row_slot)]);
    code_.mov(code_.qword[code_.frame(place.slot)],
              place.row_gpr >= 0 ? Reg64(place.row_gpr) : code_.rax);
  }
}

void Operands::next_row(std::size_t loop) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const ir::StrideClass stride = kernel_.operands[i].strides[loop];
    if (stride == 0) continue;
    const int home = row_register(place), slot = row_slot(place);
    if (stride != ir::stride_any) {
      home >= 0 ? code_.add(Reg64(home), stride * place.itemsize)
                : code_.add(code_.qword[code_.frame(slot)], stride * place.itemsize);
      continue;
    }
    const RegExp at = code_.rax + pointer_bytes * (loop * places_.size() + i);
    if (home >= 0) {
      code_.add(Reg64(home), code_.qword[at]);
    } else {
      code_.mov(code_.rcx, code_.qword[at]);
      code_.add(code_.qword[code_.frame(slot)], code_.rcx);
    }
  }
}

void Operands::load_constants() {
  for (const auto& [indices, index] : kept_indices_)
    code_.vmovups(vector_register(index, 64), code_.constant(indices));
  const std::size_t inner = kernel_.loops.size() - 1;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].stride_slot < 0) continue;
    code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, stride_bytes)]);
    code_.mov(code_.rax, code_.qword[code_.rax + pointer_bytes * (inner * places_.size() + i)]);
    code_.mov(code_.qword[code_.frame(places_[i].stride_slot)], code_.rax);
  }
}

RegExp Operands::address(const Place& place, int offset_bytes) {
  if (!place.is_indexed && !place.is_moving) {
    if (place.row_gpr >= 0) return Reg64(place.row_gpr) + offset_bytes;
    if (place.row_slot >= 0) {
      code_.mov(code_.rax, code_.qword[code_.frame(place.row_slot)]);
    } else {
      const auto operand = static_cast<std::size_t>(&place - places_.data());
      code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, base)]);
      code_.mov(code_.rax, code_.qword[code_.rax + pointer_bytes * operand]);
    }
    return code_.rax + offset_bytes;
  }
  if (place.gpr < 0) code_.mov(code_.rax, code_.qword[code_.frame(place.slot)]);
  const Reg64 base = place.gpr < 0 ? code_.rax : Reg64(place.gpr);
  if (place.is_indexed) return base + gpr::index * place.itemsize + offset_bytes;
  return base + offset_bytes;
}

void Operands::broadcast(const Xmm& out, const Place& place) {
  const RegExp from = address(place, 0);
  switch (place.itemsize) {
    case 1: return code_.vpbroadcastb(out, code_.ptr[from]);
    case 2: return code_.vpbroadcastw(out, code_.ptr[from]);
    case 4: return code_.vpbroadcastd(out, code_.ptr[from]);
    default: return code_.vpbroadcastq(out, code_.ptr[from]);
  }
}

void Operands::load_masked(const Xmm& out, const Opmask& mask, const Address& from, int itemsize) {
  const Xmm to = out | mask | Xbyak::util::T_z;
  switch (itemsize) {
    case 1: return code_.vmovdqu8(to, from);
    case 2: return code_.vmovdqu16(to, from);
    case 4: return code_.vmovdqu32(to, from);
    default: return code_.vmovdqu64(to, from);
  }
}

void Operands::store_masked(const Address& to, const Opmask& mask, const Xmm& x, int itemsize) {
  switch (itemsize) {
    case 1: return code_.vmovdqu8(to | mask, x);
    case 2: return code_.vmovdqu16(to | mask, x);
    case 4: return code_.vmovdqu32(to | mask, x);
    default: return code_.vmovdqu64(to | mask, x);
  }
}

Address Operands::ones_then_zeros() {
  std::array<std::byte, 64> bytes{};
  std::fill_n(bytes.begin(), 32, std::byte{0xff});
  return code_.constant(bytes);
}

// A window over ones followed by zeros, shifted so that it starts with `count` ones.
Xmm Operands::lane_mask(int itemsize) {
  const Xmm mask = registers_.temp(itemsize * lanes_);
  code_.lea(code_.rcx, ones_then_zeros());
  code_.mov(code_.rdx, gpr::count);
  code_.neg(code_.rdx);
  code_.vmovups(mask, code_.ptr[code_.rcx + code_.rdx * itemsize + 32]);
  return mask;
}

/// Whether a copy of the body reads the first bytes of what may be a line.
bool Operands::begins_line(const Place& place, Step step) const {
  const int bytes = place.itemsize * lanes_;
  return place.stride == 1 && 2 * bytes >= line_bytes && step.copy * bytes % line_bytes == 0;
}

void Operands::prefetch(const Place& place, Step step) {
  if (!begins_line(place, step)) return;
  const int bytes = place.itemsize * lanes_;
  code_.prefetcht0(code_.ptr[address(place, (step.copy + step.prefetched) * bytes)]);
}

Operands::Held Operands::held(std::size_t operand) const {
  const Place& place = places_[operand];
  return {Reg64(place.gpr), Reg64(place.stride_gprs[0]), Reg64(place.stride_gprs[1]),
          place.row_slot};
}

void Operands::hold(std::size_t operand, int row, int index) {
  places_[operand].rows[static_cast<std::size_t>(row)] = static_cast<std::int8_t>(index);
}

void Operands::load_vector(const Xmm& out, const Place& place, Step step) {
  const int bytes = place.itemsize * lanes_;
  if (place.is_held)
    return code_.move(out, vector_register(place.rows[static_cast<std::size_t>(step.row)], bytes));
  const bool permutes = can_permute(place);
  if (place.stride == 0) return broadcast(out, place);
  if (place.stride == -1 && (!step.is_tail || code_.has_avx512()))
    return load_reversed(out, place, step);
  if (permutes) return load_permuted(out, place, step);
  if (place.stride != 1 && step.is_tail)
    return code_.has_avx512() ? load_one_by_one(out, place) : load_lanes(out, place, step);
  if (can_blend(place)) return load_blended(out, place, step);
  if (place.stride != 1)
    return can_shuffle(place) ? load_shuffled(out, place, step) : load_lanes(out, place, step);
  if (!step.is_tail) return code_.load_bytes(out, address(place, step.copy * bytes), bytes);
  if (code_.has_avx512())
    return load_masked(out, Opmask(Registers::tail_mask_index), code_.ptr[address(place, 0)],
                       place.itemsize);
  if (place.itemsize < 4) return load_dense_tail(out, place);
  const Xmm mask = lane_mask(place.itemsize);
  const RegExp from = address(place, 0);
  place.itemsize == 4 ? code_.vpmaskmovd(out, mask, code_.ptr[from])
                      : code_.vpmaskmovq(out, mask, code_.ptr[from]);
}

void Operands::store_vector(const Xmm& x, const Place& place, Step step) {
  const int bytes = place.itemsize * lanes_;
  if (place.stride == -1 && (!step.is_tail || code_.has_avx512()))
    return store_reversed(x, place, step);
  if (can_permute(place)) return store_spread(x, place, step);
  if (place.stride != 1)
    return step.is_tail ? store_buffered(x, place) : store_lanes(x, place, step);
  if (fetches_outputs_ && step.is_main && !step.streams && begins_line(place, step))
    code_.prefetchw(code_.ptr[address(place, step.copy * bytes + output_ahead_bytes)]);
  if (step.streams && place.is_streamed)
    return code_.vmovntps(code_.ptr[address(place, step.copy * bytes)], resized(x, bytes));
  if (!step.is_tail) return code_.store_bytes(address(place, step.copy * bytes), x, bytes);
  if (code_.has_avx512())
    return store_masked(code_.ptr[address(place, 0)], Opmask(Registers::tail_mask_index), x,
                        place.itemsize);
  if (place.itemsize < 4) return store_buffered(x, place);
  if (code_.features().amd_family >= zen3_family) return store_pieces(x, place);
  const Xmm mask = lane_mask(place.itemsize);
  const RegExp to = address(place, 0);
  place.itemsize == 4 ? code_.vpmaskmovd(code_.ptr[to], mask, x)
                      : code_.vpmaskmovq(code_.ptr[to], mask, x);
}

void Operands::load(ir::ValueId id, Step step) {
  const ir::Inst& inst = kernel_.body[id];
  const Place& place = places_[inst.operand];
  if (step.prefetched != 0) prefetch(place, step);
  const int ahead_bytes = kernel_.operands[inst.operand].ahead_bytes;
  if (ahead_bytes != 0 && step.is_main && begins_line(place, step))
    code_.prefetcht1(code_.ptr[address(place, step.copy * place.itemsize * lanes_ + ahead_bytes)]);
  if (inst.dtype != DType::boolean) return load_vector(registers_.define(id), place, step);
  const Xmm bytes = registers_.temp(lanes_);
  load_vector(bytes, place, step);
  mask_from_bytes(registers_, code_, id, bytes);
}

void Operands::store(ir::ValueId id, Step step) {
  if (stores_pairs(id, step)) return store_pairs(id, step);
  if (id > 0 && stores_pairs(static_cast<ir::ValueId>(id - 1), step)) return;  // both are stored
  const ir::Inst& inst = kernel_.body[id];
  const Xmm x = inst.dtype == DType::boolean ? bytes_from_mask(registers_, code_, inst.args[0])
                                             : registers_.use(inst.args[0]);
  store_vector(x, places_[inst.operand], step);
}

void Operands::advance_copy() {
  for (const Place& place : places_) {
    if (place.stride != ir::stride_any) continue;
    code_.imul(code_.rcx, code_.qword[code_.frame(place.stride_slot)], lanes_);
    place.gpr >= 0 ? code_.add(Reg64(place.gpr), code_.rcx)
                   : code_.add(code_.qword[code_.frame(place.slot)], code_.rcx);
  }
}

void Operands::advance(int vectors) {
  for (const Place& place : places_) {
    if (!place.is_moving || place.stride == ir::stride_any) continue;
    const int bytes = vectors * lanes_ * place.stride * place.itemsize;
    place.gpr >= 0 ? code_.add(Reg64(place.gpr), bytes)
                   : code_.add(code_.qword[code_.frame(place.slot)], bytes);
  }
}

void Operands::count_to_alignment() {
  const Place& place = places_[static_cast<std::size_t>(streamed_)];
  code_.lea(code_.rcx, code_.ptr[address(place, 0)]);
  code_.neg(code_.rcx);
  code_.and_(code_.ecx, place.itemsize * lanes_ - 1);
  code_.shr(code_.ecx, std::countr_zero(static_cast<unsigned>(place.itemsize)));
  code_.mov(gpr::count, code_.rcx);
  code_.cmp(gpr::count, gpr::remaining);
  code_.cmova(gpr::count, gpr::remaining);
}

int Operands::line_vectors() const {
  return line_bytes / (places_[static_cast<std::size_t>(streamed_)].itemsize * lanes_);
}

void Operands::advance_by_count() {
  code_.add(gpr::index, gpr::count);
  code_.sub(gpr::remaining, gpr::count);
  for (const Place& place : places_) {
    if (!place.is_moving) continue;
    if (place.stride == ir::stride_any) {  // advance_copy() has moved it on by a whole vector
      code_.lea(code_.rcx, code_.ptr[gpr::count - lanes_]);
      code_.imul(code_.rcx, code_.qword[code_.frame(place.stride_slot)]);
    } else {
      code_.imul(code_.rcx, gpr::count, place.stride * place.itemsize);
    }
    place.gpr >= 0 ? code_.add(Reg64(place.gpr), code_.rcx)
                   : code_.add(code_.qword[code_.frame(place.slot)], code_.rcx);
  }
}

Assembler::Jump Operands::jump_if_line() {
  code_.lea(code_.rcx, code_.ptr[address(places_[static_cast<std::size_t>(streamed_)], 0)]);
  code_.test(code_.ecx, line_bytes - 1);
  return code_.jump_if(Condition::zero);
}

Assembler::Jump Operands::jump_if_unaligned(bool by_lines) {
  code_.xor_(code_.ecx, code_.ecx);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (!place.is_streamed) continue;
    const int vector_bytes = place.itemsize * lanes_;
    const bool is_first = static_cast<int>(i) == streamed_;
    code_.lea(code_.rdx, code_.ptr[address(place, 0)]);
    code_.and_(code_.edx, (by_lines && is_first ? line_bytes : vector_bytes) - 1);
    code_.or_(code_.ecx, code_.edx);
  }
  code_.test(code_.ecx, code_.ecx);
  return code_.jump_if(Condition::not_zero);
}

}  // namespace weft::jit::xbyak
