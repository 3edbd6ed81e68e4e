// How the tree of a kernel that reduces is divided among launches, blocks, warps and threads
// (reduce.h).
#include "jit/nvrtc/launch.h"
#include "jit/nvrtc/reduce.h"

#include <algorithm>
#include <bit>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;

constexpr int widest_access_bytes = 16;
/// Of shared memory that every device has, less than makes it hold fewer blocks for one output.
constexpr int pending_bytes = 40 << 10;
constexpr int most_levels = 7;

/// Lanes of the tree that a thread has.
int lanes_of_thread(const Kernel& kernel) { return std::max(1, kernel.tree.lanes / warp_size); }

int widest_itemsize(const Kernel& kernel) {
  std::size_t widest = 1;
  for (const ir::Operand& operand : kernel.operands)
    widest = std::max(widest, itemsize_bytes(operand.dtype));
  return static_cast<int>(widest);
}

/// Of a row that is scanned: vectors of 16 bytes, or as many elements as registers keep.
int row_items(const Kernel& kernel) { return widest_itemsize(kernel) > 4 ? 4 : 8; }

/// Of one launch: who folds which of the leaves.
struct Share {
  std::uint64_t leaves = 1;       ///< of a set
  std::uint64_t warps = 1;        ///< that share a unit: one, or all of a block
  std::uint64_t warp_leaves = 1;  ///< of each of them; a power of two
  std::uint64_t units_a_set = 1;  ///< 1: the launch ends with results
};

/// What ir::Tree makes of the extents.
struct Tree {
  Tree() = default;
  Tree(const Kernel& kernel, const Variant& variant, const Nest& nest) {
    const std::size_t inner_loop = kernel.loops.size() - 1, num_kept = num_kept_loops(kernel);
    const auto extent = [&](std::size_t loop) {
      return static_cast<std::uint64_t>(nest.extents[loop]);
    };
    const auto block = static_cast<std::uint64_t>(kernel.tree.block);
    const auto lanes = static_cast<std::uint64_t>(kernel.tree.lanes);
    inner = extent(inner_loop);
    for (std::size_t loop = 0; loop < num_kept; ++loop) sets *= extent(loop);
    for (std::size_t loop = num_kept; loop < inner_loop; ++loop) rows *= extent(loop);
    if (!is_inner_walk(kernel)) {
      const auto items = static_cast<std::uint64_t>(sets_of(kernel, variant).items);
      parts = std::max<std::uint64_t>(quotient_up(inner, warp_size * items), 1);
      sets *= inner == 0 ? 0 : parts;
      leaf_rows = block;
      leaves = std::max<std::uint64_t>(quotient_up(rows, block), 1);
      return;
    }
    if (inner >= block)
      parts = quotient_up(inner, block);
    else
      leaf_rows = std::max<std::uint64_t>(
          block / (quotient_up(std::max<std::uint64_t>(inner, 1), lanes) * lanes), 1);
    leaves = std::max<std::uint64_t>(quotient_up(rows, leaf_rows) * parts, 1);
  }

  std::uint64_t inner = 1, rows = 1;
  std::uint64_t sets = 1;       ///< outputs, or strips of columns of all outputs
  std::uint64_t leaves = 1;     ///< of each of them
  std::uint64_t leaf_rows = 1;  ///< of a leaf
  std::uint64_t parts = 1;      ///< strips of columns, or leaves of a long row
};

/// Leaves are elements in the first launch and partial results, which cost little, in the others.
Share divide(std::uint64_t num_sets, std::uint64_t leaves, bool are_partials,
             std::uint64_t max_warp_leaves, std::uint64_t max_blocks) {
  constexpr std::uint64_t all_warps = warps_per_block;
  // Two blocks of eight that a multiprocessor could hold keep it busy.
  const std::uint64_t enough_warps = max_blocks;
  Share share;
  share.leaves = leaves;
  const bool is_small = are_partials ? leaves <= all_warps : leaves == 1;
  if (is_small || (num_sets >= enough_warps && leaves <= max_warp_leaves)) {
    share.warp_leaves = std::bit_ceil(std::min(leaves, max_warp_leaves));
    if (share.warp_leaves >= leaves) return share;
  }
  share.warps = all_warps;
  // A second launch costs more than a warp that folds two leaves, and less than one that folds more
  // while most of the device has nothing to do.  Of partial results, which come one after the other
  // from memory, some 32 take as long.
  constexpr std::uint64_t few_leaves = 2 * all_warps, few_partials = 32 * all_warps;
  const auto units = [&] { return quotient_up(leaves, all_warps * share.warp_leaves); };
  const auto are_too_many = [&] {
    if (are_partials) return units() > 1 && (leaves <= few_partials || share.warp_leaves < 8);
    // Rather more blocks than run at once, so that the last ones leave little of the device idle.
    return leaves <= few_leaves ? units() > 1 : num_sets * units() > max_blocks;
  };
  share.warp_leaves = 1;
  while (share.warp_leaves < max_warp_leaves && are_too_many()) share.warp_leaves *= 2;
  share.units_a_set = units();
  return share;
}

