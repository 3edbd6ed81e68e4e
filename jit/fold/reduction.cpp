#include "jit/fold/reduction.h"

#include "ir/combine.h"
#include "ir/limits.h"
#include "jit/fold/fold.h"
#include "jit/fold/places.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace weft::jit {
namespace {

/// A place is kept with its element, in twice the bytes.
constexpr std::size_t partial_bytes = 2 * ir::max_partial_bytes;

/// What an output accumulates.
class Accumulation {
 public:
  explicit Accumulation(const ir::Inst& inst) {
    if (inst.op == Op::accumulate_place)
      places_.emplace(inst.combine, inst.dtype);
    else
      fold_ = make_plain_fold(inst.combine, inst.dtype);
  }

  std::int64_t partial_size() const {
    return places_ ? static_cast<std::int64_t>(sizeof(FoundPlace)) : fold_.itemsize();
  }
  /// Of what becomes of a partial result, its first bytes.
  std::int64_t itemsize() const { return places_ ? 8 : fold_.itemsize(); }
  void clear(std::byte* to, std::int64_t count) const {
    if (!places_) return fold_.clear(to, count);
    const FoundPlace identity = places_->identity();
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * partial_size(), &identity, sizeof identity);
  }
  void fold_in(std::byte* to, const std::byte* from, std::int64_t count) const {
    if (!places_) return fold_.loops.columns(fold_, to, from, 0, 1, count);
    for (std::int64_t i = 0; i < count; ++i) {
      FoundPlace kept, more;
      std::memcpy(&kept, to + i * partial_size(), sizeof kept);
      std::memcpy(&more, from + i * partial_size(), sizeof more);
      places_->take_in(kept, more);
      std::memcpy(to + i * partial_size(), &kept, sizeof kept);
    }
  }

 private:
  Fold fold_;
  std::optional<PlaceFold> places_;
};

/// What is known before the launch.
struct Nest {
  KernelFunction leaf = nullptr;
  const void* leaf_context = nullptr;
  std::size_t num_operands = 0;
  std::size_t num_loops = 0;
  std::size_t num_kept = 0;  ///< loops around the reduce loops
  bool is_inner = false;     ///< the innermost loop is a reduce loop
  ir::Tree tree;
  std::vector<Accumulation> folds;  ///< [output]
  std::int64_t strip_extent = 1;    ///< columns that are folded together
};

using Bases = std::array<std::byte*, ir::max_operands>;
struct alignas(64) Partials
    : std::array<std::array<std::byte, partial_bytes>, ir::max_reduced_outputs> {};

