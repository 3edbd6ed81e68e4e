// The class behind emit.h: emit.cpp has the loop nest, streaming.cpp rows past the caches,
// row_copy.cpp rows that are copied as they are, reduce.cpp the nests that reduce.
#pragma once

#include "jit/xbyak/emit.h"

#include "jit/xbyak/calls.h"
#include "jit/xbyak/invariant_bounds.h"
#include "jit/xbyak/invariant_division.h"
#include "jit/xbyak/native_bf16.h"
#include "jit/xbyak/rare_calls.h"
#include "jit/xbyak/reduce.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace weft::jit::xbyak {

inline constexpr int num_streamed_pages = 4;  ///< that loops past the caches walk at once

/// Whether an instruction is a row or a call, and no move.
inline bool is_computed(const ir::Inst& inst) {
  return info(inst.op).form != Form::structural || inst.op == Op::cast;
}

/// The instructions without a row, in order.
std::vector<ir::ValueId> calls_of(const ir::Kernel& kernel, Isa isa);

/// How many copies of the body of a kernel without calls are worth emitting in turn (Registers).
int copies_wanted(const ir::Kernel& kernel, const CpuFeatures& features);

class KernelEmitter {
 public:
  /// The last `num_reserved` vector registers are for the operands in `held` (Operands).
  KernelEmitter(Assembler& code, const ir::Kernel& kernel, bool with_frame, std::uint64_t held = 0,
                int num_reserved = 0)
      : code_(code),
        kernel_(kernel),
        with_frame_(with_frame),
        calls_(calls_of(kernel, code.features().isa)),
        accumulations_(accumulations_of(kernel)),
        per_fold_(accumulators_per_fold(kernel, code.features().isa)),
        registers_(code, kernel, num_accumulators() + num_reserved,
                   has_calls() ? 1 : copies_wanted(kernel, code.features())),
        operands_(code, registers_, kernel, held, has_calls()),
        divisions_(code, registers_, kernel, has_calls(), has_loop_that_divides()),
        bounds_(code, registers_, kernel, has_calls()),
        rare_calls_(code, kernel),
        native_bf16_(code),
        lanes_(kernel.loops.back().lanes) {}

  /// Each row to one element, not to partial results (CodeObject::rows).
  void fold_whole_rows() { folds_whole_rows_ = true; }
  void emit();
  /// Rows of which some operands lie along the columns (tile_fused.cpp).  False if there are not
  /// enough registers; then nothing has been emitted.
  bool emit_fused(std::span<const std::size_t> transposed, bool is_large,
                  std::span<const std::size_t> asked);

 private:
  void prologue();
  void epilogue();
  /// Constants of neg and abs of floats, in registers that are left over.
  void keep_sign_bits();
  void outer_loops();
  void enter_loop(std::size_t loop);
  void leave_loop(std::size_t loop);
  void inner_loop();

  // row_copy.cpp
  bool may_copy_rows() const;
  void choose_copied_rows();
  /// A jump to emit_copied_row() and the place to return to, where that is faster for long rows.
  void leave_copied_row();
  void emit_copied_row();

  bool streams_by_lines() const;
  void streaming_row();
  void vectors_before_line();
  std::optional<Assembler::Jump> head();
  void interleaved_pages();
  void vectors(int unrolled, bool streams);
  void main_loop(int unrolled, const Step& step);
  void tail();
  void tail_mask();
  void body(Step step) { bodies({&step, 1}); }
  void bodies(std::span<const Step> steps);
  void in_turn(std::span<const Step> steps);
  void hoisted(bool global);
  void instruction(ir::ValueId id, Step step);
  void parameter(ir::ValueId id);
  void arithmetic(ir::ValueId id, Step step);
  void multiply_add(ir::ValueId id);
  void table_entry(ir::ValueId id);
  void bitcast(ir::ValueId id);
  bool is_high_half(ir::ValueId id) const;
  void high_halves(ir::ValueId id);

  // tile_fused.cpp
  void start_fused();
  void start_block();
  void fused_step();
  void fused_rows();
  void fetch_ahead(std::size_t operand, const std::function<void(bool into_second)>& fetch_all);
  void start_fetching_lines();
  void fetch_lines_ahead(int count);
  void fetch_rows_ahead();
  void take_fused_registers();
  void next_fused_row(std::size_t operand);
  void transpose_lines(std::size_t operand);
  void interleave_items(int itemsize, bool upper, int out, int x, int y);

