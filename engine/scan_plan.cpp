#include "engine/scan_plan.h"

#include "jit/fold/scan.h"

#include <weft/parallel.h>

#include <algorithm>
#include <bit>

namespace weft {
namespace {

constexpr std::int64_t work_worth_a_thread_ns = 2000;
/// What one core scans in a nanosecond, about.
constexpr std::int64_t elements_per_ns = 1;

struct ScanPlan {
  jit::Scan scan;
  jit::PlaceScan places = nullptr;  ///< FoldForm::scan_index
  std::int64_t count = 1;           ///< elements that are scanned into one another
  bool is_reverse = false;
  std::int64_t stride_bytes[2] = {0, 0};  ///< along them: output, input
  std::vector<FoldDim> rest;              ///< fastest first, never empty
  std::int64_t num_rest = 1;              ///< of the dimensions behind rest[0]
  int max_threads = 0;
};

/// Rows [begin, end) of rest[0], at number `outer` of the other dimensions.
void run_rows(const ScanPlan& plan, std::byte* const* base, std::int64_t outer, std::int64_t begin,
              std::int64_t end) {
  jit::ScanOperand operands[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t row_stride = plan.rest[0].stride_bytes[i];
    operands[i] = {base[i] + begin * row_stride, row_stride, plan.stride_bytes[i]};
    std::int64_t linear = outer;
    for (std::size_t dim = 1; dim < plan.rest.size(); ++dim) {
      operands[i].data += linear % plan.rest[dim].extent * plan.rest[dim].stride_bytes[i];
      linear /= plan.rest[dim].extent;
    }
    if (!plan.is_reverse) continue;
    operands[i].data += (plan.count - 1) * plan.stride_bytes[i];
    operands[i].stride_bytes = -plan.stride_bytes[i];
  }
  if (plan.places == nullptr)
    return plan.scan.run(plan.scan, operands[0], operands[1], end - begin, plan.count);
  const std::int64_t first = plan.is_reverse ? plan.count - 1 : 0;
  plan.places(operands[0], operands[1], end - begin, plan.count, first, plan.is_reverse ? -1 : 1);
}

void run_scan(const ScanPlan& plan, std::byte* const* base) {
  const std::int64_t num_rows = plan.rest[0].extent;
  const std::int64_t work_ns = num_rows * plan.num_rest * plan.count / elements_per_ns;
  const std::int64_t worth = std::max<std::int64_t>(work_ns / work_worth_a_thread_ns, 1);
  const std::int64_t total = num_rows * plan.num_rest;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t row = begin % num_rows;
      const std::int64_t rows = std::min(end - begin, num_rows - row);
      run_rows(plan, base, begin / num_rows, row, row + rows);
      begin += rows;
    }
  };
  parallel_for(0, total, (total + worth - 1) / worth, run, {plan.max_threads, work_ns});
}

}  // namespace

std::function<void(std::byte* const* base)> plan_scan(const ExprNode& node, const Tensor& output,
                                                      const Tensor& input, Isa isa,
                                                      int max_threads) {
  ScanPlan plan;
  plan.scan = jit::make_scan(node.op, node.compute_dtype, isa);
  if (node.fold->form == FoldForm::scan_index)
    plan.places = jit::make_place_scan(node.op, node.compute_dtype);
  plan.is_reverse = node.fold->is_reverse;
  plan.max_threads = max_threads;

  Tensor rest[2] = {output, input};
  if (node.fold->dims != 0) {
    const int dim = std::countr_zero(node.fold->dims);
    plan.count = input.size(dim);
    for (std::size_t i = 0; i < 2; ++i) {
      plan.stride_bytes[i] =
          rest[i].stride(dim) * static_cast<std::int64_t>(itemsize_bytes(rest[i].dtype()));
      rest[i] = rest[i].select(dim, 0);
    }
  }
  TensorIteratorConfig config;
  config.check_all_same_dtype(false).resize_outputs(false).set_check_mem_overlap(false);
  const TensorIterator iterator = config.add_output(rest[0]).add_input(rest[1]).build();
  for (std::size_t dim = 0; dim < iterator.shape().size(); ++dim)
    plan.rest.push_back(
        {iterator.shape()[dim], {iterator.stride_bytes(0)[dim], iterator.stride_bytes(1)[dim]}});
  if (plan.rest.empty()) plan.rest.push_back({1, {0, 0}});
  for (std::size_t dim = 1; dim < plan.rest.size(); ++dim) plan.num_rest *= plan.rest[dim].extent;
  return [plan = std::move(plan)](std::byte* const* base) { run_scan(plan, base); };
}

}  // namespace weft
