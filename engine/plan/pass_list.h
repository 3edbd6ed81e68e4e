// Calls that take several passes.  Which plans run one after the other, on which of the call's
// tensors and on which temporaries, is noted down when such a call runs for the first time, and
// becomes a plan like any other: a repeated call allocates its temporaries at once and goes
// through the list.
#pragma once

#include "engine/plan/plan_cache.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// Where an operand of a pass lies: so many bytes behind an operand of the call, or in the block of
/// temporaries.
struct Origin {
  static constexpr std::size_t temporary = ~std::size_t{0};
  std::size_t operand = temporary;
  std::int64_t offset_bytes = 0;

  std::byte* address(std::byte* const* base, std::byte* temporaries) const {
    return (operand == temporary ? temporaries : base[operand]) + offset_bytes;
  }
};

struct Pass {
  std::shared_ptr<const CallPlan> plan;
  std::vector<Origin> operands;
  std::size_t first_param = 0;
};

/// Memory of a call's temporaries: most are a few numbers.
class Temporaries {
 public:
  explicit Temporaries(std::size_t size_bytes) {
    if (size_bytes > sizeof few_) many_ = Storage::allocate(size_bytes);
  }
  std::byte* data() { return many_ != nullptr ? many_->data() : few_; }

 private:
  alignas(64) std::byte few_[2048];  // NOLINT: passes write it before they read it
  std::shared_ptr<Storage> many_;
};

/// What a call of several passes runs.  Immutable.
struct PassList {
  std::vector<Pass> passes;
  std::size_t temporary_bytes = 0;

  void run(std::byte* const* base, const Bits* params) const;
};

/// The numbers of a call as its plan takes them.
inline void fill_params(const CallPlan& plan, const CallKey& key, Bits* params) {
  for (std::size_t i = 0; i < plan.params.size(); ++i)
    params[i] = key.numbers[plan.params[i].number]->scalar.bits(plan.params[i].dtype);
}

/// What a plan says of a result that the call allocates, or was given.
CallPlan::Output planned_output(const Tensor& output, bool is_new);

/// One call's list in the making.  Keeps its tensors alive, so that no memory is met twice.
class PassRecorder {
 public:
  /// A plan that has run: on these outputs, and on the inputs and numbers of its key.
  void add(std::shared_ptr<const CallPlan> plan, std::span<const Tensor> outputs,
           const CallKey& key);
  /// Something has happened that depends on more than the call's key.
  void give_up() {
    is_repeatable_ = false;
    steps_.clear();
  }
  /// The plan of the whole call, whose outputs are `outputs`; null if it can't be repeated.
  std::shared_ptr<CallPlan> finish(const CallKey& key, std::span<const Tensor> given,
                                   std::span<const Tensor> outputs) const;

 private:
  struct Step {
    std::shared_ptr<const CallPlan> plan;
    std::vector<Tensor> operands;  ///< outputs first
    std::vector<const ExprNode*> numbers;
  };
  std::vector<Step> steps_;
  bool is_repeatable_ = true;
};

/// A call that runs block by block of rows of dimension 0.
struct RowPasses {
  std::int64_t num_rows = 0;
  std::int64_t rows_per_block = 0;
  int max_threads = 0;
  bool needs_fence = false;                    ///< blocks write past the caches
  std::shared_ptr<const CallPlan> block;       ///< of rows_per_block rows
  std::shared_ptr<const CallPlan> last_block;  ///< of what is left
};

/// The plan of such a call.  `block_key` is that of the first block; null if the blocks' operands
/// are not those of the call, in the same order.
std::shared_ptr<CallPlan> plan_row_passes(const RowPasses& passes, const CallKey& key,
                                          const CallKey& block_key, std::span<const Tensor> given,
                                          std::span<const Tensor> outputs);

}  // namespace weft
