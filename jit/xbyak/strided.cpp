// Accesses to operands whose inner stride is neither 0 nor 1.
#include "jit/xbyak/operands.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace weft::jit::xbyak {
namespace {

constexpr int vector_bytes = 64;

// Writes item `value` as the i-th index of a permutation of items of `itemsize` bytes.
void set_index(std::array<std::byte, 64>& indices, int i, int itemsize, int value) {
  std::memcpy(indices.data() + i * itemsize, &value,
              static_cast<std::size_t>(std::min(itemsize, 4)));
}

void permute_one(Assembler& code, int itemsize, const Xmm& out, const Xmm& indices,
                 const Xbyak::Operand& table) {
  switch (itemsize) {
    case 1: return code.vpermb(out, indices, table);
    case 2: return code.vpermw(out, indices, table);
    case 4: return code.vpermd(Zmm(out.getIdx()), Zmm(indices.getIdx()), table);
    default: return code.vpermq(Zmm(out.getIdx()), Zmm(indices.getIdx()), table);
  }
}

void permute_two(Assembler& code, int itemsize, const Xmm& out, const Xmm& indices,
                 const Xbyak::Operand& table) {
  switch (itemsize) {
    case 1: return code.vpermt2b(out, indices, table);
    case 2: return code.vpermt2w(out, indices, table);
    case 4: return code.vpermt2d(out, indices, table);
    default: return code.vpermt2q(out, indices, table);
  }
}

}  // namespace

// Which of the items so far and of register `source` the lanes take, when `source` is added: the
// first permutation takes items of one or two registers, a later one keeps what is in its lane.
// `source` was read so many items before its place.
Operands::Indices Operands::gather_indices(const Place& place, int source, bool streams) const {
  const bool is_last = source + 1 == gathered_vectors(place);
  const int before_bytes = source > 0 && is_last ? unread_bytes(place, streams) : 0;
  const int items = vector_bytes / place.itemsize;
  Indices indices{};
  for (int lane = 0; lane < lanes_; ++lane) {
    const int from = lane * place.stride / items;
    const int item = lane * place.stride % items;
    const int kept = source <= 1 ? item : lane;
    const bool is_added = from == source && source > 0;
    set_index(indices, lane, place.itemsize,
              is_added ? items + item + before_bytes / place.itemsize : kept);
  }
  return indices;
}

int Operands::gathered_vectors(const Place& place) const {
  return (lanes_ * place.stride * place.itemsize + vector_bytes - 1) / vector_bytes;
}

// By how much the last register is read before its place.
int Operands::unread_bytes(const Place& place, bool streams) const {
  return streams && reads_exactly(place)
             ? gathered_vectors(place) * vector_bytes - lane_span_bytes(place)
             : 0;
}

// Each load of a constant waits in the processor's queue of loads with those from memory, of which
// fewer are under way then (docs/decisions/xbyak.md).
void Operands::keep_indices() {
  for (const ir::Inst& inst : kernel_.body) {
    if (inst.op != Op::load) continue;  // lanes may be too many for operands that nothing reads
    const Place& place = places_[inst.operand];
    if (place.is_held || !place.is_moving || !can_permute(place)) continue;
    const int vectors = gathered_vectors(place);
    for (int source = vectors > 1 ? 1 : 0; source < vectors; ++source) {
      const Indices indices = gather_indices(place, source, streams());
      const auto is_same = [&](const auto& kept) { return kept.first == indices; };
      if (std::ranges::any_of(kept_indices_, is_same)) continue;
      const std::optional<int> kept = registers_.keep();
      if (!kept) return;
      kept_indices_.emplace_back(indices, *kept);
    }
  }
}

Xmm Operands::indices_of(const Place& place, int source, bool streams) {
  const Indices indices = gather_indices(place, source, streams);
  for (const auto& [kept, index] : kept_indices_)
    if (kept == indices) return vector_register(index, vector_bytes);
  const Xmm loaded = registers_.temp(vector_bytes);
  code_.vmovups(loaded, code_.constant(indices));
  return loaded;
}