/// One launch.
class Walk {
 public:
  Walk(const Nest& nest, const KernelArgs& args) : nest_(nest), args_(args) {
    const std::int64_t inner = extent(nest.num_loops - 1);
    const std::int64_t row_extent = nest.is_inner ? inner : 1;
    const std::int64_t lanes = nest.tree.lanes, block = nest.tree.block;
    num_columns_ = nest.is_inner ? 1 : inner;
    for (std::size_t loop = nest.num_kept; loop + 1 < nest.num_loops; ++loop)
      num_rows_ *= extent(loop);
    if (row_extent >= block)
      segments_per_row_ = (row_extent + block - 1) / block;
    else
      rows_per_leaf_ =
          std::max<std::int64_t>(block / ((row_extent + lanes - 1) / lanes * lanes), 1);
    num_leaves_ = (num_rows_ + rows_per_leaf_ - 1) / rows_per_leaf_ * segments_per_row_;
    // Trees of as many leaves as the digits of a leaf's number say, and the leaf.
    pending_.resize(
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(num_leaves_)) + 1));
  }

  /// All outputs, the kept loops as an odometer.
  void run() {
    Bases base;
    std::copy_n(args_.base, nest_.num_operands, base.begin());
    std::array<std::int64_t, ir::max_loops> position{};
    while (true) {
      for (std::int64_t column = 0; column < num_columns_; column += nest_.strip_extent)
        fold_strip(base, column, std::min(nest_.strip_extent, num_columns_ - column));
      std::size_t loop = nest_.num_kept;
      while (loop > 0) {
        --loop;
        const bool wraps = ++position[loop] == extent(loop);
        step(base, loop, wraps ? 1 - extent(loop) : 1);
        if (!wraps) break;
        position[loop] = 0;
        if (loop == 0) return;
      }
      if (nest_.num_kept == 0) return;
    }
  }

 private:
  std::int64_t extent(std::size_t loop) const { return args_.extents[loop]; }
  std::int64_t stride_bytes(std::size_t loop, std::size_t operand) const {
    return args_.stride_bytes[loop * nest_.num_operands + operand];
  }
  void step(Bases& base, std::size_t loop, std::int64_t steps) const {
    for (std::size_t i = 0; i < nest_.num_operands; ++i) base[i] += steps * stride_bytes(loop, i);
  }
  std::int64_t num_partials(std::int64_t num_columns) const {
    return nest_.is_inner ? nest_.tree.lanes : num_columns;
  }

  void fold_strip(const Bases& base, std::int64_t column, std::int64_t num_columns) {
    std::size_t depth = 0;
    for (std::int64_t leaf = 0; leaf < num_leaves_; ++leaf) {
      fold_leaf(base, column, num_columns, leaf, pending_[depth++]);
      // What is pending are the trees of the digits of the leaf's number.
      for (std::int64_t digits = leaf; (digits & 1) != 0; digits >>= 1)
        combine(--depth, num_columns);
    }
    while (depth > 1) combine(--depth, num_columns);
    finish(base, column, num_columns);
  }

  void combine(std::size_t top, std::int64_t num_columns) {
    for (std::size_t i = 0; i < nest_.folds.size(); ++i)
      nest_.folds[i].fold_in(pending_[top - 1][i].data(), pending_[top][i].data(),
                             num_partials(num_columns));
  }

  void fold_leaf(const Bases& base, std::int64_t column, std::int64_t num_columns,
                 std::int64_t leaf, Partials& partials) const {
    for (std::size_t i = 0; i < nest_.folds.size(); ++i)
      nest_.folds[i].clear(partials[i].data(), num_partials(num_columns));
    const std::size_t inner = nest_.num_loops - 1;
    const std::int64_t first_element =
        nest_.is_inner ? leaf % segments_per_row_ * nest_.tree.block : column;
    std::int64_t count = num_columns;
    if (nest_.is_inner) count = extent(inner) - first_element;
    if (segments_per_row_ > 1) count = std::min<std::int64_t>(count, nest_.tree.block);
    std::int64_t row = leaf / segments_per_row_ * rows_per_leaf_;
    const std::int64_t end = std::min(row + rows_per_leaf_, num_rows_);
    while (row < end) {
      Bases at = base;
      step(at, inner, first_element);
      const std::int64_t rows = std::min(end - row, advance_to(at, row));
      call(at, partials, rows, count);
      row += rows;
    }
  }

  /// Moves to row number `row`; returns how many follow along the last of the loops over rows.
  std::int64_t advance_to(Bases& at, std::int64_t row) const {
    std::int64_t ahead = 1;
    for (std::size_t loop = nest_.num_loops - 1; loop-- > nest_.num_kept;) {
      const std::int64_t position = row % extent(loop);
      if (loop + 2 == nest_.num_loops) ahead = extent(loop) - position;
      step(at, loop, position);
      row /= extent(loop);
    }
    return ahead;
  }

  void call(Bases& at, Partials& partials, std::int64_t rows, std::int64_t count) const {
    std::array<std::int64_t, ir::max_loops> extents;
    std::fill_n(extents.begin(), nest_.num_loops, 1);
    if (nest_.num_loops - nest_.num_kept > 1) extents[nest_.num_loops - 2] = rows;
    extents[nest_.num_loops - 1] = count;
    for (std::size_t i = 0; i < nest_.folds.size(); ++i) at[i] = partials[i].data();
    const KernelArgs args{at.data(), extents.data(), args_.stride_bytes, args_.params,
                          nest_.leaf_context};
    nest_.leaf(&args);
  }

  void finish(const Bases& base, std::int64_t column, std::int64_t num_columns) {
    for (std::size_t i = 0; i < nest_.folds.size(); ++i) {
      const Accumulation& fold = nest_.folds[i];
      std::byte* const partials = pending_[0][i].data();
      const std::int64_t size = fold.partial_size();
      for (std::int64_t width = nest_.tree.lanes / 2; width > 0; width /= 2)
        fold.fold_in(partials, partials + width * size, width);
      const std::int64_t stride = nest_.is_inner ? 0 : stride_bytes(nest_.num_loops - 1, i);
      for (std::int64_t k = 0; k < num_columns; ++k)
        std::memcpy(base[i] + (column + k) * stride, partials + k * size,
                    static_cast<std::size_t>(fold.itemsize()));
    }
  }

  const Nest& nest_;
  const KernelArgs& args_;
  std::int64_t num_columns_ = 1;
  std::int64_t num_rows_ = 1;
  std::int64_t segments_per_row_ = 1;
  std::int64_t rows_per_leaf_ = 1;
  std::int64_t num_leaves_ = 1;
  std::vector<Partials> pending_;  ///< not on the stack, which may be small
};

void run_nest(const KernelArgs* args) {
  Walk(*static_cast<const Nest*>(args->context), *args).run();
}

}  // namespace

std::shared_ptr<CodeObject> reduction_code(const ir::Kernel& kernel, const CodeObject& leaf) {
  const auto nest = std::make_shared<Nest>();
  nest->leaf = leaf.leaf;
  nest->leaf_context = leaf.leaf_context;
  nest->num_operands = kernel.operands.size();
  nest->num_loops = kernel.loops.size();
  nest->is_inner = kernel.loops.back().kind == ir::LoopKind::reduce;
  nest->tree = kernel.tree;
  while (kernel.loops[nest->num_kept].kind != ir::LoopKind::reduce) ++nest->num_kept;
  std::int64_t widest = 1;
  for (std::size_t output = 0; kernel.operands[output].role == ir::Role::output; ++output) {
    const auto is_it = [&](const ir::Inst& inst) {
      return accumulates(inst) && inst.operand == output;
    };
    nest->folds.emplace_back(*std::ranges::find_if(kernel.body, is_it));
    widest = std::max(widest, nest->folds.back().partial_size());
    if (output + 1 == kernel.operands.size()) break;
  }
  nest->strip_extent = static_cast<std::int64_t>(ir::max_partial_bytes) / widest;
  auto code = std::make_shared<CodeObject>(leaf);
  using Owners = std::pair<std::shared_ptr<const Nest>, std::shared_ptr<const void>>;
  code->memory = std::make_shared<const Owners>(nest, leaf.memory);
  code->entry = &run_nest;
  code->context = nest.get();
  return code;
}

}  // namespace weft::jit