Launch launch_of(const Variant& variant, const Nest& nest, const Tree& tree, const Share& share,
                 std::uint64_t max_blocks) {
  Launch launch;
  std::vector<std::uint64_t>& words = launch.arguments;
  const auto add = [&](std::initializer_list<std::uint64_t> more) {
    words.insert(words.end(), more);
  };
  const auto add_divisor = [&](std::uint64_t number) {
    const Divisor divisor = make_divisor(std::max<std::uint64_t>(number, 1), variant.index_bits);
    add({divisor.divisor, divisor.magic, divisor.shift});
  };
  const std::uint64_t units = tree.sets * share.units_a_set;
  launch.blocks =
      std::clamp<std::uint64_t>(quotient_up(units * share.warps, warps_per_block), 1, max_blocks);
  words = nest.base;
  add({0, 0});  // place_partials()
  for (const std::int64_t stride : nest.stride_bytes)
    words.push_back(static_cast<std::uint64_t>(stride));
  add({units, share.leaves, share.warps, share.warp_leaves, tree.inner, tree.rows, tree.leaf_rows});
  add_divisor(share.units_a_set);
  add_divisor(tree.parts);
  for (const std::int64_t extent : nest.extents) add_divisor(static_cast<std::uint64_t>(extent));
  for (const Bits& param : nest.params) add({param.lo, param.hi});
  return launch;
}

}  // namespace

std::size_t num_kept_loops(const Kernel& kernel) {
  std::size_t count = 0;
  while (kernel.loops[count].kind == ir::LoopKind::parallel) ++count;
  return count;
}

std::size_t num_outputs(const Kernel& kernel) {
  return static_cast<std::size_t>(
      std::ranges::count(kernel.operands, ir::Role::output, &ir::Operand::role));
}

const ir::Inst& accumulate_of(const Kernel& kernel, std::size_t output) {
  return *std::ranges::find_if(kernel.body, [output](const ir::Inst& inst) {
    return ir::accumulates(inst) && inst.operand == output;
  });
}

int kept_bytes(const ir::Inst& inst) {
  const std::size_t beside = inst.op == Op::accumulate_place ? itemsize_bytes(inst.dtype) : 0;
  return static_cast<int>(itemsize_bytes(kept_dtype(inst)) + beside);
}

Sets sets_of(const Kernel& kernel, const Variant& variant) {
  Sets sets;
  sets.items = is_inner_walk(kernel) ? lanes_of_thread(kernel) : variant.items;
  for (std::size_t o = 0; o < num_outputs(kernel); ++o)
    sets.size_bytes += warp_size * sets.items * kept_bytes(accumulate_of(kernel, o));
  sets.levels = std::clamp(pending_bytes / (warps_per_block * sets.size_bytes), 1, most_levels);
  return sets;
}

int most_accumulated_items(const Kernel& kernel) {
  const int widest = widest_itemsize(kernel);
  if (ir::is_scan(kernel) && is_inner_walk(kernel))
    return std::min(row_items(kernel), std::max(1, widest_access_bytes / widest));
  if (is_inner_walk(kernel))
    return std::min(lanes_of_thread(kernel), std::max(1, widest_access_bytes / widest));
  // Half as wide as it could be: a warp less for each strip is worth more than a load less.
  return std::max(1, widest_access_bytes / 2 / widest);
}

int scanned_items(const Kernel& kernel, const Variant& variant) {
  return is_inner_walk(kernel) ? row_items(kernel) : variant.items;
}

int kept_scan_items(const Kernel& kernel, const Variant& variant) {
  return is_inner_walk(kernel) ? 1 : variant.items;
}

