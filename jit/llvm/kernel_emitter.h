// What the functions of one kernel are emitted by: its loops, its body, and what it reduces.
// emit.cpp has the loops, body.cpp what is inside of them, reduce.cpp the loops that reduce,
// scan.cpp those that scan, tile_fused.cpp those of rows with transposed inputs.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"
#include "jit/llvm/builder.h"
#include "jit/llvm/memory.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::jit {

/// Emits one function of a kernel, `void symbol(const KernelArgs*)`.
class KernelEmitter {
 public:
  /// `debug_unit`: of the module; null if there is no debug information.
  KernelEmitter(const ir::Kernel& kernel, const Target& target, llvm::Module& module,
                const char* symbol, llvm::DICompileUnit* debug_unit);

  void emit_elements();  ///< of a kernel that does not reduce: all of it
  void emit_leaf();      ///< CodeObject::leaf
  void emit_rows();      ///< CodeObject::rows; requires ir::reduces_rows()
  void emit_scan();      ///< of a kernel that scans: all of it
  /// tiles::Functions::fused_rows() of a kernel that has become rows, in which these operands are
  /// transposed.
  void emit_fused(std::span<const std::size_t> transposed, bool is_large,
                  std::vector<std::size_t> asked);

  /// Whether the body calls functions other than those that are inlined.
  static bool calls_functions(const ir::Kernel& kernel);

 private:
  using Pointers = std::vector<llvm::Value*>;  ///< one an operand

  /// How far the innermost loop has come.
  struct Position {
    llvm::Value* index;
    Pointers pointers;  ///< of `index` where has_own_pointer(); else of the loop's first element
  };

  /// Neighbouring vectors of the innermost loop; `tail` is null where they are whole.
  struct Step {
    int lanes;
    int num_vectors = 1;
    Tail* tail = nullptr;
    std::size_t first_partial = 0;  ///< of the vectors of partial results, that of the first one
    llvm::Value* end = nullptr;     ///< where the loop ends; null: where the row does
    bool streams = false;  ///< streamed outputs are aligned: they are stored past the caches
    /// So many times as many vectors: those of each page, which has so many of them.
    int num_pages = 1;
    int page_vectors = 0;
    bool is_prefetched = false;  ///< what follows on the last page's end is asked for

    int num_all_vectors() const { return num_pages * num_vectors; }
    /// Of a vector, counted from the step's first element.
    std::int64_t first_lane(int vector) const {
      return std::int64_t{lanes} * (vector / num_vectors * page_vectors + vector % num_vectors);
    }
    std::int64_t prefetched_lanes() const {
      return is_prefetched ? std::int64_t{lanes} * num_pages * page_vectors : 0;
    }
  };
  using StepBody = std::function<void(const Position&, const Step&)>;

  /// One vector of a body.
  struct Place {
    const Pointers& addresses;  ///< of lane 0 of the first vector
    llvm::Value* index;         ///< of the same
    std::size_t partial;        ///< of the vectors of partial results, the one that it goes to
    std::int64_t first_lane;
    Tail* tail;
    bool streams = false;
    std::int64_t prefetched_lanes = 0;  ///< ahead; 0: nothing is asked for
    bool is_followed = false;           ///< by another vector of the same step
  };

  std::size_t num_operands() const { return kernel_.operands.size(); }
  std::size_t num_loops() const { return kernel_.loops.size(); }
  ir::StrideClass inner_stride(std::size_t operand) const {
    return kernel_.operands[operand].strides.back();
  }
  std::int64_t itemsize(std::size_t operand) const {
    return static_cast<std::int64_t>(itemsize_bytes(kernel_.operands[operand].dtype));
  }
  /// Whether a pointer goes along the innermost loop: else an index says where its elements are.
  /// Partial results lie densely, whatever the strides of the output.
  bool has_own_pointer(std::size_t operand) const {
    const bool is_partial =
        ir::is_reduction(kernel_) && kernel_.operands[operand].role == ir::Role::output;
    return inner_stride(operand) == ir::stride_any && !is_partial;
  }
  llvm::Value* stride_bytes(std::size_t loop, std::size_t operand) const {
    return stride_bytes_[loop * num_operands() + operand];
  }

