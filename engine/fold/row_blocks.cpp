#include "engine/fold/row_blocks.h"

#include "engine/expression/program.h"
#include "engine/expression/walk.h"
#include "engine/fold/fold_plan.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weft {
namespace {

/// Larger expressions are left as they are, so that recursion stays shallow.
constexpr std::size_t max_nodes = 1000;

/// Of blocks of a very large cache the beginning is enough.
constexpr std::int64_t most_ahead_bytes = std::int64_t{1} << 20;

/// Whether dimension 0 steps over all the others, so that its rows lie apart, of a tensor that no
/// dimension repeats.  Rows that overlap may merge with what a single one of them does not.
bool lies_in_rows(const TensorImpl& tensor) {
  bool fills_vectors = false;
  std::int64_t reach = 0;  // in elements, from the first one of a row to the last
  for (std::size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    const std::int64_t stride = std::abs(tensor.strides[dim]);
    if (stride == 0 && tensor.sizes[dim] > 1) return false;
    if (dim == 0 || tensor.sizes[dim] <= 1) continue;
    reach += (tensor.sizes[dim] - 1) * stride;
    fills_vectors |= tensor.sizes[dim] >= min_vector_extent;
  }
  return fills_vectors && (tensor.sizes[0] <= 1 || reach < std::abs(tensor.strides[0]));
}

/// Follows the rows from the results down to the tensors.
class RowFinder {
 public:
  bool is_fit(std::span<const Expr> exprs) {
    for (const Expr& expr : exprs) collect(expr.node());
    if (sizes_.size() > max_nodes) return false;
    for (const Expr& expr : exprs) {
      const Dims& sizes = sizes_.at(&expr.node());
      if (sizes.empty() || sizes != sizes_.at(&exprs[0].node())) return false;
      num_rows_ = sizes[0];
      if (!visit(expr.node())) return false;
    }
    return true;
  }
  std::int64_t num_rows() const { return num_rows_; }
  std::int64_t num_bytes() const { return num_bytes_; }
  /// Whether an operand without rows would decide how a fold walks a single one.
  bool needs_two_rows() const { return needs_two_rows_; }
  /// Passes that read tensors with rows: folds, and what is elementwise around them.
  std::int64_t num_passes(std::span<const Expr> exprs) const {
    return num_folds_ + std::any_of(exprs.begin(), exprs.end(), [&](const Expr& expr) {
             return reads_outside_folds(expr.node());
           });
  }
  bool has_rows(const ExprNode& arg, const ExprNode& user) const {
    const Dims& own = sizes_.at(&arg);
    return own.size() == (user.fold == nullptr ? sizes_.at(&user) : user.fold->arg_sizes).size() &&
           !own.empty() && own[0] == num_rows_;
  }

 private:
  void collect(const ExprNode& root) {
    for_each_node({&root}, [&](const ExprNode& node) {
      sizes_of(node, sizes_);
      return sizes_.size() <= max_nodes;
    });
  }

  /// A node whose rows are cut.
  bool visit(const ExprNode& node) {
    if (!visited_.insert(&node).second) return true;
    if (may_divide_by_zero(node)) return false;  // may fail when other blocks have been written
    if (node.kind == ExprNode::Kind::tensor) {
      std::int64_t bytes;
      return !__builtin_mul_overflow(node.tensor.numel(), itemsize_bytes(node.dtype), &bytes) &&
             !__builtin_add_overflow(num_bytes_, bytes, &num_bytes_);
    }
    if (node.kind == ExprNode::Kind::fold) {
      if (node.fold->folds(0) || !reads_rows(node)) return false;
      needs_two_rows_ |= is_led_by_one_row(node);
      ++num_folds_;
    }
    for (const auto& arg : node.args) {
      if (has_rows(*arg, node) ? !visit(*arg) : has_fold(*arg)) return false;
    }
    return true;
  }