// In streamed loops the last register ends with the last lane's item, so that nothing beyond is
// read; it crosses lines of the cache for that, which costs only where memory does not.
void Operands::load_permuted(const Xmm& out, const Place& place, Step step) {
  const int bytes = lanes_ * place.stride * place.itemsize;
  const int sources = gathered_vectors(place);
  const int items = vector_bytes / place.itemsize;
  const Xmm whole = resized(out, vector_bytes);
  code_.note_written(whole);
  const Xmm part = step.is_tail ? registers_.temp(vector_bytes) : whole;
  const Opmask mask = step.is_tail ? registers_.temp_mask() : Opmask(Registers::tail_mask_index);
  if (step.is_tail)  // the number of items up to the last needed one
    code_.imul(code_.rcx, gpr::count, place.stride), code_.sub(code_.rcx, place.stride - 1);
  for (int source = 0; source < sources; ++source) {
    const int before_bytes =
        source > 0 && source + 1 == sources ? unread_bytes(place, step.streams) : 0;
    const RegExp from = address(place, step.copy * bytes + source * vector_bytes - before_bytes);
    if (step.is_tail) {
      code_.mov(code_.rdx, -1);
      code_.bzhi(code_.rdx, code_.rdx, code_.rcx);
      code_.kmovq(mask, code_.rdx);
      load_masked(source == 0 ? whole : part, mask, code_.ptr[from], place.itemsize);
      code_.xor_(code_.edx, code_.edx);
      code_.sub(code_.rcx, items);
      code_.cmovs(code_.rcx, code_.rdx);
    } else if (source == 0 && sources > 1) {
      code_.vmovups(whole, code_.ptr[from]);
    }
    if (source == 0 && sources > 1) continue;
    const std::uint32_t mark = registers_.marked_temps();
    const Xmm indices = indices_of(place, source, step.streams);
    const Address memory = code_.ptr[from];
    const Xbyak::Operand& table =
        step.is_tail ? static_cast<const Xbyak::Operand&>(source == 0 ? whole : part) : memory;
    source == 0 ? permute_one(code_, place.itemsize, whole, indices, table)
                : permute_two(code_, place.itemsize, whole, indices, table);
    registers_.free_temps_since(mark);
  }
}

// The lanes go to their places in as many registers as there are between the first and the last,
// which are stored under masks: what lies between the elements is not written.
void Operands::store_spread(const Xmm& x, const Place& place, Step step) {
  const int items = vector_bytes / place.itemsize;
  const int first_byte = step.copy * lanes_ * place.stride * place.itemsize;
  const int num_vectors = (lane_span_bytes(place) + vector_bytes - 1) / vector_bytes;
  const Opmask mask = registers_.temp_mask();
  const Xmm indices = registers_.temp(vector_bytes), spread = registers_.temp(vector_bytes);
  if (step.is_tail)  // the number of items up to the last one
    code_.imul(code_.rcx, gpr::count, place.stride), code_.sub(code_.rcx, place.stride - 1);
  for (int part = 0; part < num_vectors; ++part) {
    Indices lanes{};
    std::uint64_t is_element = 0;
    for (int i = 0; i < items; ++i) {
      const int item = part * items + i;
      if (item % place.stride != 0 || item / place.stride >= lanes_) continue;
      set_index(lanes, i, place.itemsize, item / place.stride);
      is_element |= std::uint64_t{1} << i;
    }
    code_.mov(code_.rdx, is_element);
    if (step.is_tail) {
      code_.bzhi(code_.rdx, code_.rdx, code_.rcx);
      code_.xor_(code_.r10d, code_.r10d);
      code_.sub(code_.rcx, items);
      code_.cmovs(code_.rcx, code_.r10);
    }
    code_.kmovq(mask, code_.rdx);
    code_.vmovups(indices, code_.constant(lanes));
    permute_one(code_, place.itemsize, spread, indices, resized(x, vector_bytes));
    store_masked(code_.ptr[address(place, first_byte + part * vector_bytes)], mask, spread,
                 place.itemsize);
  }
}

