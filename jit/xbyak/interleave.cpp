// Every vector written is put together from `ways` vectors read: with AVX-512 by permutations of
// two registers; elsewhere by blends and one shuffle of each 16 bytes where no two of the items it
// takes lie at the same place of theirs, else by shuffles that leave zeros to be filled by the
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
  bool blends() const { return shape_.ways == 3 && shape_.itemsize > 1; }
  bool completes_lines() const { return shape_.is_streaming && !shape_.to_pixels && !permutes_; }
  void load_permutations();
  void permute_step();
  void permute(const Zmm& out, const Zmm& indices, const Zmm& table);
  void read_groups(int first_group);
  void move_items(const Ymm& x, const std::array<int, 16>& from);
  void order_plane(int k);
  void blend(const Ymm& out, int vector);
  void shuffle_all(const Ymm& out, int vector);
  void put_together(const Ymm& out, int vector);
  void shuffle_step();
  void lines_step();
  void loop(int pixels, void (InterleaveEmitter::*step)());
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
void InterleaveEmitter::read_groups(int first_group) {
  const int ways = shape_.ways;
  for (int k = 0; k < ways; ++k) {
    if (shape_.to_pixels) {
      code_.vmovups(Ymm(k), code_.ptr[plane(k)]);
      if (blends()) order_plane(k);
      continue;
    }
    const int first = 16 * (ways * first_group + k);
    code_.vmovups(Xmm(k), code_.ptr[pixels_ + first]);
    code_.vinserti128(Ymm(k), Ymm(k), code_.ptr[pixels_ + (first + 16 * ways)], 1);
  }
}

// Item i of each 16 bytes becomes what item from[i] of them was.
void InterleaveEmitter::move_items(const Ymm& x, const std::array<int, 16>& from) {
  const int itemsize = shape_.itemsize;
  if (itemsize < 4) {
    std::array<std::byte, 32> order;
    for (int i = 0; i < 32; ++i)
      order[static_cast<std::size_t>(i)] = static_cast<std::byte>(
          from[static_cast<std::size_t>(i % 16 / itemsize)] * itemsize + i % itemsize);
    return code_.vpshufb(x, x, code_.constant(order));
  }
  const int words = itemsize / 4;
  int order = 0;
  for (int word = 0; word < 4; ++word)
    order |= (from[static_cast<std::size_t>(word / words)] * words + word % words) << (2 * word);
  code_.vpshufd(x, x, static_cast<std::uint8_t>(order));
}

// Each of a plane's items to where the pixels have it, in whichever vector: no two meet.
void InterleaveEmitter::order_plane(int k) {
  std::array<int, 16> from{};
  for (int vector = 0; vector < shape_.ways; ++vector)
    for (int i = 0; i < items(); ++i)
      if (const tiles::InterleaveSource at = source(vector, i); at.vector == k)
        from[static_cast<std::size_t>(i)] = at.item;
  move_items(Ymm(k), from);
}

// Of each vector read the items that this one has, where they are.
void InterleaveEmitter::blend(const Ymm& out, int vector) {
  const int units = std::max(shape_.itemsize / 4, 1);  // of 4 bytes in an item, or items of 2
  std::array<int, 16> order{};
  std::array<unsigned, 3> masks{};
  for (int i = 0; i < items(); ++i) {
    const tiles::InterleaveSource at = source(vector, i);
    const int place = shape_.to_pixels ? i : at.item;
    order[static_cast<std::size_t>(i)] = at.item;
    masks[static_cast<std::size_t>(at.vector)] |= ((1u << units) - 1) << (place * units);
  }
  for (int from = 1; from < shape_.ways; ++from) {
    const Ymm& x = from == 1 ? Ymm(0) : out;
    const unsigned mask = masks[static_cast<std::size_t>(from)];
    if (shape_.itemsize == 2)
      code_.vpblendw(out, x, Ymm(from), static_cast<std::uint8_t>(mask));
    else
      code_.vpblendd(out, x, Ymm(from), static_cast<std::uint8_t>(mask << 4 | mask));
  }
  if (!shape_.to_pixels) move_items(out, order);
}

void InterleaveEmitter::shuffle_all(const Ymm& out, int vector) {
  const Ymm part(5);
  for (int from = 0; from < shape_.ways; ++from) {
    code_.vpshufb(from == 0 ? out : part, Ymm(from), code_.constant(shuffle(vector, from)));
    if (from > 0) code_.vpor(out, out, part);
  }
}

void InterleaveEmitter::put_together(const Ymm& out, int vector) {
  blends() ? blend(out, vector) : shuffle_all(out, vector);
}

void InterleaveEmitter::shuffle_step() {
  const int ways = shape_.ways;
  read_groups(0);
  for (int vector = 0; vector < ways; ++vector) {
    const Ymm out(4);
    put_together(out, vector);
    if (shape_.to_pixels) {
      store(pixels_ + 16 * vector, Xmm(4));
      code_.vextracti128(Xmm(5), out, 1);
      store(pixels_ + 16 * (ways + vector), Xmm(5));
    } else {
      store(plane(vector), out);
    }
  }
}

// Four groups, which fill a cache line of each plane.  What is stored past the caches is collected
// in a few buffers of a line, of which planes that lie a multiple of a page apart share some: one
// that is half full when it is needed costs a read of memory.
void InterleaveEmitter::lines_step() {
  constexpr int first_waiting = 8;
  read_groups(0);
  for (int vector = 0; vector < shape_.ways; ++vector)
    put_together(Ymm(first_waiting + vector), vector);
  read_groups(2);
  for (int vector = 0; vector < shape_.ways; ++vector) {
    put_together(Ymm(4), vector);
    store(plane(vector), Ymm(first_waiting + vector));
    store(plane(vector) + 32, Ymm(4));
  }
}

// As many steps of so many pixels as there are; `remaining_` are those after the next step, and
// negative in the end.
void InterleaveEmitter::loop(int pixels, void (InterleaveEmitter::*step)()) {
  code_.sub(remaining_, pixels);
  const auto none = code_.jump_if(Condition::below);
  code_.align(32);
  const std::uint8_t* head = code_.here();
  (this->*step)();
  code_.add(planes_, pixels * shape_.itemsize);
  code_.add(pixels_, pixels * shape_.itemsize * shape_.ways);
  code_.sub(remaining_, pixels);
  code_.jump_back_if(Condition::not_below, head);
  code_.bind(none);
}

void InterleaveEmitter::emit() {
  const int group = group_items(code_.features(), shape_);
  code_.lea(stride3_, code_.ptr[stride_ + stride_ * 2]);
  if (permutes_) load_permutations();
  if (completes_lines()) {
    loop(2 * group, &InterleaveEmitter::lines_step);
    code_.add(remaining_, 2 * group);
  }
  loop(group, permutes_ ? &InterleaveEmitter::permute_step : &InterleaveEmitter::shuffle_step);
  code_.vzeroupper();
  code_.ret();
}

}  // namespace

void emit_interleave(Assembler& code, const tiles::InterleaveShape& shape) {
  InterleaveEmitter(code, shape).emit();
}

}  // namespace weft::jit::xbyak
