#include "engine/launch.h"

#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace weft {
namespace {

/// Bytes of work below which a second thread costs more than it brings: waking a sleeping worker
/// takes about 22 us, in which one core moves some hundred KiB through its cache.
constexpr std::int64_t bytes_worth_a_thread = 1 << 19;

/// Threads start at multiples of this many innermost elements, so that two never share a line of an
/// output.
constexpr std::int64_t inner_multiple = 64;

/// c128 moves add a loop to the 64 dimensions of a tensor.
constexpr std::size_t max_loops = 65;
constexpr std::size_t max_operands = 64;

/// The iterations [begin, end) of one loop, as arguments of the kernel.
struct Part {
  std::array<std::byte*, max_operands> base;
  std::array<std::int64_t, max_loops> extents;

  Part(const LaunchPlan& plan, std::size_t loop, std::byte* const* whole_base,
       const std::int64_t* whole_extents, std::int64_t begin, std::int64_t end) {
    const auto num_operands = static_cast<std::size_t>(plan.num_operands);
    for (std::size_t i = 0; i < num_operands; ++i)
      base[i] = whole_base[i] + begin * plan.stride_bytes[loop * num_operands + i];
    std::copy_n(whole_extents, plan.extents.size(), extents.begin());
    extents[loop] = end - begin;
  }
};

void run_kernel(const LaunchPlan& plan, std::byte* const* base, const std::int64_t* extents,
                const Bits* params) {
  const jit::KernelArgs args{base, extents, plan.stride_bytes.data(), params,
                             plan.kernel->context()};
  plan.kernel->entry()(&args);
}

/// Runs the kernel on all iterations, block by block if the plan says so.
void run_blocks(const LaunchPlan& plan, std::byte* const* base, const std::int64_t* extents,
                const Bits* params) {
  const std::size_t inner = plan.extents.size() - 1;
  if (plan.block_extent == 0 || extents[inner] <= plan.block_extent)
    return run_kernel(plan, base, extents, params);
  for (std::int64_t begin = 0; begin < extents[inner]; begin += plan.block_extent) {
    const Part part(plan, inner, base, extents, begin,
                    std::min(begin + plan.block_extent, extents[inner]));
    run_kernel(plan, part.base.data(), part.extents.data(), params);
  }
}

}  // namespace

void finish(LaunchPlan& plan) {
  const auto& operands = plan.kernel->kernel().operands;
  plan.num_operands = static_cast<int>(operands.size());
  const auto num_operands = operands.size();

  for (std::size_t i = 0; i < num_operands; ++i) {
    std::int64_t touched = static_cast<std::int64_t>(itemsize_bytes(operands[i].dtype));
    for (std::size_t loop = 0; loop < plan.extents.size(); ++loop)
      if (plan.stride_bytes[loop * num_operands + i] != 0) touched *= plan.extents[loop];
    plan.bytes += touched;
  }
  // The outermost loop that is long enough to be shared; else the longest.
  const auto longest =
      std::max_element(plan.extents.begin(), plan.extents.end()) - plan.extents.begin();
  plan.cut_loop = static_cast<int>(longest);
  for (std::size_t loop = 0; loop < plan.extents.size(); ++loop)
    if (plan.extents[loop] >= 64) {
      plan.cut_loop = static_cast<int>(loop);
      break;
    }
  const std::int64_t extent = plan.extents[static_cast<std::size_t>(plan.cut_loop)];
  const std::int64_t iterations_a_byte =
      std::max<std::int64_t>(plan.bytes / std::max<std::int64_t>(extent, 1), 1);
  plan.grain = std::max<std::int64_t>(bytes_worth_a_thread / iterations_a_byte, 1);
  if (plan.cut_loop + 1 == static_cast<int>(plan.extents.size()))
    plan.grain = (plan.grain + inner_multiple - 1) / inner_multiple * inner_multiple;
  // parallel_for() makes chunks of at least the grain, so this bounds their number.
  if (plan.max_threads > 0)
    plan.grain = std::max(plan.grain, (extent + plan.max_threads - 1) / plan.max_threads);
  const bool is_one_block = plan.block_extent == 0 || plan.extents.back() <= plan.block_extent;
  plan.is_single_call = is_one_block && (extent <= plan.grain || plan.max_threads == 1);
}

void launch_parts(const LaunchPlan& plan, std::byte* const* base, const Bits* params) {
  const auto loop = static_cast<std::size_t>(plan.cut_loop);
  const std::int64_t extent = plan.extents[loop];
  if (extent <= plan.grain || plan.max_threads == 1)
    return run_blocks(plan, base, plan.extents.data(), params);
  parallel_for(0, extent, plan.grain, [&](std::int64_t begin, std::int64_t end) {
    const Part part(plan, loop, base, plan.extents.data(), begin, end);
    run_blocks(plan, part.base.data(), part.extents.data(), params);
  });
}

}  // namespace weft