namespace {

/// Chunks in place of leaves: as many as keep the device busy, and not more than are worth the
/// second reading.
Launches plan_scan(const Kernel& kernel, const Variant& variant, const Nest& nest,
                   std::uint64_t max_blocks) {
  const std::size_t inner_loop = kernel.loops.size() - 1, scan_loop = num_kept_loops(kernel);
  const bool is_row = is_inner_walk(kernel);
  const std::uint64_t warp_items =
      warp_size * static_cast<std::uint64_t>(scanned_items(kernel, variant));
  const auto extent = [&](std::size_t loop) {
    return static_cast<std::uint64_t>(nest.extents[loop]);
  };
  Tree tree;
  for (std::size_t loop = 0; loop < scan_loop; ++loop) tree.sets *= extent(loop);
  tree.inner = extent(inner_loop);
  tree.rows = extent(scan_loop);
  if (!is_row) {
    tree.parts = std::max<std::uint64_t>(quotient_up(tree.inner, warp_items), 1);
    tree.sets *= tree.inner == 0 ? 0 : tree.parts;
  }
  Share share;
  std::uint64_t least = 64, chunks = 2 * max_blocks;  // columns, by warps
  // A row is scanned by a warp where there are enough of them, or nothing for eight to do.
  if (is_row) {
    share.warps = tree.sets >= max_blocks || tree.rows <= 4 * warp_items ? 1 : warps_per_block;
    least = 2 * share.warps * warp_items;
    chunks = share.warps == 1 ? 1 : max_blocks / 4;
  }
  constexpr std::uint64_t most_chunks = 1024;  // whose totals are read once for each of them
  chunks =
      std::min({chunks / std::max<std::uint64_t>(tree.sets, 1), tree.rows / least, most_chunks});
  share.warp_leaves =
      quotient_up(std::max<std::uint64_t>(tree.rows, 1), std::max<std::uint64_t>(chunks, 1));
  if (is_row) share.warp_leaves = quotient_up(share.warp_leaves, warp_items) * warp_items;
  share.units_a_set = std::max<std::uint64_t>(quotient_up(tree.rows, share.warp_leaves), 1);
  if (tree.rows == 0) tree.sets = 0;
  Launches all;
  all.launches.push_back(launch_of(variant, nest, tree, share, max_blocks));
  if (share.units_a_set == 1) return all;
  const auto set_bytes = static_cast<std::uint64_t>(warp_size * kept_scan_items(kernel, variant) *
                                                    kept_bytes(accumulate_of(kernel, 0)));
  const std::uint64_t units = tree.sets * share.units_a_set;
  all.temporary_bytes = set_bytes * (is_row ? quotient_up(units, warp_size) : units);
  all.launches.push_back(all.launches[0]);
  all.launches[0].to_bytes = all.launches[1].from_bytes = 0;
  return all;
}

}  // namespace

Launches plan_launches(const Kernel& kernel, const Variant& variant, const Nest& nest,
                       std::uint64_t max_blocks) {
  if (ir::is_scan(kernel)) return plan_scan(kernel, variant, nest, max_blocks);
  Launches all;
  if (!ir::is_reduction(kernel)) {
    all.launches.push_back(plan_launch(kernel, variant, nest, max_blocks));
    return all;
  }
  const Tree tree(kernel, variant, nest);
  const Sets sets = sets_of(kernel, variant);
  std::uint64_t leaves = tree.leaves;
  for (std::int64_t from_bytes = -1;;) {
    const Share share =
        divide(tree.sets, leaves, from_bytes >= 0, sets.max_warp_leaves(), max_blocks);
    Launch& launch = all.launches.emplace_back(launch_of(variant, nest, tree, share, max_blocks));
    launch.from_bytes = from_bytes;
    leaves = share.units_a_set;
    if (leaves == 1) return all;
    launch.to_bytes = from_bytes = static_cast<std::int64_t>(all.temporary_bytes);
    all.temporary_bytes += tree.sets * leaves * static_cast<std::uint64_t>(sets.size_bytes);
  }
}

void place_partials(const Launch& launch, std::size_t num_operands, std::uint64_t address,
                    std::uint64_t* arguments) {
  const auto place = [&](std::int64_t bytes) {
    return bytes < 0 ? 0 : address + static_cast<std::uint64_t>(bytes);
  };
  arguments[num_operands] = place(launch.from_bytes);
  arguments[num_operands + 1] = place(launch.to_bytes);
}

}  // namespace weft::jit::nvrtc