// For each 16 bytes of the result: the bytes of each register it comes from are moved into place,
// with zeros elsewhere, and joined.
void Operands::load_shuffled(const Xmm& out, const Place& place, Step step) {
  const int itemsize = place.itemsize;
  const int group = std::min(lanes_, 16 / itemsize);
  const int sources = (((group - 1) * place.stride + 1) * itemsize + 15) / 16;
  for (int part = 0; part * group < lanes_; ++part) {
    const std::uint32_t mark = registers_.marked_temps();
    const Xmm target = part == 0 ? resized(out, 16) : registers_.temp(16);
    const Xmm piece = registers_.temp(16);
    const int first = (step.copy * lanes_ + part * group) * place.stride * itemsize;
    for (int source = 0; source < sources; ++source) {
      std::array<std::byte, 16> order;
      order.fill(std::byte{0x80});
      for (int i = 0; i < group * itemsize; ++i) {
        const int from = i / itemsize * place.stride * itemsize + i % itemsize - 16 * source;
        if (from >= 0 && from < 16)
          order[static_cast<std::size_t>(i)] = static_cast<std::byte>(from);
      }
      const Xmm& to = source == 0 ? target : piece;
      code_.vmovups(to, code_.ptr[address(place, first + 16 * source)]);
      code_.vpshufb(to, to, code_.constant(order));
      if (source > 0) code_.bit_or(target, target, piece);
    }
    if (part > 0) code_.insert_part(out, target, part);
    registers_.free_temps_since(mark);
  }
}

// The last register ends with the last lane's item, so that nothing beyond is read.
void Operands::load_blended(const Xmm& out, const Place& place, Step step) {
  const int apart = lanes_ - 1, words = place.itemsize / 4;
  const int first = step.copy * lanes_ * place.stride;
  std::array<int, 8> place_of{};  // the register's, by lane
  for (int source = 0; source < place.stride; ++source) {
    unsigned mask = 0;  // a bit for each 4 bytes
    for (int lane = 0; lane < lanes_; ++lane) {
      const int item = lane * place.stride;
      if (std::min(item / apart, place.stride - 1) != source) continue;
      const int at = place_of[static_cast<std::size_t>(lane)] = item - source * apart;
      mask |= (words == 1 ? 1u : 3u) << (at * words);
    }
    const Address from = code_.ptr[address(place, (first + source * apart) * place.itemsize)];
    source == 0 ? code_.vmovups(out, from)
                : code_.vpblendd(out, out, from, static_cast<std::uint8_t>(mask));
  }
  if (lanes_ == 8) {
    std::array<std::byte, 32> order{};
    for (int lane = 0; lane < lanes_; ++lane)
      order[static_cast<std::size_t>(4 * lane)] =
          static_cast<std::byte>(place_of[static_cast<std::size_t>(lane)]);
    const std::uint32_t mark = registers_.marked_temps();
    const Xmm indices = registers_.temp(32);
    code_.vmovups(indices, code_.constant(order));
    code_.vpermd(Ymm(out.getIdx()), Ymm(indices.getIdx()), Ymm(out.getIdx()));
    return registers_.free_temps_since(mark);
  }
  unsigned order = 0;
  for (int lane = 0; lane < lanes_; ++lane)
    order |= static_cast<unsigned>(place_of[static_cast<std::size_t>(lane)]) << (2 * lane);
  const auto imm = static_cast<std::uint8_t>(order);
  words == 1 ? code_.vpshufd(out, out, imm)
             : code_.vpermq(Ymm(out.getIdx()), Ymm(out.getIdx()), imm);
}

// Reverses the items of each 16 bytes, then the order of the groups.
void Operands::reverse(const Xmm& out, const Xmm& x, int itemsize) {
  const int bytes = itemsize * lanes_;
  const int group = std::min(bytes, 16);
  const int width = width_bytes(x);
  std::array<std::byte, 64> order{};
  for (int i = 0; i < width; ++i)
    order[static_cast<std::size_t>(i)] = static_cast<std::byte>(
        (group - itemsize - i % 16 / itemsize * itemsize + i % itemsize) & 0x8f);
  code_.vpshufb(out, x, code_.constant(std::span(order).first(static_cast<std::size_t>(width))));
  if (bytes == 32) code_.vpermq(Ymm(out.getIdx()), Ymm(out.getIdx()), 0x4e);
  if (bytes == 64) code_.vshufi64x2(Zmm(out.getIdx()), Zmm(out.getIdx()), Zmm(out.getIdx()), 0x1b);
}

