#include "engine/scan_plan.h"

#include "engine/planner.h"
#include "engine/tensor_impl.h"
#include "jit/fold/block_scan.h"
#include "jit/fold/scan.h"

#include <weft/cancel.h>
#include <weft/error.h>
#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

namespace weft {
namespace {

/// What one core scans in a nanosecond, about.
constexpr std::int64_t elements_per_ns = 1;

struct ScanPlan {
  jit::Scan scan;
  jit::PlaceScan places = nullptr;  ///< FoldForm::scan_index
  jit::BlockScan blocks;            ///< of long rows; without loops otherwise
  std::int64_t count = 1;           ///< elements that are scanned into one another
  bool is_reverse = false;
  std::int64_t stride_bytes[2] = {0, 0};  ///< along them: output, input
  std::vector<FoldDim> rest;              ///< fastest first, never empty
  std::int64_t num_rest = 1;              ///< of the dimensions behind rest[0]
  int max_threads = 0;
};

/// A row as blocks, from number `first` on.
std::array<jit::ScanOperand, 2> blocks_of(const jit::ScanOperand* row, std::int64_t first) {
  std::array<jit::ScanOperand, 2> blocks{row[0], row[1]};
  for (jit::ScanOperand& operand : blocks) {
    operand.row_stride_bytes = jit::scan_block_elements * operand.stride_bytes;
    operand.data += first * operand.row_stride_bytes;
  }
  return blocks;
}

/// Combines the totals of blocks with what comes before the first; leaves what comes before each,
/// and returns what comes before the next.
jit::BlockScan::Kept pass_on(const jit::BlockScan& loops, jit::BlockScan::Kept before,
                             std::span<jit::BlockScan::Kept> totals) {
  for (jit::BlockScan::Kept& total : totals)
    before = loops.combine(std::exchange(total, before), before);
  return before;
}

/// One row after the other, in the caller's thread.  The totals of some blocks bring them into the
/// cache, where they are scanned.
void run_long_rows(const ScanPlan& plan, const jit::ScanOperand* rows, std::int64_t num_rows,
                   const CancellationToken* token) {
  constexpr std::int64_t together = jit::scan_blocks_together;
  const std::int64_t num_whole = plan.count / jit::scan_block_elements;
  jit::ScanOperand row[2] = {rows[0], rows[1]};
  for (std::int64_t i = 0; i < num_rows; ++i) {
    jit::BlockScan::Kept before = plan.blocks.identity;
    for (std::int64_t block = 0; block < num_whole; block += together) {
      if (token != nullptr) token->throw_if_cancelled();
      const auto [to, from] = blocks_of(row, block);
      const std::int64_t count = std::min(together, num_whole - block);
      std::array<jit::BlockScan::Kept, together> kept;
      plan.blocks.totals(kept.data(), from, count, jit::scan_block_elements);
      before = pass_on(plan.blocks, before, std::span(kept).first(static_cast<std::size_t>(count)));
      plan.blocks.run(kept.data(), to, from, count, jit::scan_block_elements);
    }
    const auto [to, from] = blocks_of(row, num_whole);
    plan.blocks.run(&before, to, from, 1, plan.count % jit::scan_block_elements);
    for (jit::ScanOperand& operand : row) operand.data += operand.row_stride_bytes;
  }
}

/// One row by several threads: first all totals, then the scans.
void share_long_row(const ScanPlan& plan, const jit::ScanOperand* row) {
  const std::int64_t num_whole = plan.count / jit::scan_block_elements;
  const ParallelOptions options{plan.max_threads, plan.count / elements_per_ns};
  std::vector<jit::BlockScan::Kept> kept(static_cast<std::size_t>(num_whole) + 1);
  const auto total = [&](std::int64_t begin, std::int64_t end) {
    const std::array<jit::ScanOperand, 2> blocks = blocks_of(row, begin);
    plan.blocks.totals(kept.data() + begin, blocks[1], end - begin, jit::scan_block_elements);
  };
  parallel_for(0, num_whole, jit::scan_blocks_together, total, options);
  kept.back() = pass_on(plan.blocks, plan.blocks.identity, std::span(kept).first(kept.size() - 1));
  const auto scan = [&](std::int64_t begin, std::int64_t end) {
    const std::array<jit::ScanOperand, 2> blocks = blocks_of(row, begin);
    plan.blocks.run(kept.data() + begin, blocks[0], blocks[1], end - begin,
                    jit::scan_block_elements);
  };
  parallel_for(0, num_whole, jit::scan_blocks_together, scan, options);
  const std::array<jit::ScanOperand, 2> last = blocks_of(row, num_whole);
  plan.blocks.run(&kept.back(), last[0], last[1], 1, plan.count % jit::scan_block_elements);
}

/// Where row number `row` of rest[0] lies, at number `outer` of the other dimensions.
std::array<jit::ScanOperand, 2> row_at(const ScanPlan& plan, std::byte* const* base,
                                       std::int64_t outer, std::int64_t row) {
  std::array<jit::ScanOperand, 2> operands;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t row_stride = plan.rest[0].stride_bytes[i];
    operands[i] = {base[i] + row * row_stride, row_stride, plan.stride_bytes[i]};
    std::int64_t linear = outer;
    for (std::size_t dim = 1; dim < plan.rest.size(); ++dim) {
      operands[i].data += linear % plan.rest[dim].extent * plan.rest[dim].stride_bytes[i];
      linear /= plan.rest[dim].extent;
    }
    if (!plan.is_reverse) continue;
    operands[i].data += (plan.count - 1) * plan.stride_bytes[i];
    operands[i].stride_bytes = -plan.stride_bytes[i];
  }
  return operands;
}

/// Rows [begin, end) of rest[0], at number `outer` of the other dimensions.
void run_rows(const ScanPlan& plan, std::byte* const* base, std::int64_t outer, std::int64_t begin,
              std::int64_t end, const CancellationToken* token) {
  const auto [to, from] = row_at(plan, base, outer, begin);
  const std::int64_t first = plan.is_reverse ? plan.count - 1 : 0, step = plan.is_reverse ? -1 : 1;
  if (plan.blocks.run != nullptr) {
    const jit::ScanOperand row[2] = {to, from};
    run_long_rows(plan, row, end - begin, token);
  } else if (plan.places != nullptr) {
    plan.places(to, from, end - begin, plan.count, first, step, token);
  } else {
    plan.scan.run(plan.scan, to, from, end - begin, plan.count, token);
  }
  if (token != nullptr) token->throw_if_cancelled();
}

void run_scan(const ScanPlan& plan, std::byte* const* base) {
  const std::int64_t num_rows = plan.rest[0].extent;
  const std::int64_t work_ns = num_rows * plan.num_rest * plan.count / elements_per_ns;
  const std::int64_t worth = std::max<std::int64_t>(work_ns / fold_worth_a_thread_ns, 1);
  const std::int64_t total = num_rows * plan.num_rest;
  const int threads = plan.max_threads > 0 ? plan.max_threads : num_threads();
  if (plan.blocks.run != nullptr && threads > 1 && total < threads) {
    for (std::int64_t row = 0; row < total; ++row)
      share_long_row(plan, row_at(plan, base, row / num_rows, row % num_rows).data());
    return;
  }
  // The loop over rows can't cut one, and its threads are in no scope.
  const CancellationToken* const token = CancellationScope::current();
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t row = begin % num_rows;
      const std::int64_t rows = std::min(end - begin, num_rows - row);
      run_rows(plan, base, begin / num_rows, row, row + rows, token);
      begin += rows;
    }
  };
  parallel_for(0, total, (total + worth - 1) / worth, run, {plan.max_threads, work_ns});
}