  /// Whether `is_it` is true of `root` or a node below, as far as the next folds.
  template <class Test>
  static bool reaches(const ExprNode& root, const Test& is_it) {
    bool is_found = false;
    for_each_node({&root}, [&](const ExprNode& node) {
      is_found = is_found || is_it(node);
      return !is_found && node.kind != ExprNode::Kind::fold;
    });
    return is_found;
  }

  bool reads_outside_folds(const ExprNode& root) const {
    return reaches(root, [&](const ExprNode& node) {
      return node.kind == ExprNode::Kind::tensor && visited_.contains(&node);
    });
  }

  /// What would be folded again for each block.
  static bool has_fold(const ExprNode& root) {
    return reaches(root, [](const ExprNode& node) { return node.kind == ExprNode::Kind::fold; });
  }

  /// Whether the operands that decide how a fold walks do so alike for any number of rows.
  bool reads_rows(const ExprNode& fold) const {
    bool has_one = false;
    const auto lies_otherwise = [&](const ExprNode& node) {
      if (node.kind != ExprNode::Kind::tensor || sizes_.at(&node) != fold.fold->arg_sizes)
        return false;
      has_one = true;
      return !lies_in_rows(*node.tensor.impl());
    };
    return !reaches(*fold.args[0], lies_otherwise) && has_one;
  }

  /// What a row has of a tensor, or all of one without rows.
  std::int64_t num_stored_of_row(const ExprNode& leaf, const ExprNode& fold) const {
    const Tensor& tensor = leaf.tensor;
    std::int64_t count = 1;
    for (int dim = has_rows(leaf, fold) ? 1 : 0; dim < tensor.dim(); ++dim)
      if (tensor.stride(dim) != 0) count *= tensor.size(dim);
    return count;
  }

  /// The first tensor below `root` that stores so many elements for each row of `fold`, in the
  /// order of leaves_of(); null if there is none.
  const ExprNode* first_of_whole_rows(std::int64_t row_numel, const ExprNode& fold,
                                      const ExprNode& root,
                                      std::unordered_set<const ExprNode*>& seen) const {
    if (root.kind == ExprNode::Kind::tensor)
      return num_stored_of_row(root, fold) >= row_numel ? &root : nullptr;
    for (const auto& arg : root.args) {
      if (arg->kind == ExprNode::Kind::fold || !seen.insert(arg.get()).second) continue;
      if (const ExprNode* const found = first_of_whole_rows(row_numel, fold, *arg, seen))
        return found;
    }
    return nullptr;
  }

  /// Of operands of equal size the first leads (largest_input()): of one row perhaps another.
  bool is_led_by_one_row(const ExprNode& fold) const {
    const Dims& sizes = fold.fold->arg_sizes;
    std::int64_t row_numel = 1;
    for (std::size_t dim = 1; dim < sizes.size(); ++dim) row_numel *= sizes[dim];
    std::unordered_set<const ExprNode*> seen;
    const ExprNode* const first = first_of_whole_rows(row_numel, fold, fold, seen);
    return first != nullptr && !has_rows(*first, fold);
  }

  SizesOfNodes sizes_;
  std::unordered_set<const ExprNode*> visited_;
  std::int64_t num_rows_ = 0;
  std::int64_t num_bytes_ = 0;
  std::int64_t num_folds_ = 0;
  bool needs_two_rows_ = false;
};

/// Rebuilds expressions on some of the rows.
class RowTaker {
 public:
  RowTaker(std::int64_t first, std::int64_t count) : first_(first), count_(count) {}

  Expr take(const RowFinder& finder, const Expr& expr) {
    return Expr(taken(finder, expr.shared_node()));
  }