  // Loops (emit.cpp).
  llvm::Value* load_field(llvm::Value* structure, std::size_t offset, llvm::Type* type,
                          const llvm::Twine& name);
  void load_arguments();
  llvm::Value* extent(llvm::Value* extents, std::size_t loop);
  llvm::Value* stride(llvm::Value* strides, std::size_t loop, std::size_t operand);
  static void come_round(llvm::Value* phi, llvm::Value* value, llvm::BasicBlock* from);
  llvm::PHINode* new_phi(llvm::Value* start, llvm::BasicBlock* from);
  llvm::Value* join(llvm::Value* skipped, llvm::BasicBlock* before, llvm::Value* looped,
                    llvm::BasicBlock* end);
  void emit_loops(std::size_t begin, std::size_t end, const Pointers& start,
                  const std::function<void(const Pointers&)>& inside);
  void emit_innermost(const Pointers& start);
  void emit_row(const Pointers& start);
  void emit_vectors_of_row(const Pointers& start);
  llvm::Value* is_copied(llvm::Value* row);
  void emit_copied_row(const Pointers& start);
  Pointers bytes_of_step(std::int64_t elements);
  Position come_round(const Position& position, std::int64_t elements,
                      const Pointers& bytes_of_step);
  Position emit_steps(const Position& start, const Step& step, const StepBody& body,
                      bool holds_partials = false);
  std::optional<std::int64_t> known_rest(const Position& position) const;
  std::int64_t num_instructions(const Step& step) const;
  Position emit_known_steps(Position position, std::int64_t count, const Step& step,
                            const StepBody& body);
  void emit_masked_tail(const Position& position, int lanes, const StepBody& body);
  void emit_overlapping_tail(const Position& position);
  bool can_buffer_tail() const;
  int least_buffered() const;
  Position emit_buffered_tail(const Position& position, int lanes, const StepBody& body);
  void copy_items(const std::vector<std::size_t>& operands, const Pointers& from,
                  const Pointers& to, llvm::Value* count);
  Position join(const Position& one, llvm::BasicBlock* one_end, const Position& other,
                llvm::BasicBlock* other_end);

  // Rows past the caches (streaming.cpp).
  std::int64_t vector_bytes_of(std::size_t operand) const;
  bool is_streamed(std::size_t operand) const;
  std::vector<std::size_t> streamed_operands() const;
  llvm::Value* address_number(std::size_t operand, const Position& position);
  llvm::Value* count_to_alignment(std::size_t operand, const Position& start);
  Position emit_head(const Position& start, llvm::Value* end);
  llvm::Value* are_aligned(const std::vector<std::size_t>& operands, const Position& position,
                           bool by_lines);
  bool streams_by_lines(std::size_t operand) const;
  Position emit_vectors_before_line(const Position& start, std::size_t operand);
  llvm::Value* end_of_lines(std::size_t operand, const Position& start);
  int longest_chain() const;
  int streamed_vectors_at_once() const;
  Position emit_streaming_vectors(const Position& start, const std::vector<std::size_t>& streamed);
  Position emit_pages_in_turn(const Position& start, std::size_t streamed);
  llvm::Value* line_ahead(std::size_t operand, const Place& place, std::int64_t ahead_bytes);
  void prefetch(std::size_t operand, const Place& place, std::int64_t ahead_bytes,
                CacheLevel level);
  void prefetch_output(std::size_t operand, const Place& place);
  void emit_fence();