ScanPlan make_plan(const ExprNode& node, const Tensor& output, const Tensor& input, FoldOrder order,
                   Isa isa, int max_threads) {
  ScanPlan plan;
  plan.scan = jit::make_scan(node.op, node.compute_dtype, isa);
  if (node.fold->form == FoldForm::scan_index)
    plan.places = jit::make_place_scan(node.op, node.compute_dtype);
  plan.is_reverse = node.fold->is_reverse;
  plan.max_threads = max_threads;

  ScanLoops loops = scan_loops_of(node, output, std::span(&input, 1));
  plan.count = loops.scanned.extent;
  for (std::size_t i = 0; i < 2; ++i) plan.stride_bytes[i] = loops.scanned.stride_bytes[i];
  plan.rest = std::move(loops.rest);
  for (std::size_t dim = 1; dim < plan.rest.size(); ++dim) plan.num_rest *= plan.rest[dim].extent;
  // Neighbours are scanned as vectors.  Whether rows are some depends on the layout.
  const bool are_neighbours =
      plan.rest[0].extent > 1 &&
      plan.rest[0].stride_bytes[1] == static_cast<std::int64_t>(itemsize_bytes(input.dtype()));
  const bool is_long = plan.count >= jit::long_scan_elements && !are_neighbours;
  if (is_long && plan.places == nullptr && order == FoldOrder::by_layout)
    plan.blocks = jit::block_scan(node.op, node.compute_dtype);
  return plan;
}

}  // namespace