  // reduce.cpp
  void start_fold();
  void fold_row();
  void restart_row();
  void fold_part(int part);
  void fold_whole_row();
  void fold_steps(int part);
  void clear_accumulators();
  void combine_lanes();
  void merge_tail(const Xmm& partial, const Xmm& result, int itemsize);
  void fold_columns();
  void columns(int together);
  void strip(int together, bool is_tail);
  void start_strip();
  void accumulate(ir::ValueId id, Step step);
  void combine(const ir::Inst& accumulation, const Xmm& out, const Xmm& partial, const Xmm& value);
  void move_accumulators(int first, int count, bool loads);
  void combine_lanes_of(std::size_t fold);
  RegExp partials(std::size_t fold, int index);
  Xmm accumulator(std::size_t fold, int index) const;
  /// Vectors of all lanes of the tree.
  int tree_vectors() const { return kernel_.loops.back().unroll; }
  int num_accumulators() const { return per_fold_ * static_cast<int>(accumulations_.size()); }
  const ir::Inst& accumulation(std::size_t fold) const {
    return kernel_.body[accumulations_[fold]];
  }
  int accumulator_bytes() const {
    return static_cast<int>(itemsize_bytes(accumulation(0).dtype)) * kernel_.loops.back().lanes;
  }
  bool is_call(ir::ValueId id) const { return std::ranges::binary_search(calls_, id); }
  bool has_calls() const { return !calls_.empty(); }
  int unroll() const;
  /// Whether there is no loop over single vectors: the tail's loop has all that the main loop
  /// leaves.
  bool tail_takes_vectors() const;
  int copies_in_turn() const;
  /// Whether there is a loop over single vectors besides the main loop, for rows whose divisors are
  /// not of ordinary size.
  bool has_loop_that_divides() const {
    return unroll() > 1 && !tail_takes_vectors() && !ir::is_reduction(kernel_);
  }
  /// Elements that must be left for the main loop to be entered.
  int main_loop_elements() const { return operands_.full_elements() + (unroll() - 1) * lanes_; }
  std::size_t num_outer() const { return kernel_.loops.size() - 1; }
  /// Iterations left of an outer loop.
  Address counter(std::size_t loop) const {
    return code_.qword[code_.frame(counters_slot_) + 8 * loop];
  }
  RegExp saved_pointer(std::size_t loop, std::size_t operand) const {
    return code_.frame(pointers_slot_ +
                       static_cast<int>(8 * (loop * kernel_.operands.size() + operand)));
  }

  Assembler& code_;
  const ir::Kernel& kernel_;
  bool with_frame_;
  std::vector<ir::ValueId> calls_;          ///< calls_of()
  std::vector<ir::ValueId> accumulations_;  ///< accumulations_of()
  int per_fold_;                            ///< accumulators_per_fold()
  bool folds_whole_rows_ = false;
  Registers registers_;
  Operands operands_;
  InvariantDivision divisions_;
  InvariantBounds bounds_;
  RareCalls rare_calls_;
  NativeBf16 native_bf16_;
  int lanes_;
  std::size_t frame_size_at_ = 0;  ///< position of the frame's size in the code
  int stack_slot_ = 0;
  int counters_slot_ = 0;
  /// Of the loop around the innermost; if there is none, it is with the others.
  std::optional<Reg64> rows_left_;
  int pointers_slot_ = 0;
  std::vector<const std::uint8_t*> loop_heads_;
  struct CopiedRow {
    Assembler::Jump jump;
    const std::uint8_t* back;
  };
  std::optional<CopiedRow> copied_row_;
  int copied_row_slot_ = 0;

  // Of fused rows.
  /// Where in the frame an operand's distances are.
  struct FusedSlots {
    bool is_held;
    bool is_asked;                       ///< rows of it, ahead
    int step;                            ///< to the next row, or to the lines of the next columns
    std::optional<Reg64> step_register;  ///< the same, in a register
    int block;         ///< that a block of steps leads on, or from behind it to the next columns
    int ahead;         ///< to the row that is asked for; of what is held, the line that is next
    int not_aliasing;  ///< 0: lines lie a multiple of tiles::aliasing_bytes apart
  };
  bool fused_asks_ahead_ = false;
  bool fused_asks_in_steps_ = false;
  int spare_ = 0;  ///< vector register
  int steps_slot_ = 0;
  int steps_left_slot_ = 0;
  std::optional<Reg64> steps_left_;      ///< in a register and not in the slot
  std::vector<FusedSlots> fused_slots_;  ///< [operand]
};

}  // namespace weft::jit::xbyak