  // The body (body.cpp).
  /// Of the hoisted instructions, those whose values stay the same wherever the loops have come, or
  /// the others.
  enum class Hoisted : std::uint8_t { all, still, moving };
  void emit_hoisted(const Pointers& start, Hoisted which = Hoisted::all);
  void splat_hoisted(int lanes);
  int vector_lanes() const;
  bool can_mask_all(int lanes);
  bool moves_lanes() const;
  bool can_overlap() const;
  bool has_both_parts(std::size_t operand, bool is_imaginary) const;
  bool stores_parts(ir::ValueId id) const;
  std::vector<int> order_of_parts() const;
  int num_registers() const { return builder_.has_avx512() ? 32 : 16; }
  int num_values() const;
  bool is_waiting() const;
  int vectors_at_once() const;
  bool goes_side_by_side(int num_vectors) const;
  bool calls_functions() const { return calls_functions(kernel_); }
  StepBody plain_body();
  void emit_body(const Position& position, const Step& step);
  void emit_native_bf16(std::size_t id, std::vector<std::vector<llvm::Value*>>& values);
  Pointers current_addresses(const Position& position);
  void set_line(unsigned line);
  llvm::Value* emit_value(ir::ValueId id, const std::vector<llvm::Value*>& values,
                          const Place& place);
  llvm::Value* emit_inst(ir::ValueId id, const std::vector<llvm::Value*>& values,
                         const Place& place);
  llvm::Value* constant(DType dtype, std::uint64_t bits);
  llvm::Value* param(const ir::Inst& inst);
  Access access(std::size_t operand, const Place& place);

  // Divisions of what were integers (quotients.cpp).
  /// What x is multiplied by: x / c = fma(x, high, x * low).
  struct Factors {
    llvm::Value* high = nullptr;
    llvm::Value* low = nullptr;
  };
  bool may_take_two_products(ir::ValueId id) const;
  std::vector<ir::ValueId> quotients_of_integers() const;
  llvm::Value* is_within(llvm::Value* value, int exponent, bool by_size);
  llvm::Value* divides_by_products(llvm::Value* divisor, const Factors& factors);
  llvm::Value* fused(llvm::Value* x, llvm::Value* y, llvm::Value* z);
  llvm::Value* by_two_products(llvm::Value* x, const Factors& factors);
  void splat_factors();
  llvm::Value* find_factors(const std::vector<ir::ValueId>& ids);
  void emit_row_of_quotients(const Pointers& start, const std::vector<ir::ValueId>& ids);

  // Rows with transposed inputs in registers (tile_fused.cpp).
  struct Fused {
    bool is_large = false;
    std::vector<std::vector<llvm::Value*>> rows;  ///< [operand]: of transposed ones, a step's
    std::size_t row = 0;                          ///< the one that the body is for
    std::vector<std::size_t> asked;               ///< operands of which rows are asked for ahead
    // Bytes, [operand].
    Pointers line;    ///< from line to line of transposed ones; null for others
    Pointers step;    ///< down a step of rows
    Pointers column;  ///< along a vector of columns
  };
  void start_fused(std::span<const std::size_t> transposed);
  void emit_until_none(const Pointers& start, llvm::Value* count,
                       const std::function<llvm::Value*(Pointers&, llvm::Value* left)>& inside);
  void fused_columns(const Pointers& block, llvm::Value* steps);
  void fetch_fused_lines(const Pointers& column, llvm::Value* first, int count);
  void fetch_apart(llvm::Value* first, llvm::Value* stride, int count);
  void fetch_fused_rows(const Pointers& at);
  void fused_step(Pointers& at);
  std::vector<llvm::Value*> lines_to_rows(std::size_t operand, llvm::Value* at);

