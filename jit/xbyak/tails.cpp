// The elements of a row that fill no vector, where no mask of the processor leaves out the others.
#include "jit/xbyak/operands.h"

#include <algorithm>

namespace weft::jit::xbyak {

// rax: the element; rdx: its distance to the next; rcx: how many are done.
void Operands::start_copy_loop(const Place& place) {
  code_.lea(code_.rax, code_.ptr[address(place, 0)]);
  if (place.stride == ir::stride_any)
    code_.mov(code_.rdx, code_.qword[code_.frame(place.stride_slot)]);
  else
    code_.mov(code_.rdx, place.stride * place.itemsize);
  code_.xor_(code_.ecx, code_.ecx);
}

// By r10, or by a vector if it is larger.
void Operands::move_piece(const RegExp& from, const RegExp& to, int bytes, const Xmm& vector) {
  switch (bytes) {
    case 1: code_.mov(code_.r10b, code_.byte[from]); return code_.mov(code_.byte[to], code_.r10b);
    case 2: code_.mov(code_.r10w, code_.word[from]); return code_.mov(code_.word[to], code_.r10w);
    case 4: code_.mov(code_.r10d, code_.dword[from]); return code_.mov(code_.dword[to], code_.r10d);
    case 8: code_.mov(code_.r10, code_.qword[from]); return code_.mov(code_.qword[to], code_.r10);
    default:
      code_.vmovups(resized(vector, bytes), code_.ptr[from]);
      return code_.vmovups(code_.ptr[to], resized(vector, bytes));
  }
}

// Copies gpr::count adjoining items from rax to rdx: all lanes, or half of them, a quarter, ...
void Operands::copy_pieces(const Place& place) {
  const Xmm vector = registers_.temp(32);
  code_.xor_(code_.ecx, code_.ecx);
  for (int piece = place.itemsize * lanes_; piece >= place.itemsize; piece /= 2) {
    code_.test(gpr::count.cvt32(), piece / place.itemsize);
    const auto none = code_.jump_if(Condition::zero);
    const RegExp from = code_.rax + code_.rcx, to = code_.rdx + code_.rcx;
    move_piece(from, to, piece, vector);
    code_.add(code_.rcx, piece);
    code_.bind(none);
  }
}

// As many lanes as the tail has, each by a broadcast to it alone; the others are 0.  Items that
// were stored one by one to be loaded as a vector would keep the load waiting until they have left
// for the cache.
void Operands::load_one_by_one(const Xmm& out, const Place& place) {
  const Opmask lane = registers_.temp_mask();
  const Xmm whole = resized(out, place.itemsize * lanes_);
  code_.note_written(whole);
  code_.vpxord(whole, whole, whole);
  start_copy_loop(place);
  code_.mov(code_.r10d, 1);
  code_.kmovq(lane, code_.r10);
  const std::uint8_t* loop = code_.here();
  const Address from = code_.ptr[code_.rax];
  switch (place.itemsize) {
    case 1: code_.vpbroadcastb(whole | lane, from); break;
    case 2: code_.vpbroadcastw(whole | lane, from); break;
    case 4: code_.vpbroadcastd(whole | lane, from); break;
    default: code_.vpbroadcastq(whole | lane, from); break;
  }
  code_.kaddq(lane, lane, lane);  // the next one
  code_.add(code_.rax, code_.rdx);
  code_.inc(code_.rcx);
  code_.cmp(code_.rcx, gpr::count);
  code_.jump_back_if(Condition::below, loop);
}

// Without AVX-512 there are masks for 4 bytes and more: those of the tail that there are, and then
// the few bytes left over, which are put into the 4 behind them.
void Operands::load_dense_tail(const Xmm& out, const Place& place) {
  const int bytes = std::max(16, place.itemsize * lanes_);
  const std::uint32_t mark = registers_.marked_temps();
  const Xmm whole = resized(out, bytes), window = registers_.temp(bytes),
            rest = registers_.temp(bytes);
  code_.lea(code_.r10, code_.ptr[address(place, 0)]);
  code_.lea(code_.rax, ones_then_zeros());
  code_.mov(code_.rdx, gpr::count);
  if (place.itemsize == 2) code_.add(code_.rdx, code_.rdx);
  code_.mov(code_.rcx, code_.rdx);
  code_.and_(code_.rcx, -4);
  code_.sub(code_.rax, code_.rcx);
  code_.vmovups(window, code_.ptr[code_.rax + 32]);
  code_.vpmaskmovd(whole, window, code_.ptr[code_.r10]);
  code_.and_(code_.edx, 3);
  const auto none = code_.jump_if(Condition::zero);
  // Ones from there on for 4 bytes: what is in the one window and not in the other.
  code_.vpandn(window, window, code_.ptr[code_.rax + 28]);
  code_.add(code_.r10, code_.rcx);
  if (place.itemsize == 2) {
    code_.movzx(code_.ecx, code_.word[code_.r10]);
  } else {  // the first, the last and the one between of up to three
    code_.movzx(code_.eax, code_.byte[code_.r10 + code_.rdx - 1]);
    code_.lea(code_.ecx, code_.ptr[code_.rdx * 8 - 8]);
    code_.shlx(code_.eax, code_.eax, code_.ecx);
    code_.movzx(code_.ecx, code_.byte[code_.r10]);
    code_.or_(code_.ecx, code_.eax);
    code_.shr(code_.edx, 1);
    code_.movzx(code_.eax, code_.byte[code_.r10 + code_.rdx]);
    code_.shl(code_.edx, 3);
    code_.shlx(code_.eax, code_.eax, code_.edx);
    code_.or_(code_.ecx, code_.eax);
  }
  code_.vmovd(resized(rest, 16), code_.ecx);
  code_.vpbroadcastd(rest, resized(rest, 16));
  code_.vpand(rest, rest, window);
  code_.vpor(whole, whole, rest);
  code_.bind(none);
  registers_.free_temps_since(mark);
}

// Stores under a mask of AVX2 take AMD's processors a dozen cycles.
void Operands::store_pieces(const Xmm& x, const Place& place) {
  const int bytes = place.itemsize * lanes_;
  const Xmm left = registers_.temp(bytes), low = resized(left, 16);
  code_.move(left, resized(x, bytes));
  code_.lea(code_.rax, code_.ptr[address(place, 0)]);
  for (int piece = bytes; piece >= place.itemsize; piece /= 2) {
    code_.test(gpr::count.cvt32(), piece / place.itemsize);
    const auto none = code_.jump_if(Condition::zero);
    code_.store_bytes(code_.rax, left, piece);
    if (piece == 16 && bytes == 32) code_.vextracti128(low, Ymm(left.getIdx()), 1);
    if (piece == 8) code_.vpsrldq(low, low, 8);
    if (piece < bytes && piece > place.itemsize) code_.add(code_.rax, piece);
    code_.bind(none);
  }
}

void Operands::store_buffered(const Xmm& x, const Place& place) {
  const int buffer = code_.scratch_frame();
  code_.store_bytes(code_.frame(buffer), x, place.itemsize * lanes_);
  if (place.is_indexed) {
    code_.lea(code_.rdx, code_.ptr[address(place, 0)]);
    code_.lea(code_.rax, code_.ptr[code_.frame(buffer)]);
    return copy_pieces(place);
  }
  start_copy_loop(place);
  const std::uint8_t* loop = code_.here();
  const RegExp from = code_.frame(buffer) + code_.rcx * place.itemsize;
  move_piece(from, code_.rax, place.itemsize, Xmm());
  code_.add(code_.rax, code_.rdx);
  code_.inc(code_.rcx);
  code_.cmp(code_.rcx, gpr::count);
  code_.jump_back_if(Condition::below, loop);
}

}  // namespace weft::jit::xbyak
