#include "engine/plan/launch.h"

#include "engine/tensor/dims.h"
#include "ir/vector_math.h"
#include "runtime/store_fence.h"

#include <weft/cancel.h>
#include <weft/parallel.h>
#include <weft/tuning.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <thread>

namespace weft {
namespace {

/// Up to so much a core's own caches hold.
constexpr std::int64_t near_bytes = std::int64_t{1} << 20;

/// What an instruction on one vector takes where nothing waits for it, and the interpreter's share
/// of an element.
constexpr double vector_instruction_ns = 0.2;
constexpr double interpreted_instruction_ns = 4;

/// What a call of a function takes for each element of four bytes, where it takes a vector of them,
/// and for one of any size where it takes one: complex functions.
constexpr double call_ns = 6, scalar_call_ns = 60;

/// Work that is worth a look at whether it is still wanted.
constexpr std::int64_t long_work_ns = 1'000'000;

/// Threads start at multiples of this many innermost elements, so that two never share a line of an
/// output.
constexpr std::int64_t inner_multiple = 64;

/// The iterations [begin, end) of one loop, as arguments of the kernel.
struct Part {
  std::array<std::byte*, ir::max_launch_operands> base;
  std::array<std::int64_t, ir::max_launch_loops> extents;

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
  // Code for the plan's shape wants whole rows, unless it is called once for all.
  const bool has_rows = extents[plan.extents.size() - 1] == plan.extents.back();
  const jit::EntryPoint& code = has_rows ? *plan.code : *plan.kernel;
  const jit::KernelArgs args{base, extents, plan.stride_bytes.data(), params, code.context()};
  code.entry()(&args);
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

/// Runs a part that takes long in pieces of its longest loop.  `token`: what the loop over parts
/// has looked at, and that over pieces does.
///
/// Errors: CancelledError.
void run_in_pieces(const LaunchPlan& plan, const Part& part, std::int64_t part_ns,
                   const CancellationToken& token, const Bits* params) {
  const std::span extents = std::span(part.extents).first(plan.extents.size());
  const auto longest = std::ranges::max_element(extents);
  const auto loop = static_cast<std::size_t>(longest - extents.begin());
  const std::int64_t unit = loop + 1 == extents.size() ? inner_multiple : 1;
  const auto run = [&](std::int64_t first_unit, std::int64_t last_unit) {
    const Part piece(plan, loop, part.base.data(), part.extents.data(), first_unit * unit,
                     std::min(last_unit * unit, *longest));
    run_blocks(plan, piece.base.data(), piece.extents.data(), params);
  };
  const CancellationScope scope(token);
  parallel_for(0, (*longest + unit - 1) / unit, 1, run, {1, part_ns});
}

/// About how long the functions that a kernel calls take for each element.
double calls_ns(const ir::Kernel& kernel) {
  double ns = 0;
  for (const ir::Inst& inst : std::span(kernel.body).subspan(kernel.num_hoisted)) {
    const bool is_part = is_part_function(inst.op);
    if (!is_part && ir::sleef_stem(inst.op).empty()) continue;
    ns += is_part || is_complex(inst.dtype)
              ? scalar_call_ns
              : call_ns * static_cast<double>(itemsize_bytes(inst.dtype)) / 4;
  }
  return ns;
}

/// About how long one thread takes: what is longer of moving the bytes and computing.
std::int64_t estimated_ns(const LaunchPlan& plan, const Tuning& tuning) {
  double numel = 1;
  for (const std::int64_t extent : plan.extents) numel *= static_cast<double>(extent);
  const ir::Kernel& kernel = plan.kernel->kernel();
  const double bytes_per_ns =
      static_cast<double>(plan.bytes <= near_bytes ? tuning.near_bytes_per_us
                                                   : tuning.far_bytes_per_us) /
      1000;
  // The plan outlives the code: what is compiled before long is worth compiled code's threads.
  const bool is_interpreted = plan.kernel->tier() == "interp" && !plan.kernel->has_next();
  const double instruction_ns = is_interpreted ? interpreted_instruction_ns
                                               : vector_instruction_ns / kernel.loops.back().lanes;
  const auto num_instructions = static_cast<double>(kernel.body.size() - kernel.num_hoisted);
  constexpr double most_ns = 0x1p62;
  return static_cast<std::int64_t>(
      std::min(most_ns, std::max(static_cast<double>(plan.bytes) / bytes_per_ns,
                                 numel * (num_instructions * instruction_ns + calls_ns(kernel)))));
}

/// The loop that threads share: the outermost that is long enough, else the longest.
std::size_t loop_to_cut(const LaunchPlan& plan) {
  constexpr std::int64_t long_enough = 64;
  const auto is_long = [](std::int64_t extent) { return extent >= long_enough; };
  auto loop = std::find_if(plan.extents.begin(), plan.extents.end(), is_long);
  if (loop == plan.extents.end()) loop = std::max_element(plan.extents.begin(), plan.extents.end());
  return static_cast<std::size_t>(loop - plan.extents.begin());
}

}  // namespace

void finish(LaunchPlan& plan, bool may_specialise) {
  const Tuning& tuning = current_tuning();
  const auto& operands = plan.kernel->kernel().operands;
  plan.num_operands = static_cast<int>(operands.size());
  const auto num_operands = operands.size();

  for (std::size_t i = 0; i < num_operands; ++i) {
    std::int64_t touched = static_cast<std::int64_t>(itemsize_bytes(operands[i].dtype));
    for (std::size_t loop = 0; loop < plan.extents.size(); ++loop)
      if (plan.stride_bytes[loop * num_operands + i] != 0)
        touched = saturating_product(touched, plan.extents[loop]);
    plan.bytes = saturating_sum(plan.bytes, touched);
  }
  plan.work_ns = estimated_ns(plan, tuning);
  const std::size_t cut_loop = loop_to_cut(plan);
  plan.cut_loop = static_cast<int>(cut_loop);
  const std::int64_t extent = plan.extents[cut_loop];
  // Fewer than two shares are none, so that no thread gets a small rest.
  const std::int64_t num_shares = std::max<std::int64_t>(plan.work_ns / tuning.thread_work_ns, 1);
  plan.cut_unit = cut_loop + 1 == plan.extents.size() ? inner_multiple : 1;
  const std::int64_t num_units = (extent + plan.cut_unit - 1) / plan.cut_unit;
  plan.grain = (num_units + num_shares - 1) / num_shares;
  const bool is_one_block = plan.block_extent == 0 || plan.extents.back() <= plan.block_extent;
  // Long calls come by launch_parts() whatever the number of threads, for they may be cancelled.
  const bool has_one_thread = plan.max_threads == 1 && plan.work_ns < long_work_ns;
  plan.is_single_call = is_one_block && (num_units <= plan.grain || has_one_thread);
  plan.code = plan.kernel;
  if (may_specialise && is_one_block)
    plan.code = jit::KernelCache::for_shape(plan.kernel, plan.extents, plan.is_single_call);
}

void launch_parts(const LaunchPlan& plan, std::byte* const* base, const Bits* params) {
  const auto loop = static_cast<std::size_t>(plan.cut_loop);
  const std::int64_t extent = plan.extents[loop];
  const std::int64_t num_units = (extent + plan.cut_unit - 1) / plan.cut_unit;
  const CancellationToken* const token = CancellationScope::current();
  const bool has_one_thread = plan.max_threads == 1 && token == nullptr;
  if (num_units <= plan.grain || has_one_thread)
    return run_blocks(plan, base, plan.extents.data(), params);
  const std::int64_t unit_ns = plan.work_ns / num_units;
  const bool is_unfenced = plan.kernel->kernel().is_unfenced;
  const std::thread::id caller = std::this_thread::get_id();
  const auto run = [&](std::int64_t first_unit, std::int64_t last_unit) {
    const Part part(plan, loop, base, plan.extents.data(), first_unit * plan.cut_unit,
                    std::min(last_unit * plan.cut_unit, extent));
    if (token != nullptr && unit_ns > long_work_ns)
      run_in_pieces(plan, part, (last_unit - first_unit) * unit_ns, *token, params);
    else
      run_blocks(plan, part.base.data(), part.extents.data(), params);
    // Who calls fences its own stores.
    if (is_unfenced && std::this_thread::get_id() != caller) store_fence();
  };
  parallel_for(0, num_units, plan.grain, run, {plan.max_threads, plan.work_ns});
}

}  // namespace weft