  // Partial results (reduce.cpp).
  bool is_inner() const { return kernel_.loops.back().kind == ir::LoopKind::reduce; }
  llvm::Value* combine(const ir::Inst& inst, llvm::Value* partial, llvm::Value* value);
  void accumulate(const ir::Inst& inst, llvm::Value* value, const Place& place);
  Access partials_at(const ir::Inst& inst, const Pointers& base, llvm::Value* index);
  void load_partials(const Pointers& base, llvm::Value* index, const Step& step);
  void store_partials(const Pointers& base, llvm::Value* index, const Step& step);
  int held_registers() const;
  int registers_for(int num_vectors) const;
  bool holds_whole_tree() const;
  int vectors_through_memory() const;
  Step main_step() const;
  Position start_row(const Pointers& start);
  void fold_row(const Pointers& start);
  void fold_rest(const Position& start);
  void fold_row_in_registers(const Pointers& row);
  bool keeps_rest_in_registers();
  void fold_rest_through_memory(const Position& position, const Pointers& row);
  void fold_rest_in_registers(const Position& position);
  void fold_columns(const Pointers& start);
  void fold_strip(const Position& position, const Step& step);
  void emit_row(const Pointers& start, const Pointers& partials);
  void combine_lanes(const Pointers& to, int vector_lanes);
  llvm::Value* lanes_of(llvm::Value* vector, int first, int count);

  // Scans (scan.cpp).
  static constexpr int max_lanes = 64;
  /// Whether it goes to the memory of an operand.
  bool is_stored(const ir::Inst& inst) const {
    return inst.op == Op::store || (inst.op == Op::accumulate && ir::is_scan(kernel_));
  }
  int scan_lanes() const;
  llvm::Value* identity_splat(const ir::Inst& inst);
  void scan_columns(const Pointers& start);
  void scan_some_columns(const Pointers& start);
  Access scan_memory_at(const ir::Inst& inst, llvm::Value* index);
  void take_in_scan(const ir::Inst& inst, llvm::Value* value, const Place& place);
  void scan_all_rows(const Pointers& start);
  std::pair<Pointers, llvm::Value*> emit_row_groups(const Pointers& start, llvm::Value* num_rows,
                                                    int together);
  void scan_rows(const Pointers& start, int together);
  void scan_taken(const Step& step);
  void scan_one_row(const ir::Inst& inst, std::vector<llvm::Value*>& values, int lanes);
  void scan_elements(const ir::Inst& inst, std::vector<llvm::Value*>& values);
  void scan_square(const ir::Inst& inst, std::vector<llvm::Value*>& values);
  void transpose_square(std::vector<llvm::Value*>& rows);

  const ir::Kernel& kernel_;
  const LaunchShape& shape_;
  llvm::Function* function_;
  Builder builder_;
  Pointers bases_;
  std::vector<llvm::Value*> extents_;
  std::vector<llvm::Value*> stride_bytes_;  ///< [loop * num_operands + operand]
  llvm::Value* params_ = nullptr;
  std::vector<llvm::Value*> scalars_;  ///< of hoisted instructions
  std::vector<llvm::Value*> splats_;   ///< of those that vectors use
  std::vector<bool> is_chosen_;        ///< what `where` takes or leaves
  std::vector<bool> moves_;            ///< hoisted ones: what they load may move along outer loops
  /// Instructions that accumulate, and what they have made so far: a register for each vector of
  /// each of them.  Without registers partial results are in memory.
  std::vector<const ir::Inst*> accumulations_;
  std::vector<llvm::Value*> partials_;  ///< [accumulation * vectors + vector]
  llvm::Value* scan_memory_ = nullptr;  ///< what has accumulated of columns; null: rows are scanned
  std::vector<Factors> factors_;        ///< of hoisted divisors, as scalars; empty: rows divide
  std::vector<Factors> factor_splats_;
  std::optional<Fused> fused_;  ///< of rows with transposed inputs
  /// What the bodies of rows have computed, and where their results go.
  std::vector<std::pair<llvm::Value*, Access>> scanned_;
  bool asks_for_outputs_ = false;
  llvm::DISubprogram* scope_ = nullptr;  ///< null: no debug information
};

}  // namespace weft::jit
