// The parts of the assembler that do not depend on the kernel.
#include "jit/xbyak/assembler.h"

#include <array>
#include <cstring>

namespace weft::jit::xbyak {

Assembler::Assembler(std::span<std::byte> buffer, std::size_t pool_bytes,
                     const CpuFeatures& features)
    : CodeGenerator(buffer.size() - pool_bytes, buffer.data() + pool_bytes),
      features_(features),
      buffer_(buffer.data()),
      pool_bytes_(pool_bytes),
      pool_low_(pool_bytes) {
  pool_.reserve(16);
}

Address Assembler::constant(std::span<const std::byte> bytes) {
  return ptr[rip + static_cast<const void*>(pooled(bytes))];
}

const std::byte* Assembler::pooled(std::span<const std::byte> bytes) {
  std::uint64_t first_bytes = 0;
  std::memcpy(&first_bytes, bytes.data(), std::min(bytes.size(), sizeof first_bytes));
  for (const PoolEntry& entry : pool_)
    if (entry.size == bytes.size() && entry.first_bytes == first_bytes &&
        std::memcmp(buffer_ + entry.offset, bytes.data(), bytes.size()) == 0)
      return buffer_ + entry.offset;
  if (pool_low_ < bytes.size()) throw Xbyak::Error(Xbyak::ERR_CODE_IS_TOO_BIG);
  pool_low_ = (pool_low_ - bytes.size()) & ~(bytes.size() - 1);
  std::memcpy(buffer_ + pool_low_, bytes.data(), bytes.size());
  pool_.push_back({first_bytes, static_cast<std::uint32_t>(bytes.size()),
                   static_cast<std::uint32_t>(pool_low_)});
  return buffer_ + pool_low_;
}

Address Assembler::splat(std::uint64_t item, int itemsize, int bytes) {
  std::array<std::byte, 64> all;
  for (int i = 0; i < bytes; i += itemsize)
    std::memcpy(all.data() + i, &item, static_cast<std::size_t>(itemsize));
  return constant(std::span(all).first(static_cast<std::size_t>(bytes)));
}

Address Assembler::repeated(std::uint64_t item, int itemsize, int bytes) {
  if (!has_avx512()) return splat(item, itemsize, bytes);
  std::array<std::byte, 8> one;
  std::memcpy(one.data(), &item, sizeof item);
  const auto used = std::span(one).first(static_cast<std::size_t>(itemsize));
  return ptr_b[rip + static_cast<const void*>(pooled(used))];
}

std::size_t Assembler::code_offset() const { return pool_bytes_ - (pool_low_ & ~std::size_t{63}); }

std::span<const std::byte> Assembler::blob() const {
  const std::size_t start = pool_low_ & ~std::size_t{63};
  return {buffer_ + start, pool_bytes_ - start + getSize()};
}

Assembler::Jump Assembler::jump_if(Condition condition) {
  db(0x0f);
  db(0x80 | static_cast<int>(condition));
  dd(0);
  return {getSize()};
}

Assembler::Jump Assembler::jump_always() {
  db(0xe9);
  dd(0);
  return {getSize()};
}

void Assembler::bind(Jump jump) {
  const auto distance = static_cast<std::uint32_t>(getSize() - jump.end);
  std::memcpy(top_ + jump.end - 4, &distance, sizeof distance);
}

void Assembler::jump_back_if(Condition condition, const std::uint8_t* target) {
  const auto distance = static_cast<std::int64_t>(target - getCurr());
  if (distance - 2 >= -128) {
    db(0x70 | static_cast<int>(condition));
    db(static_cast<int>(distance - 2) & 0xff);
  } else {
    db(0x0f);
    db(0x80 | static_cast<int>(condition));
    dd(static_cast<std::uint32_t>(distance - 6));
  }
}

int Assembler::allocate_frame(int bytes, int alignment) {
  frame_bytes_ = (frame_bytes_ + alignment - 1) & -alignment;
  const int offset = frame_bytes_;
  frame_bytes_ += bytes;
  return offset;
}

int Assembler::scratch_frame() {
  if (scratch_frame_ < 0) scratch_frame_ = allocate_frame(128, 64);
  return scratch_frame_;
}

int Assembler::call_frame() {
  if (call_frame_ < 0) call_frame_ = allocate_frame(call_frame_bytes, 64);
  return call_frame_;
}

void Assembler::extract_upper(const Xmm& out, const Xmm& x, int bytes) {
  switch (bytes) {
    case 64: return vextracti64x4(Ymm(out.getIdx()), Zmm(x.getIdx()), 1);
    case 32: return extract_part(out, vector_register(x.getIdx(), 32), 1);
    default: return vpsrldq(resized(out, 16), resized(x, 16), static_cast<std::uint8_t>(bytes / 2));
  }
}

void Assembler::insert_upper(const Xmm& whole, const Xmm& x, int bytes) {
  const Xmm low = resized(whole, 16);
  switch (bytes) {
    case 64: return vinserti64x4(Zmm(whole.getIdx()), Zmm(whole.getIdx()), Ymm(x.getIdx()), 1);
    case 32: return insert_part(vector_register(whole.getIdx(), 32), x, 1);
    case 16: return vpunpcklqdq(low, low, resized(x, 16));
    case 8: return vpunpckldq(low, low, resized(x, 16));
    default: return vpunpcklwd(low, low, resized(x, 16));
  }
}

void Assembler::bit_and(const Xmm& out, const Xmm& x, const Xbyak::Operand& y) {
  has_avx512() ? vpandq(out, x, y) : vpand(out, x, y);
}
void Assembler::bit_or(const Xmm& out, const Xmm& x, const Xbyak::Operand& y) {
  has_avx512() ? vporq(out, x, y) : vpor(out, x, y);
}
void Assembler::bit_xor(const Xmm& out, const Xmm& x, const Xbyak::Operand& y) {
  has_avx512() ? vpxorq(out, x, y) : vpxor(out, x, y);
}

void Assembler::load_bytes(const Xmm& out, const RegExp& from, int bytes) {
  note_written(resized(out, bytes));
  switch (bytes) {
    case 4: vmovd(resized(out, 16), dword[from]); break;
    case 8: vmovq(resized(out, 16), qword[from]); break;
    default: vmovups(resized(out, bytes), ptr[from]); break;
  }
}

void Assembler::store_bytes(const RegExp& to, const Xmm& x, int bytes) {
  switch (bytes) {
    case 4: vmovd(dword[to], resized(x, 16)); break;
    case 8: vmovq(qword[to], resized(x, 16)); break;
    default: vmovups(ptr[to], resized(x, bytes)); break;
  }
}

void Assembler::extract_part(const Xmm& out, const Xmm& x, int part) {
  const Xmm narrow = resized(out, 16);
  if (part == 0) {
    move(narrow, resized(x, 16));
  } else if (!has_avx512()) {
    vextracti128(narrow, Ymm(x.getIdx()), static_cast<std::uint8_t>(part));
  } else if (x.isYMM()) {
    vextracti32x4(narrow, Ymm(x.getIdx()), static_cast<std::uint8_t>(part));
  } else {
    vextracti32x4(narrow, Zmm(x.getIdx()), static_cast<std::uint8_t>(part));
  }
}

void Assembler::insert_part(const Xmm& whole, const Xmm& x, int part) {
  note_written(whole);
  insert_16_bytes(whole, resized(x, 16), part);
}

void Assembler::load_part(const Xmm& whole, const Address& from, int part) {
  part == 0 ? vmovups(resized(whole, 16), from) : insert_16_bytes(whole, from, part);
}

void Assembler::insert_16_bytes(const Xmm& whole, const Xbyak::Operand& x, int part) {
  const auto index = static_cast<std::uint8_t>(part);
  const Ymm half(whole.getIdx());
  if (!has_avx512())
    vinserti128(half, half, x, index);
  else if (whole.isYMM())
    vinserti32x4(half, half, x, index);
  else
    vinserti32x4(Zmm(whole.getIdx()), Zmm(whole.getIdx()), x, index);
}

}  // namespace weft::jit::xbyak