// The last `count` of the lanes.
Opmask Operands::upper_lanes_mask() {
  const Opmask mask = registers_.temp_mask();
  code_.mov(code_.rdx, -1);
  code_.bzhi(code_.rdx, code_.rdx, gpr::count);
  code_.mov(code_.ecx, lanes_);
  code_.sub(code_.ecx, gpr::count.cvt32());
  code_.shlx(code_.rdx, code_.rdx, code_.rcx);
  code_.kmovq(mask, code_.rdx);
  return mask;
}

void Operands::load_reversed(const Xmm& out, const Place& place, Step step) {
  const int bytes = place.itemsize * lanes_;
  const int offset = place.itemsize - (step.copy + 1) * bytes;
  if (step.is_tail) {
    const Opmask mask = upper_lanes_mask();
    load_masked(out, mask, code_.ptr[address(place, offset)], place.itemsize);
  } else {
    code_.load_bytes(out, address(place, offset), bytes);
  }
  reverse(out, out, place.itemsize);
}

void Operands::store_reversed(const Xmm& x, const Place& place, Step step) {
  const int bytes = place.itemsize * lanes_;
  const int offset = place.itemsize - (step.copy + 1) * bytes;
  const Xmm reversed = registers_.temp(bytes);
  reverse(reversed, x, place.itemsize);
  if (!step.is_tail) return code_.store_bytes(address(place, offset), reversed, bytes);
  const Opmask mask = upper_lanes_mask();
  store_masked(code_.ptr[address(place, offset)], mask, reversed, place.itemsize);
}

RegExp Operands::lane_address(const Place& place, Step step, int lane) {
  if (place.stride != ir::stride_any) {
    const int offset = (step.copy * lanes_ + lane) * place.stride * place.itemsize;
    const bool in_scratch = place.gpr < 0 && place.is_moving;
    if (in_scratch && lane > 0) return code_.rax + offset;
    if (place.is_moving || lane == 0) return address(place, offset);
    return code_.rax + offset;
  }
  switch (lane % 4) {
    case 0:
      if (lane == 0) {
        code_.lea(code_.rax, code_.ptr[address(place, 0)]);
        code_.mov(code_.rcx, code_.qword[code_.frame(place.stride_slot)]);
        code_.lea(code_.rdx, code_.ptr[code_.rcx + code_.rcx * 2]);
      } else {
        code_.lea(code_.rax, code_.ptr[code_.rax + code_.rcx * 4]);
      }
      return code_.rax;
    case 1: return code_.rax + code_.rcx;
    case 2: return code_.rax + code_.rcx * 2;
    default: return code_.rax + code_.rdx;
  }
}

// Of a tail, as many as it has; the others are 0.
void Operands::load_lanes(const Xmm& out, const Place& place, Step step) {
  const int per_group = std::min(lanes_, 16 / place.itemsize);
  std::vector<Assembler::Jump> all_done;
  for (int group = 0; group * per_group < lanes_; ++group) {
    const std::uint32_t mark = registers_.marked_temps();
    const Xmm target = group == 0 ? resized(out, 16) : registers_.temp(16);
    if (step.is_tail && group > 0) all_done.push_back(jump_if_at_most(group * per_group));
    std::vector<Assembler::Jump> done;
    for (int i = 0; i < per_group; ++i) {
      if (step.is_tail && i > 0) done.push_back(jump_if_at_most(group * per_group + i));
      const RegExp from = lane_address(place, step, group * per_group + i);
      if (i == 0 && place.itemsize < 4) code_.set_zero(target);
      insert_lane(target, place.itemsize, i, from);
    }
    for (const Assembler::Jump& jump : done) code_.bind(jump);
    if (group > 0) code_.insert_part(out, target, group);
    registers_.free_temps_since(mark);
  }
  for (const Assembler::Jump& jump : all_done) code_.bind(jump);
}

