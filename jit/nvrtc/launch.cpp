#include "jit/nvrtc/launch.h"

#include "jit/nvrtc/body.h"
#include "jit/nvrtc/reduce.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;

/// Whether an operand is moved in groups, and the loop along which they lie.
bool has_groups(const Kernel& kernel, std::size_t operand, std::size_t& loop) {
  const ir::Operand& given = kernel.operands[operand];
  loop = kernel.loops.size() - 1;
  if (is_dense(given)) return true;
  if (kernel.schedule != ir::Schedule::tile || !ir::is_transposed(given)) return false;
  --loop;
  return true;
}

/// One launch seen loop by loop.
class Walk {
 public:
  Walk(const Kernel& kernel, const Nest& nest)
      : kernel_(kernel), nest_(nest), inner_(kernel.loops.size() - 1) {}

  bool is_tile() const { return kernel_.schedule == ir::Schedule::tile; }
  std::uint64_t extent(std::size_t loop) const {
    return static_cast<std::uint64_t>(nest_.extents[loop]);
  }
  std::uint64_t extent_inner() const { return extent(inner_); }
  std::uint64_t extent_rows() const { return inner_ > 0 ? extent(inner_ - 1) : 1; }
  std::uint64_t extent_batches() const { return inner_ > 1 ? extent(inner_ - 2) : 1; }

  /// How many steps a loop takes: vectors and sides of tiles count as one.  Reductions count items.
  std::uint64_t count(std::size_t loop, const Variant& variant) const {
    if (reduces_or_scans(kernel_)) return extent(loop);
    const auto step = static_cast<std::uint64_t>(loop_step(kernel_, variant, loop));
    // What fills no vector of a single row is done one by one; several rows are whole vectors.
    return is_tile() ? quotient_up(extent(loop), step) : extent(loop) / step;
  }
  std::uint64_t work(const Variant& variant) const {
    std::uint64_t product = 1;
    for (std::size_t loop = 0; loop <= inner_; ++loop) product *= count(loop, variant);
    return product;
  }

  /// Whether all accesses of so many items are whole and aligned.
  bool takes(int items) const {
    const auto count = static_cast<std::uint64_t>(items);
    if (is_tile()) {
      // Groups are whole, so that none needs a bound of its own.
      if (extent_inner() % count != 0 || extent_rows() % count != 0) return false;
    } else if (inner_ > 0 && extent_inner() % count != 0 && !goes_item_by_item()) {
      return false;
    }
    if (items == 1) return true;  // elements have halves
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (!is_aligned(k, items)) return false;
    return true;
  }

  /// Whether some operand has elements at multiples of half their size only.
  bool needs_halves() const {
    bool needs = false;
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k) {
      const DType dtype = kernel_.operands[k].dtype;
      const auto itemsize = static_cast<std::uint64_t>(itemsize_bytes(dtype));
      const std::uint64_t common = address_bits(k);
      if (common % itemsize == 0) continue;
      WEFT_CHECK(common % (itemsize / 2) == 0, UnsupportedError, "$", k, " has ", name(dtype),
                 " elements at multiples of ", common & (~common + 1), " bytes; devices need ",
                 itemsize / 2, " or ", itemsize);
      needs = true;
    }
    return needs;
  }

  bool fits_32_bits(const Variant& variant) const {
    constexpr std::int64_t limit = std::int64_t{1} << 31;
    const auto is_small = [](std::int64_t number) { return std::abs(number) < limit; };
    // Of nothing that is reduced there may be more results than there is work.
    return std::ranges::find(nest_.extents, 0) == nest_.extents.end() &&
           work(variant) < static_cast<std::uint64_t>(limit) &&
           std::ranges::all_of(nest_.extents, is_small) &&
           std::ranges::all_of(nest_.stride_bytes, is_small);
  }

 private:
  /// Whether what fills no vector at the end of a row is done item by item in all rows.
  bool goes_item_by_item() const { return reduces_or_scans(kernel_) && is_inner_walk(kernel_); }

  /// A number that is a multiple of those powers of two that all addresses of an operand are
  /// multiples of.
  std::uint64_t address_bits(std::size_t operand) const {
    std::uint64_t bits = nest_.base[operand];
    for (std::size_t loop = 0; loop <= inner_; ++loop)
      if (nest_.extents[loop] > 1)
        bits |= static_cast<std::uint64_t>(
            nest_.stride_bytes[loop * kernel_.operands.size() + operand]);
    return bits;
  }

  bool is_aligned(std::size_t operand, int items) const {
    std::size_t dense = 0;
    if (!has_groups(kernel_, operand, dense)) return true;
    const auto bytes =
        static_cast<std::int64_t>(itemsize_bytes(kernel_.operands[operand].dtype)) * items;
    if (nest_.base[operand] % static_cast<std::uint64_t>(bytes) != 0) return false;
    for (std::size_t loop = 0; loop <= inner_; ++loop)
      if (loop != dense && nest_.extents[loop] > 1 &&
          nest_.stride_bytes[loop * kernel_.operands.size() + operand] % bytes != 0)
        return false;
    return true;
  }

  const Kernel& kernel_;
  const Nest& nest_;
  std::size_t inner_;
};

}  // namespace