 private:
  std::shared_ptr<const ExprNode> taken(const RowFinder& finder,
                                        const std::shared_ptr<const ExprNode>& node) {
    const auto known = taken_.find(node.get());
    if (known != taken_.end()) return known->second;
    auto result = std::make_shared<ExprNode>(*node);
    if (node->kind == ExprNode::Kind::tensor) {
      // One view stays one: calls are known by how many there are.
      Tensor& rows = rows_[node->tensor.impl().get()];
      if (!rows.defined()) rows = node->tensor.narrow(0, first_, count_);
      result->tensor = rows;
    } else if (node->fold != nullptr) {
      auto fold = std::make_shared<FoldNode>(*node->fold);
      fold->arg_sizes[0] = fold->sizes[0] = count_;
      result->fold = std::move(fold);
    }
    for (auto& arg : result->args)
      if (finder.has_rows(*arg, *node)) arg = taken(finder, arg);
    return taken_[node.get()] = std::move(result);
  }

  std::int64_t first_;
  std::int64_t count_;
  std::unordered_map<const ExprNode*, std::shared_ptr<const ExprNode>> taken_;
  std::unordered_map<const TensorImpl*, Tensor> rows_;
};

}  // namespace

class RowBlocks::Finder : public RowFinder {};

/// Of a quarter of the second cache what one pass has read is there for the next.  Zen 5 gains from
/// two rows at a time: what is written waits among a hundred stores, and leaves while the next
/// block is read.  Zen 3 gains from what half of the first cache holds.
static std::int64_t rows_of_block(std::int64_t row_bytes, const CpuFeatures& features) {
  constexpr std::int64_t least_bytes = 8 << 10, most_bytes = 12 << 10;
  const std::int64_t cached = features.l2_bytes / 4 / row_bytes;
  std::int64_t rows = cached;
  if (features.amd_family >= zen5_family)
    rows = std::clamp(2 * row_bytes, least_bytes, most_bytes) / row_bytes;
  else if (runs_on_zen3(features))
    rows = features.l1d_bytes / 2 / row_bytes;
  return rows > 0 ? rows : std::min<std::int64_t>(cached, 1);
}

std::optional<RowBlocks> plan_row_blocks(std::span<const Expr> exprs, const CpuFeatures& features) {
  auto finder = std::make_shared<RowBlocks::Finder>();
  if (!finder->is_fit(exprs) || finder->num_bytes() <= features.l2_bytes / 2) return {};
  if (finder->num_passes(exprs) < 2) return {};
  const std::int64_t row_bytes =
      std::max<std::int64_t>(finder->num_bytes() / finder->num_rows(), 1);
  std::int64_t rows_per_block = rows_of_block(row_bytes, features);
  if (finder->needs_two_rows())
    while (rows_per_block > 0 && (rows_per_block == 1 || finder->num_rows() % rows_per_block == 1))
      --rows_per_block;
  if (rows_per_block < 1 || rows_per_block >= finder->num_rows()) return {};
  // Powers of two, for few kernels (docs/decisions/fold-loops.md): blocks read no more, and no line
  // is left out.
  const auto block_bytes = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(rows_per_block * row_bytes)));
  const PartOfCall part{.ahead_bytes = static_cast<std::int32_t>(
                            std::min<std::int64_t>(block_bytes, most_ahead_bytes)),
                        .folds_ask = features.amd_family >= zen5_family &&
                                     finder->num_bytes() > features.l3_bytes / 4 * 3};
  return RowBlocks{finder->num_rows(), rows_per_block, std::move(finder), row_bytes, part};
}

void RowBlocks::choose_stores(double written_bytes, std::int64_t threshold_bytes) {
  const double read_bytes = static_cast<double>(row_bytes) * static_cast<double>(num_rows);
  part.writes_past_caches = read_bytes + written_bytes >= static_cast<double>(threshold_bytes);
}

// Gains on Zen 3 and 5, and was measured there.
std::int32_t asked_by_last(std::int32_t ahead_bytes, const CpuFeatures& features) {
  return features.amd_family >= zen5_family || runs_on_zen3(features) ? ahead_bytes : 0;
}

std::vector<Expr> take_rows(const RowBlocks& blocks, std::span<const Expr> exprs,
                            std::int64_t first, std::int64_t count) {
  RowTaker taker(first, count);
  std::vector<Expr> result;
  for (const Expr& expr : exprs) result.push_back(taker.take(*blocks.finder, expr));
  return result;
}

}  // namespace weft