Assembler::Jump Operands::jump_if_at_most(int count) {
  code_.cmp(gpr::count, count);
  return code_.jump_if(Condition::below_equal);
}

/// Lane 0 of items of 4 and 8 bytes begins a register.
void Operands::insert_lane(const Xmm& target, int itemsize, int lane, const RegExp& from) {
  const auto position = static_cast<std::uint8_t>(lane);
  switch (itemsize) {
    case 1: return code_.vpinsrb(target, target, code_.byte[from], position);
    case 2: return code_.vpinsrw(target, target, code_.word[from], position);
    case 4:
      return lane == 0 ? code_.vmovd(target, code_.dword[from])
                       : code_.vpinsrd(target, target, code_.dword[from], position);
    default:
      return lane == 0 ? code_.vmovq(target, code_.qword[from])
                       : code_.vpinsrq(target, target, code_.qword[from], position);
  }
}

// Whether this and the next instruction store the parts of complex numbers that are neighbours.
bool Operands::stores_pairs(ir::ValueId id, Step step) const {
  if (step.is_tail || code_.has_avx512() || id + 1u >= kernel_.body.size()) return false;
  const ir::Inst &real = kernel_.body[id], &imaginary = kernel_.body[id + 1u];
  if (real.op != Op::store || imaginary.op != Op::store) return false;
  const Place& place = places_[real.operand];
  const int bytes = place.itemsize * lanes_;
  return imaginary.operand == real.operand + 1 &&
         kernel_.operands[imaginary.operand].is_imaginary && place.stride == 2 &&
         place.itemsize >= 4 && (bytes == 16 || bytes == 32);
}

// In whole registers; ends of rows still go lane by lane, for which kernels keep to one copy of the
// body.  Unpacking joins the parts within each 16 bytes: of 32 the halves of both
// results change places then.
void Operands::store_pairs(ir::ValueId id, Step step) {
  const ir::Inst& inst = kernel_.body[id];
  const Place& place = places_[inst.operand];
  const int bytes = place.itemsize * lanes_;
  const Xmm re = resized(registers_.use(inst.args[0]), bytes);
  const Xmm im = resized(registers_.use(kernel_.body[id + 1u].args[0]), bytes);
  const Xmm low = registers_.temp(bytes), high = registers_.temp(bytes);
  if (place.itemsize == 4) {
    code_.vunpcklps(low, re, im);
    code_.vunpckhps(high, re, im);
  } else {
    code_.vunpcklpd(low, re, im);
    code_.vunpckhpd(high, re, im);
  }
  const int first = step.copy * 2 * bytes;
  if (bytes == 16) {
    code_.vmovups(code_.ptr[address(place, first)], low);
    code_.vmovups(code_.ptr[address(place, first + 16)], high);
    return;
  }
  const Ymm y_low(low.getIdx()), y_high(high.getIdx()), whole(registers_.temp(32).getIdx());
  code_.vperm2f128(whole, y_low, y_high, 0x20);
  code_.vmovups(code_.ptr[address(place, first)], whole);
  code_.vperm2f128(whole, y_low, y_high, 0x31);
  code_.vmovups(code_.ptr[address(place, first + 32)], whole);
}

void Operands::store_lanes(const Xmm& x, const Place& place, Step step) {
  const int per_group = std::min(lanes_, 16 / place.itemsize);
  const Xmm source = registers_.temp(16);
  for (int group = 0; group * per_group < lanes_; ++group) {
    code_.extract_part(source, x, group);
    for (int i = 0; i < per_group; ++i) {
      const RegExp to = lane_address(place, step, group * per_group + i);
      const auto position = static_cast<std::uint8_t>(i);
      switch (place.itemsize) {
        case 1: code_.vpextrb(code_.byte[to], source, position); break;
        case 2: code_.vpextrw(code_.word[to], source, position); break;
        case 4: code_.vpextrd(code_.dword[to], source, position); break;
        default: code_.vpextrq(code_.qword[to], source, position); break;
      }
    }
  }
}

}  // namespace weft::jit::xbyak
