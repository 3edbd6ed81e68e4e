// Where operands' elements are, and how vectors of them get into registers and back.
#pragma once

#include "jit/xbyak/rows.h"

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::jit::xbyak {

/// Which of the copies of the body is being emitted.
struct Step {
  bool is_tail = false;  ///< fewer elements than lanes may be left; otherwise full_elements() are
  int copy = 0;          ///< of the unrolled loop's vectors, the how-manyeth
  bool streams = false;  ///< streamed outputs are aligned: store past the caches
  bool is_main = false;  ///< in the loop in which long rows spend their time
  bool in_two_products = false;  ///< divisors were found to allow that (jit/exact_quotients.h)
  int accumulator = -1;          ///< of the registers with partial results; -1: they are in memory
  int prefetched = 0;  ///< vectors ahead, whose lines contiguous inputs are asked for; 0: none
  int row = 0;         ///< of those whose held operands are in registers
};

/// Registers with a fixed meaning.  rax and rcx are scratch everywhere, and rdx and r10 too where
/// an operand is not contiguous; the rest hold operands' addresses.
namespace gpr {
inline const Reg64 arguments{Xbyak::Operand::RDI};
inline const Reg64 index{Xbyak::Operand::RSI};     ///< elements done in the innermost loop
inline const Reg64 remaining{Xbyak::Operand::R8};  ///< elements left
inline const Reg64 count{Xbyak::Operand::R11};     ///< elements of the tail, at most `lanes`; free
                                                   ///< elsewhere
}  // namespace gpr

/// Emits the accesses to memory.  Elements outside an operand are neither read nor written, but the
/// gaps between the elements of one with a stride may be read.
class Operands {
 public:
  /// Operands whose bit in `held` is set are not read from memory: whoever emits the loops sees to
  /// it that their values are in registers.
  /// What permutations go by stays in registers if these suffice and no `calls` overwrite it.
  Operands(Assembler& code, Registers& registers, const ir::Kernel& kernel, std::uint64_t held,
           bool calls);

  /// Whether every access is to whole vectors, under a mask in the tail.
  bool is_simple() const { return is_simple_; }
  /// Whether an access takes an instruction or more for each lane.
  bool has_lane_access() const { return has_lane_access_; }
  /// Whether some input has gaps between its elements.
  bool reads_gaps() const { return reads_gaps_; }
  /// Whether some output can be stored past the caches, where it is aligned.
  bool streams() const { return streamed_ >= 0; }
  /// Vectors that fill a cache line of the first streamed output.
  int line_vectors() const;
  /// Elements of the first streamed output in so many bytes.
  int streamed_elements(int bytes) const {
    return bytes / places_[static_cast<std::size_t>(streamed_)].itemsize;
  }
  /// The register that holds the number of elements in the tail.
  const Reg64& tail_count() const { return is_simple_ ? gpr::remaining : gpr::count; }
  /// How many elements must be left for a copy of the body that is not the tail.
  int full_elements() const { return full_elements_; }
  /// The same for a copy that streams.
  int full_streamed_elements() const { return full_streamed_elements_; }
  /// Registers that must be saved for the caller.
  const std::vector<Reg64>& saved_registers() const { return saved_; }

  /// Sets the addresses from [source + 8 * operand], at the start of an innermost loop's run.
  void start_rows(const RegExp& source);
  /// To be called before each run of the innermost loop: `start_rows` may have been rows ago.
  void start_row();
  /// Moves on to the next row.  rax must hold the strides of the loop around the innermost.
  void next_row(std::size_t loop);
  /// Reads launch-time strides of the innermost loop, and what permutations go by, once a call.
  void load_constants();

  /// The address of an element that is `offset_bytes` behind the operand's current one, or, where
  /// the operand stands still along the innermost loop, behind its only one.  May change rax.
  RegExp address(std::size_t operand, int offset_bytes) {
    return address(places_[operand], offset_bytes);
  }
  /// Lanes of ones for the elements of the tail.  Changes rcx and rdx.  AVX2.
  Xmm lane_mask(int itemsize);

  void load(ir::ValueId id, Step step);
  void store(ir::ValueId id, Step step);
  /// After each copy of the body, and after the `vectors` copies of an iteration.
  void advance_copy();
  void advance(int vectors);

  // For held operands.
  /// What whoever reads a held operand has: registers for an address, the distance of its lines and
  /// three times that, and where in the frame the address at the start of the rows is.
  struct Held {
    Reg64 at, stride, stride3;
    int row_slot;
  };
  /// Whether every address has a register.
  bool has_all_registers() const { return has_all_registers_; }
  Held held(std::size_t operand) const;
  /// Which vector register holds the operand in row `row`.
  void hold(std::size_t operand, int row, int index);
  int held_register(std::size_t operand, int row) const {
    return places_[operand].rows[static_cast<std::size_t>(row)];
  }
  /// A register that nothing uses, if one is left.  To be taken before the prologue.
  std::optional<Reg64> take_spare_register();
  /// The register with the address of an operand that is not held.
  Reg64 pointer(std::size_t operand) const { return Reg64(places_[operand].gpr); }

  // For streams() only.
  /// count = elements before the first streamed output is aligned, at most gpr::remaining.
  void count_to_alignment();
  /// Moves on by gpr::count elements.
  void advance_by_count();
  /// Jumps if some streamed output is not aligned, the first of them at a line where `by_lines`.
  Assembler::Jump jump_if_unaligned(bool by_lines);
  /// Jumps if the first streamed output is at the start of a line.
  Assembler::Jump jump_if_line();

  static constexpr int max_held_rows = 8;

 private:
  struct Place {
    ir::StrideClass stride = 1;  ///< along the innermost loop
    int itemsize = 0;
    bool is_indexed = false;  ///< element i is at [address + i * itemsize]
    bool is_moving = false;   ///< the address itself moves along the innermost loop
    int gpr = -1;             ///< register with the address, or -1
    int row_gpr = -1;         ///< where the address of the row's start is kept, if not in gpr ...
    int row_slot = -1;        ///< ... or in the frame, if there is no register for it
    int slot = -1;            ///< where the address is if it is not in a register
    int stride_slot = -1;     ///< stride in bytes, if only known at launch
    bool is_streamed = false;
    bool is_held = false;
    std::array<int, 2> stride_gprs{};               ///< of a held one
    std::array<std::int8_t, max_held_rows> rows{};  ///< vector registers of a held one
  };

  void classify();
  void assign_registers();
  void assign_row_homes();
  bool can_permute(const Place& place) const;
  bool can_shuffle(const Place& place) const;
  bool can_blend(const Place& place) const;
  /// From the first lane's item to the end of the last one's.
  int lane_span_bytes(const Place& place) const {
    return ((lanes_ - 1) * place.stride + 1) * place.itemsize;
  }
  /// Whether permuted loads of a streamed loop read nothing beyond the last lane's item.
  using Indices = std::array<std::byte, 64>;
  Indices gather_indices(const Place& place, int source, bool streams) const;
  int gathered_vectors(const Place& place) const;
  int unread_bytes(const Place& place, bool streams) const;
  void keep_indices();
  Xmm indices_of(const Place& place, int source, bool streams);
  bool reads_exactly(const Place& place) const { return lane_span_bytes(place) > 64; }
  /// Where the address of a row's start is: the register, or -1; and else the place in the frame.
  int row_register(const Place& place) const {
    const bool has_own = place.row_slot >= 0 || place.row_gpr >= 0;
    return has_own ? place.row_gpr : place.gpr;
  }
  int row_slot(const Place& place) const {
    return place.row_slot >= 0 ? place.row_slot : place.slot;
  }
  RegExp address(const Place& place, int offset_bytes);
  void load_vector(const Xmm& out, const Place& place, Step step);
  bool begins_line(const Place& place, Step step) const;
  void prefetch(const Place& place, Step step);
  void store_vector(const Xmm& x, const Place& place, Step step);
  bool stores_pairs(ir::ValueId id, Step step) const;
  void store_pairs(ir::ValueId id, Step step);
  void broadcast(const Xmm& out, const Place& place);
  void load_masked(const Xmm& out, const Opmask& mask, const Address& from, int itemsize);
  void store_masked(const Address& to, const Opmask& mask, const Xmm& x, int itemsize);
  void load_reversed(const Xmm& out, const Place& place, Step step);
  void store_reversed(const Xmm& x, const Place& place, Step step);
  Opmask upper_lanes_mask();
  void reverse(const Xmm& out, const Xmm& x, int itemsize);
  void load_permuted(const Xmm& out, const Place& place, Step step);
  void store_spread(const Xmm& x, const Place& place, Step step);
  void load_shuffled(const Xmm& out, const Place& place, Step step);
  void load_blended(const Xmm& out, const Place& place, Step step);
  void load_lanes(const Xmm& out, const Place& place, Step step);
  void store_lanes(const Xmm& x, const Place& place, Step step);
  void load_one_by_one(const Xmm& out, const Place& place);
  /// 32 bytes of each.
  Address ones_then_zeros();
  void load_dense_tail(const Xmm& out, const Place& place);
  Assembler::Jump jump_if_at_most(int count);
  void insert_lane(const Xmm& target, int itemsize, int lane, const RegExp& from);
  void store_pieces(const Xmm& x, const Place& place);
  void store_buffered(const Xmm& x, const Place& place);
  void start_copy_loop(const Place& place);
  void move_piece(const RegExp& from, const RegExp& to, int bytes, const Xmm& vector);
  void copy_pieces(const Place& place);
  /// Address of lane k, to be asked for in order; keeps it in rax, rcx, rdx as it goes.
  RegExp lane_address(const Place& place, Step step, int lane);

  Assembler& code_;
  Registers& registers_;
  const ir::Kernel& kernel_;
  int lanes_;
  int full_elements_;
  int full_streamed_elements_;
  bool is_simple_ = true;
  bool has_lane_access_ = false;
  bool reads_gaps_ = false;
  bool has_all_registers_ = true;
  int streamed_ = -1;             ///< the first streamed output
  bool fetches_outputs_ = false;  ///< lines that will be written are asked for
  std::vector<Place> places_;
  std::span<const Xbyak::Operand::Code> spare_registers_;
  std::vector<Reg64> saved_;
  std::vector<std::pair<Indices, int>> kept_indices_;  ///< and the registers that keep them
};

}  // namespace weft::jit::xbyak