Divisor make_divisor(std::uint64_t divisor, int index_bits) {
  using Wide = unsigned __int128;
  const auto shift = static_cast<std::uint64_t>(std::bit_width(divisor - 1));
  const Wide scaled = ((Wide{1} << shift) - divisor) << index_bits;
  return {divisor, static_cast<std::uint64_t>(scaled / divisor) + 1, shift};
}

std::vector<std::uint64_t> grouped_item_bytes(const Kernel& kernel) {
  std::vector<std::uint64_t> bytes;
  for (std::size_t k = 0; k < kernel.operands.size(); ++k) {
    std::size_t loop = 0;
    bytes.push_back(has_groups(kernel, k, loop) ? itemsize_bytes(kernel.operands[k].dtype) : 0);
  }
  return bytes;
}

Variant choose_variant(const Kernel& kernel, const Nest& nest) {
  const Walk walk(kernel, nest);
  Variant variant;
  variant.items = most_items(kernel);
  while (variant.items > 1 && !walk.takes(variant.items)) variant.items /= 2;
  if (walk.is_tile())
    variant.tile = choose_tile(kernel, variant.items, walk.extent_rows(), walk.extent_inner(),
                               walk.extent_batches());
  variant.index_bits = walk.fits_32_bits(variant) ? 32 : 64;
  variant.halves = walk.needs_halves();
  return variant;
}

std::uint64_t max_blocks_for(const Kernel& kernel, int num_multiprocessors) {
  constexpr std::uint64_t blocks_a_multiprocessor = 16;
  return reduces_or_scans(kernel)
             ? static_cast<std::uint64_t>(num_multiprocessors) * blocks_a_multiprocessor
             : most_blocks;
}

Launch plan_launch(const Kernel& kernel, const Variant& variant, const Nest& nest,
                   std::uint64_t max_blocks) {
  const Walk walk(kernel, nest);
  const std::uint64_t work = walk.work(variant);
  WEFT_ASSERT(walk.takes(variant.items) && (variant.halves || !walk.needs_halves()),
              "not aligned: ", text(variant));
  Launch launch;
  const auto per_block = static_cast<std::uint64_t>(
      walk.is_tile() ? 1 : threads_per_block * vectors_in_flight(kernel, variant.items));
  launch.blocks = std::clamp<std::uint64_t>(quotient_up(work, per_block), 1, max_blocks);
  launch.arguments = nest.base;
  for (const std::int64_t stride : nest.stride_bytes)
    launch.arguments.push_back(static_cast<std::uint64_t>(stride));
  launch.arguments.insert(launch.arguments.end(),
                          {work, walk.extent_inner(), walk.extent_rows(), walk.extent_batches()});
  for (std::size_t loop = kernel.loops.size(); loop-- > 1;) {
    // Where there is no work, nothing is divided.
    const std::uint64_t count = std::max<std::uint64_t>(walk.count(loop, variant), 1);
    const Divisor divisor = make_divisor(count, variant.index_bits);
    launch.arguments.insert(launch.arguments.end(),
                            {divisor.divisor, divisor.magic, divisor.shift});
  }
  for (const Bits& param : nest.params)
    launch.arguments.insert(launch.arguments.end(), {param.lo, param.hi});
  return launch;
}

}  // namespace weft::jit::nvrtc