ScanLoops scan_loops_of(const ExprNode& node, const Tensor& output,
                        std::span<const Tensor> inputs) {
  const std::size_t num_operands = 1 + inputs.size();
  const FoldDim one{1, std::vector<std::int64_t>(num_operands)};
  ScanLoops loops{one, {}};
  std::vector<Tensor> rest{output};
  for (const Tensor& input : inputs) rest.push_back(input.expand(output.sizes()));
  if (node.fold->dims != 0) {
    const int dim = std::countr_zero(node.fold->dims);
    loops.scanned.extent = output.size(dim);
    for (std::size_t i = 0; i < num_operands; ++i) {
      loops.scanned.stride_bytes[i] =
          stride_in_bytes(rest[i].stride(dim), rest[i].size(dim),
                          static_cast<std::int64_t>(itemsize_bytes(rest[i].dtype())));
      rest[i] = rest[i].select(dim, 0);
    }
  }
  TensorIteratorConfig config;
  config.check_all_same_dtype(false).resize_outputs(false).set_check_mem_overlap(false);
  config.check_all_same_device(false);  // what has no dimensions may be a number of the CPU
  config.add_output(rest[0]);
  for (std::size_t i = 1; i < num_operands; ++i) config.add_input(rest[i]);
  const TensorIterator iterator = config.build();
  for (std::size_t dim = 0; dim < iterator.shape().size(); ++dim) {
    FoldDim& made = loops.rest.emplace_back();
    made.extent = iterator.shape()[dim];
    for (std::size_t i = 0; i < num_operands; ++i)
      made.stride_bytes.push_back(iterator.stride_bytes(static_cast<int>(i))[dim]);
  }
  if (loops.rest.empty()) loops.rest.push_back(one);
  return loops;
}

std::function<void(std::byte* const* base)> plan_scan(const ExprNode& node, const Tensor& output,
                                                      const Tensor& input, FoldOrder order,
                                                      const PlannerOptions& options) {
  ScanPlan plan = make_plan(node, output, input, order, options.features.isa, options.num_threads);
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(input.dtype()));
  plan.scan.streams = output.numel() > options.streaming_bytes / (2 * itemsize);
  return [plan = std::move(plan)](std::byte* const* base) { run_scan(plan, base); };
}

std::vector<PrecompiledLoop> scan_loops(const ExprNode& node, const Tensor& output,
                                        const Tensor& input, FoldOrder order, Isa isa) {
  const ScanPlan plan = make_plan(node, output, input, order, isa, 1);
  std::vector<PrecompiledLoop> loops;
  const auto add = [&](std::string_view function, Isa compiled_for, auto entry,
                       const char* purpose) {
    loops.push_back({detail::concat(function, ", ", name(node.op), " ", name(node.compute_dtype)),
                     compiled_for, reinterpret_cast<const void*>(entry), purpose});
  };
  if (plan.blocks.run != nullptr) {
    add("BlockLoops::run of jit/fold/block_scan.cpp", Isa::generic, plan.blocks.run,
        "scans blocks of a row, side by side");
    add("BlockLoops::totals of jit/fold/block_scan.cpp", Isa::generic, plan.blocks.totals,
        "before that finds what comes before each block");
  } else if (plan.places != nullptr) {
    add("run_places of jit/fold/scan.cpp", Isa::generic, plan.places,
        "keeps where the extremum so far is");
  } else {
    add(plan.scan.source, plan.scan.isa, plan.scan.run, "scans rows, several at a time");
    if (plan.scan.calls_row)
      add("the row of ir/include/weft/ops.def", Isa::generic, plan.scan.combine,
          "which that calls for each element");
  }
  return loops;
}

}  // namespace weft
