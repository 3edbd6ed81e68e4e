// An assembler with what kernels need around instructions: a constant pool, jumps, a stack frame.
#pragma once

#include "jit/annotate.h"
#include "jit/backend.h"

#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::jit::xbyak {

using Xbyak::Address;
using Xbyak::Opmask;
using Xbyak::Reg32;
using Xbyak::Reg64;
using Xbyak::RegExp;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

/// Vector register `index` of the narrowest kind that holds `bytes`.
inline Xmm vector_register(int index, int bytes) {
  using Kind = Xbyak::Operand::Kind;
  const Kind kind = bytes <= 16 ? Kind::XMM : bytes <= 32 ? Kind::YMM : Kind::ZMM;
  return Xmm(kind, index);
}
inline Xmm resized(const Xmm& x, int bytes) { return vector_register(x.getIdx(), bytes); }
inline int width_bytes(const Xmm& x) { return x.isZMM() ? 64 : x.isYMM() ? 32 : 16; }

/// Condition codes, as the low four bits of jcc encode them.
enum class Condition : std::uint8_t {
  below = 2,
  not_below = 3,
  zero = 4,
  not_zero = 5,
  below_equal = 6,
  above = 7,
  sign = 8
};

/// The buffer is [constant pool, growing down | code, growing up]; both parts are copied together,
/// so that the distance between an instruction and its constant is known when it is emitted.
class Assembler : public Xbyak::CodeGenerator {
 public:
  /// Requires: a buffer aligned to 64 bytes; `pool_bytes` a multiple of 64.
  Assembler(std::span<std::byte> buffer, std::size_t pool_bytes, const CpuFeatures& features);

  const CpuFeatures& features() const { return features_; }
  bool has_avx512() const { return features_.isa == Isa::avx512; }
  int num_vectors() const { return has_avx512() ? 32 : 16; }

  /// Memory operand of constant bytes; equal constants share their place.
  ///
  /// Errors: Xbyak::Error when the pool is full.
  Address constant(std::span<const std::byte> bytes);
  /// The low `itemsize` bytes of `item` repeated over `bytes` bytes.
  Address splat(std::uint64_t item, int itemsize, int bytes);
  /// The same as an instruction's last operand: of AVX-512, which repeats it, one item of 4 or 8
  /// bytes.
  Address repeated(std::uint64_t item, int itemsize, int bytes);
  /// The constants and the code, from the first to the last byte; the code starts at code_offset().
  std::span<const std::byte> blob() const;
  std::size_t code_offset() const;

  /// Notes what the code from here on is for, if anybody will read it.
  void keep_marks() { keeps_marks_ = true; }
  void mark(ir::ValueId value) {
    if (keeps_marks_) marks_.push_back({static_cast<std::uint32_t>(getSize()), value, {}});
  }
  void mark(std::string_view part) {
    if (keeps_marks_) marks_.push_back({static_cast<std::uint32_t>(getSize()), ir::no_value, part});
  }
  const std::vector<CodeMark>& marks() const { return marks_; }

  /// A forward jump, to be bound later.  Not an Xbyak::Label: those cost a hash table entry each.
  struct Jump {
    std::size_t end = 0;
  };
  Jump jump_if(Condition condition);
  Jump jump_always();
  void bind(Jump jump);
  const std::uint8_t* here() const { return getCurr(); }
  void jump_back_if(Condition condition, const std::uint8_t* target);

  /// Space in the stack frame, as an offset from rsp.
  int allocate_frame(int bytes, int alignment);
  RegExp frame(int offset) const { return rsp + offset; }
  /// 128 bytes of the frame for the use within one instruction of the body.
  int scratch_frame();
  /// Space in the frame for what one call needs; the calls of a kernel share it.
  static constexpr int call_frame_bytes = 448;
  int call_frame();
  int frame_bytes() const { return (frame_bytes_ + 63) & ~63; }
  /// Whether the code written so far needs vzeroupper: an upper half of registers 0 to 15 was
  /// written.
  void note_written(const Xmm& x) { dirty_ |= x.getIdx() < 16 && !(x.isXMM() && has_avx512()); }
  bool needs_zeroupper() const { return dirty_; }

  /// A bitwise instruction in the encoding that reaches the register: EVEX wants an item size.
  void bit_and(const Xmm& out, const Xmm& x, const Xbyak::Operand& y);
  void bit_or(const Xmm& out, const Xmm& x, const Xbyak::Operand& y);
  void bit_xor(const Xmm& out, const Xmm& x, const Xbyak::Operand& y);
  void move(const Xmm& out, const Xmm& x) {
    if (out.getIdx() != x.getIdx()) vmovaps(out, x);
  }
  void set_zero(const Xmm& x) { bit_xor(resized(x, 16), resized(x, 16), resized(x, 16)); }
  /// Moves `bytes` bytes, a power of two in [4, 64], between a register and memory.
  void load_bytes(const Xmm& out, const RegExp& from, int bytes);
  void store_bytes(const RegExp& to, const Xmm& x, int bytes);
  /// The `part`-th 16 bytes of a register.
  void extract_part(const Xmm& out, const Xmm& x, int part);
  void insert_part(const Xmm& whole, const Xmm& x, int part);
  /// The same from memory, where part 0 begins the register; does not note that it is written.
  void load_part(const Xmm& whole, const Address& from, int part);
  /// The upper half of `bytes` bytes of a register.
  void extract_upper(const Xmm& out, const Xmm& x, int bytes);
  void insert_upper(const Xmm& whole, const Xmm& x, int bytes);

 private:
  void insert_16_bytes(const Xmm& whole, const Xbyak::Operand& x, int part);
  const std::byte* pooled(std::span<const std::byte> bytes);

  struct PoolEntry {
    std::uint64_t first_bytes;
    std::uint32_t size;
    std::uint32_t offset;
  };

  CpuFeatures features_;
  std::vector<PoolEntry> pool_;
  std::byte* buffer_;
  std::size_t pool_bytes_;
  std::size_t pool_low_;
  int frame_bytes_ = 0;
  int scratch_frame_ = -1;
  int call_frame_ = -1;
  bool dirty_ = false;
  bool keeps_marks_ = false;
  std::vector<CodeMark> marks_;
};

}  // namespace weft::jit::xbyak
