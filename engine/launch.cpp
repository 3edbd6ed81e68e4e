#include "engine/launch.h"

#include "runtime/parallel.h"

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

void launch_range(const LaunchPlan& plan, std::byte* const* base, const Bits* params,
                  std::int64_t begin, std::int64_t end) {
  std::array<std::byte*, 64> moved;
  const auto loop = static_cast<std::size_t>(plan.cut_loop);
  const auto num_operands = static_cast<std::size_t>(plan.num_operands);
  for (std::size_t i = 0; i < num_operands; ++i)
    moved[i] = base[i] + begin * plan.stride_bytes[loop * num_operands + i];
  std::array<std::int64_t, 64> extents;
  std::copy(plan.extents.begin(), plan.extents.end(), extents.begin());
  extents[loop] = end - begin;
  const jit::KernelArgs args{moved.data(), extents.data(), plan.stride_bytes.data(), params,
                             plan.context};
  plan.entry(&args);
}

}  // namespace

void finish(LaunchPlan& plan) {
  plan.entry = plan.kernel->code->entry;
  plan.context = plan.kernel->code->context;
  const auto& operands = plan.kernel->kernel.operands;
  plan.num_operands = static_cast<int>(operands.size());
  const auto num_operands = operands.size();

  std::int64_t numel = 1;
  for (const std::int64_t extent : plan.extents) numel *= extent;
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
}

void launch(const LaunchPlan& plan, std::byte* const* base, const Bits* params) {
  const std::int64_t extent = plan.extents[static_cast<std::size_t>(plan.cut_loop)];
  if (extent <= plan.grain) {
    const jit::KernelArgs args{base, plan.extents.data(), plan.stride_bytes.data(), params,
                               plan.context};
    plan.entry(&args);
    return;
  }
  parallel_for(0, extent, plan.grain, [&](std::int64_t begin, std::int64_t end) {
    launch_range(plan, base, params, begin, end);
  });
}

}  // namespace weft
