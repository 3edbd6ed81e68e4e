#include "engine/fold/leaf_tree.h"

#include "engine/fold/fold_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace weft {
namespace {

constexpr std::int64_t lanes_bytes = jit::Fold::lanes_bytes;
/// That one launch folds.
constexpr std::int64_t most_leaves = 8;

/// The arguments of code for leaves: a loop over leaves, one row of each if there is a loop over
/// rows, and the elements.
class LeafLaunch {
 public:
  LeafLaunch(const FoldPlan& plan, std::byte* const* inputs, std::int64_t block_elements)
      : num_outputs_(1 + plan.also.size()),
        num_operands_(plan.num_operands + plan.also.size()),
        num_loops_(fold_has_rows(plan) ? 3 : 2) {
    std::int64_t* const across = stride_bytes_.data();
    std::int64_t* const along = across + (num_loops_ - 1) * num_operands_;
    if (num_loops_ == 3) std::fill_n(across + num_operands_, num_operands_, 0);
    for (std::size_t i = 0; i < num_outputs_; ++i) across[i] = lanes_bytes, along[i] = 0;
    for (std::size_t i = num_outputs_; i < num_operands_; ++i) {
      base_[i] = inputs[i - num_outputs_];
      along[i] = plan.vector.stride_bytes[i - num_outputs_ + 1];
      across[i] = along[i] * block_elements;
    }
  }

  /// So many leaves of `count` elements, of which lane 0 of the first fold's first is at `lanes`.
  void run(jit::KernelFunction leaf, const Bits* params, std::byte* lanes, std::int64_t leaves,
           std::int64_t count) {
    for (std::size_t i = 0; i < num_outputs_; ++i)
      base_[i] = lanes + static_cast<std::int64_t>(i) * most_leaves * lanes_bytes;
    const std::array<std::int64_t, 3> extents{leaves, num_loops_ == 3 ? 1 : count, count};
    const jit::KernelArgs args{base_.data(), extents.data(), stride_bytes_.data(), params, nullptr};
    leaf(&args);
    for (std::size_t i = num_outputs_; i < num_operands_; ++i)
      base_[i] += leaves * stride_bytes_[i];
  }

 private:
  // Only what is used is written.
  std::array<std::byte*, max_fold_operands> base_;
  std::array<std::int64_t, 3 * max_fold_operands> stride_bytes_;
  std::size_t num_outputs_, num_operands_, num_loops_;
};

template <class Function>
void for_each_fold(const FoldPlan& plan, const Function& function) {
  function(plan.fold, std::int64_t{0});
  for (std::size_t i = 0; i < plan.also.size(); ++i)
    function(plan.also[i].fold, static_cast<std::int64_t>(i) + 1);
}

template <std::size_t most_folds>
class LeafTree {
 public:
  LeafTree(const FoldPlan& plan, jit::KernelFunction leaf, std::byte* const* inputs,
           const Bits* params)
      : plan_(plan),
        leaf_(leaf),
        params_(params),
        block_elements_(fold_block_elements(plan.fold)),
        launch_(plan, inputs, block_elements_) {}

  /// The next `count` elements, a subtree or what the row ends with, to `lanes`.
  void fold(std::int64_t count, std::byte* lanes) {
    if (count <= most_leaves * block_elements_) return fold_some(count, lanes);
    alignas(64) jit::PendingLanes<most_folds> pending;
    jit::fold_tree(
        pending, count, most_leaves * block_elements_,
        [&](std::byte* to, std::int64_t, std::int64_t size) { fold_some(size, to); },
        [&](std::byte* to, const std::byte* from) {
          for_each_fold(plan_, [&](const jit::Fold& fold, std::int64_t number) {
            fold.loops.combine_blocks(fold, to + number * lanes_bytes, from - to, 2);
          });
        });
    std::memcpy(lanes, pending[0], num_folds() * lanes_bytes);
  }

 private:
  std::size_t num_folds() const { return 1 + plan_.also.size(); }

  /// At most most_leaves of them.
  void fold_some(std::int64_t count, std::byte* lanes) {
    const int block_bits = std::countr_zero(static_cast<std::uint64_t>(block_elements_));
    const std::int64_t whole = count >> block_bits, rest = count & (block_elements_ - 1);
    const std::int64_t num_leaves = whole + (rest == 0 ? 0 : 1);
    for_each_fold(plan_, [&](const jit::Fold& fold, std::int64_t number) {
      fold.loops.start_blocks(fold, leaf_lanes(number, 0), num_leaves);
    });
    if (whole > 0) launch_.run(leaf_, params_, leaf_lanes(0, 0), whole, block_elements_);
    if (rest > 0) launch_.run(leaf_, params_, leaf_lanes(0, whole), 1, rest);
    for_each_fold(plan_, [&](const jit::Fold& fold, std::int64_t number) {
      fold.loops.combine_blocks(fold, leaf_lanes(number, 0), lanes_bytes, num_leaves);
      std::memcpy(lanes + number * lanes_bytes, leaf_lanes(number, 0), lanes_bytes);
    });
  }

  std::byte* leaf_lanes(std::int64_t fold, std::int64_t leaf) {
    return leaves_.data() + (fold * most_leaves + leaf) * lanes_bytes;
  }

  const FoldPlan& plan_;
  const jit::KernelFunction leaf_;
  const Bits* const params_;
  const std::int64_t block_elements_;  ///< a power of two
  LeafLaunch launch_;
  alignas(64) std::array<std::byte, most_folds * most_leaves * lanes_bytes> leaves_;
};

}  // namespace

void fold_leaves_by_code(const FoldPlan& plan, jit::KernelFunction leaf, std::byte* const* inputs,
                         const Bits* params, std::int64_t count, std::byte* lanes) {
  if (plan.also.empty())
    LeafTree<1>(plan, leaf, inputs, params).fold(count, lanes);
  else
    LeafTree<max_folds_of_loop>(plan, leaf, inputs, params).fold(count, lanes);
}

}  // namespace weft
