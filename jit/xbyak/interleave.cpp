// Every vector written is put together from `ways` vectors read: with AVX-512 by permutations of
// two registers, elsewhere by shuffles of each 16 bytes that leave zeros to be filled by the
// others.
#include "jit/xbyak/interleave.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::jit::xbyak {
namespace {

using Indices = std::array<std::byte, 64>;

class InterleaveEmitter {
 public:
  InterleaveEmitter(Assembler& code, const tiles::InterleaveShape& shape)
      : code_(code),
        shape_(shape),
        permutes_(tiles::can_permute(code.features(), shape.itemsize)) {}

  void emit();

 private:
  int vector_bytes() const { return permutes_ ? 64 : 16; }
  int items() const { return vector_bytes() / shape_.itemsize; }
  tiles::InterleaveSource source(int vector, int item) const {
    return interleave_source(shape_, items(), vector, item);
  }
  RegExp plane(int index) const;
  Indices permutation(int vector, int stage) const;
  std::array<std::byte, 32> shuffle(int vector, int from) const;
  void load_permutations();
  void permute_step();
  void permute(const Zmm& out, const Zmm& indices, const Zmm& table);
  void shuffle_step();
  void store(const RegExp& to, const Xmm& x);

  Assembler& code_;
  const tiles::InterleaveShape shape_;
  const bool permutes_;

  const Reg64 planes_{Xbyak::Operand::RDI}, stride_{Xbyak::Operand::RSI};
  const Reg64 pixels_{Xbyak::Operand::RDX}, remaining_{Xbyak::Operand::RCX};
  const Reg64 stride3_{Xbyak::Operand::R8};
};

RegExp InterleaveEmitter::plane(int index) const {
  switch (index) {
    case 0: return planes_;
    case 1: return planes_ + stride_;
    case 2: return planes_ + stride_ * 2;
    default: return planes_ + stride3_;
  }
}

// Stage 0 takes from source vectors 0 and 1; stage k keeps what is there and adds from vector k
// + 1.
Indices InterleaveEmitter::permutation(int vector, int stage) const {
  Indices indices{};
  for (int i = 0; i < items(); ++i) {
    const tiles::InterleaveSource from = source(vector, i);
    int index = i;
    if (stage == 0 && from.vector == 0) index = from.item;
    if (from.vector == stage + 1) index = items() + from.item;
    std::memcpy(indices.data() + i * shape_.itemsize, &index,
                static_cast<std::size_t>(std::min(shape_.itemsize, 4)));
  }
  return indices;
}

// The bytes of one source vector, the same in both halves.
std::array<std::byte, 32> InterleaveEmitter::shuffle(int vector, int from) const {
  std::array<std::byte, 32> order;
  order.fill(std::byte{0x80});
  for (int i = 0; i < 32; ++i) {
    const tiles::InterleaveSource at = source(vector, i % 16 / shape_.itemsize);
    if (at.vector == from)
      order[static_cast<std::size_t>(i)] =
          static_cast<std::byte>(at.item * shape_.itemsize + i % shape_.itemsize);
  }
  return order;
}

// Registers 0 to ways - 1 hold what is read, the next what is written, those from 8 on the indices.
void InterleaveEmitter::load_permutations() {
  for (int vector = 0; vector < shape_.ways; ++vector)
    for (int stage = 0; stage + 1 < shape_.ways; ++stage)
      code_.vmovups(Zmm(8 + vector * (shape_.ways - 1) + stage),
                    code_.constant(permutation(vector, stage)));
}

void InterleaveEmitter::permute(const Zmm& out, const Zmm& indices, const Zmm& table) {
  switch (shape_.itemsize) {
    case 1: return code_.vpermt2b(out, indices, table);
    case 2: return code_.vpermt2w(out, indices, table);
    case 4: return code_.vpermt2d(out, indices, table);
    default: return code_.vpermt2q(out, indices, table);
  }
}

void InterleaveEmitter::store(const RegExp& to, const Xmm& x) {
  shape_.is_streaming ? code_.vmovntps(code_.ptr[to], x) : code_.vmovups(code_.ptr[to], x);
}

void InterleaveEmitter::permute_step() {
  for (int k = 0; k < shape_.ways; ++k)
    code_.vmovups(Zmm(k), code_.ptr[shape_.to_pixels ? plane(k) : pixels_ + 64 * k]);
  for (int vector = 0; vector < shape_.ways; ++vector) {
    const Zmm out(4 + vector);
    code_.vmovaps(out, Zmm(0));
    for (int stage = 0; stage + 1 < shape_.ways; ++stage)
      permute(out, Zmm(8 + vector * (shape_.ways - 1) + stage), Zmm(stage + 1));
    store(shape_.to_pixels ? pixels_ + 64 * vector : plane(vector), out);
  }
}

// Two groups at once, one in each half of the registers.
void InterleaveEmitter::shuffle_step() {
  const int ways = shape_.ways;
  for (int k = 0; k < ways; ++k) {
    if (shape_.to_pixels) {
      code_.vmovups(Ymm(k), code_.ptr[plane(k)]);
    } else {
      code_.vmovups(Xmm(k), code_.ptr[pixels_ + 16 * k]);
      code_.vinserti128(Ymm(k), Ymm(k), code_.ptr[pixels_ + 16 * (ways + k)], 1);
    }
  }
  for (int vector = 0; vector < ways; ++vector) {
    const Ymm out(4), part(5);
    for (int from = 0; from < ways; ++from) {
      code_.vpshufb(from == 0 ? out : part, Ymm(from), code_.constant(shuffle(vector, from)));
      if (from > 0) code_.vpor(out, out, part);
    }
    if (shape_.to_pixels) {
      store(pixels_ + 16 * vector, Xmm(4));
      code_.vextracti128(Xmm(5), out, 1);
      store(pixels_ + 16 * (ways + vector), Xmm(5));
    } else {
      store(plane(vector), out);
    }
  }
}

void InterleaveEmitter::emit() {
  const int group = group_items(code_.features(), shape_);
  code_.sub(remaining_, group);
  const auto none = code_.jump_if(Condition::below);
  code_.lea(stride3_, code_.ptr[stride_ + stride_ * 2]);
  if (permutes_) load_permutations();
  code_.align(32);
  const std::uint8_t* head = code_.here();
  permutes_ ? permute_step() : shuffle_step();
  code_.add(planes_, group * shape_.itemsize);
  code_.add(pixels_, group * shape_.itemsize * shape_.ways);
  code_.sub(remaining_, group);
  code_.jump_back_if(Condition::not_below, head);
  code_.vzeroupper();
  code_.bind(none);
  code_.ret();
}

}  // namespace

void emit_interleave(Assembler& code, const tiles::InterleaveShape& shape) {
  InterleaveEmitter(code, shape).emit();
}

}  // namespace weft::jit::xbyak
