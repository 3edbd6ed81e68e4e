#include "engine/scan/scan_plan.h"

#include "engine/expression/program.h"
#include "engine/fold/fold_call.h"
#include "engine/plan/planner.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace weft {
namespace {

/// A contiguous tensor without data: what is scanned, if it were written.
Tensor as_written(const ExprNode& node) {
  return contiguous_layout(node.fold->arg_sizes, node.compute_dtype);
}

/// Whether rows are long enough for blocks.  Those that are neighbours are scanned as vectors, and
/// others that lie between one another's elements together, as one after the other would go through
/// all memory again.  Both depend on the layout of what is scanned.
bool takes_blocks(const ScanLoops& loops, std::int64_t itemsize) {
  const FoldDim& fastest = loops.rest[0];
  const std::int64_t stride_bytes = std::abs(fastest.stride_bytes[1]);
  const bool are_together =
      fastest.extent > 1 &&
      (stride_bytes == itemsize || stride_bytes < std::abs(loops.scanned.stride_bytes[1]));
  return loops.scanned.extent >= jit::long_scan_elements && !are_together;
}

/// Calls of the loops for fewer elements cost more than what they do.
constexpr std::int64_t few_elements = 64;

/// Takes the fastest dimension aside if one call would have too few elements along it, and more
/// along another.
void set_beside(ScanPlan& plan) {
  const auto longest = std::ranges::max_element(plan.rest, {}, &FoldDim::extent);
  if (plan.rest[0].extent * plan.scanned.extent >= few_elements || longest == plan.rest.begin())
    return;
  plan.beside = std::exchange(plan.rest[0], std::move(*longest));
  plan.rest.erase(longest);
}

/// Whether rows are better scanned one after the other: short ones, of which processors are at
/// several at once by themselves.  Of longer ones several at a time gain, as sums wait for one
/// another; but from memory each is a stream, too short to be read ahead.  Neighbours are scanned
/// as vectors, if they fill one.
bool prefers_single_rows(const ScanPlan& plan, std::int64_t num_elements,
                         const CpuFeatures& features) {
  constexpr std::int64_t few_neighbours = 4, few = 16, most_bytes = 2048;
  constexpr std::int64_t fewer_than_lanes = 7;  // AVX2's stores under a mask are slow
  const FoldDim &rows = plan.rest[0], &scanned = plan.scanned;
  const auto is_dense = [&](const FoldDim& dim) {
    return dim.stride_bytes[0] == plan.itemsize && dim.stride_bytes[1] == plan.itemsize;
  };
  if (is_dense(rows) && rows.extent > 1) return rows.extent < few_neighbours;
  const bool has_lanes = plan.scan.dtype == DType::f32 && features.isa >= Isa::avx2 &&
                         is_dense(scanned) && rows.extent > 1;
  if (has_lanes) return features.isa == Isa::avx2 && scanned.extent <= fewer_than_lanes;
  const bool is_cached = num_elements <= features.l3_bytes / 4 / plan.itemsize;
  return scanned.extent <= (is_cached ? few : most_bytes / plan.itemsize);
}

/// Looks for code for the whole scan.  Long rows are scanned in blocks, whose totals decide bits.
void find_kernel(ScanPlan& plan, const ExprNode& node, const Program& program, const Tensor& output,
                 std::span<const Tensor> inputs, const PlannerOptions& options,
                 jit::KernelCache& kernels) {
  const bool may_compile = options.backend == "auto" || options.backend == "llvm";
  if (!may_compile || plan.blocks.run != nullptr || plan.places != nullptr) return;
  LoweredScan scan = lower_scan(node, program, output, inputs, options.numerics);
  auto kernel = kernels.get(signature_of(scan.lowered->kernel, options));
  if (kernel->folding_code() == nullptr && !kernel->has_next()) return;
  plan.kernel = std::move(kernel);
  plan.kernel_strides = std::move(scan.lowered->stride_bytes);
  plan.first_bytes = std::move(scan.first_bytes);
}

/// Little of what is scanned goes through the first cache, in memory of the stack; much of it
/// through the second, in longer runs.
constexpr std::int64_t few_bytes = 256 << 10, long_buffer_bytes = 64 << 10;
/// Columns whose partial results stay in the second cache.
constexpr std::int64_t max_columns = 8192;
/// Rows that the loops scan together.
constexpr std::int64_t rows_together = 8;

/// How much of what is scanned is computed at once.
void plan_buffer(ScanPlan& plan) {
  const std::int64_t num_rows = plan.rest[0].extent, count = plan.scanned.extent;
  const std::int64_t bytes = num_rows * plan.num_rest * count * plan.itemsize;
  const std::int64_t room =
      (bytes <= few_bytes ? fold_buffer_bytes : long_buffer_bytes) / plan.itemsize;
  const auto up_to = [](std::int64_t value, std::int64_t most) {
    return std::clamp<std::int64_t>(value, 1, most);
  };
  if (plan.maps_columns) {
    const std::int64_t strips = (num_rows + max_columns - 1) / max_columns;
    plan.rows_at_once = (num_rows + strips - 1) / strips;
    plan.elements_at_once = up_to(room / plan.rows_at_once, count);
  } else {
    const std::int64_t rows = up_to(rows_together, num_rows);
    const std::int64_t part = room / rows / jit::ScanParts::unit * jit::ScanParts::unit;
    plan.elements_at_once = up_to(part, count);
    const std::int64_t sets = room / (plan.elements_at_once * rows);
    plan.rows_at_once = up_to(rows * std::max<std::int64_t>(sets, 1), num_rows);
  }
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

bool is_scanned_apart(const ExprNode& node, const Tensor& output,
                      std::span<const Tensor* const> inputs) {
  constexpr std::int64_t few_neighbours = 16;
  if (node.args[0]->kind == ExprNode::Kind::tensor || output.numel() == 0) return false;
  std::vector<Tensor> tensors;
  for (const Tensor* input : inputs) tensors.push_back(*input);
  const ScanLoops fused = scan_loops_of(node, output, tensors);
  if (fused.rest[0].extent >= few_neighbours || fused.scanned.extent == 1) return false;
  const Tensor written = as_written(node);
  const ScanLoops apart = scan_loops_of(node, output, std::span(&written, 1));
  return apart.rest[0].extent > fused.rest[0].extent &&
         apart.rest[0].stride_bytes[0] == static_cast<std::int64_t>(itemsize_bytes(node.dtype));
}

std::shared_ptr<const ScanPlan> plan_scan(const ExprNode& node, const Program& program,
                                          const Tensor& output, std::span<const Tensor> inputs,
                                          const PlannerOptions& options,
                                          jit::KernelCache& kernels) {
  const DType dtype = node.compute_dtype;
  const auto plan = std::make_shared<ScanPlan>();
  plan->scan = jit::make_scan(node.op, dtype, options.features.isa);
  if (node.fold->form == FoldForm::scan_index) plan->places = jit::make_place_scan(node.op, dtype);
  plan->is_reverse = node.fold->is_reverse;
  plan->max_threads = options.num_threads;
  plan->itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
  plan->scan.streams = output.numel() > options.streaming_bytes / (2 * plan->itemsize);
  // Zen 4 reads on by itself.
  if (options.features.amd_family == zen3_family) plan->scan.ahead_bytes = 0;

  ScanLoops loops = scan_loops_of(node, output, inputs);
  const bool is_plain = is_plain_load(program);
  const Tensor written = as_written(node);
  const bool takes_some = takes_blocks(
      is_plain ? loops : scan_loops_of(node, output, std::span(&written, 1)), plan->itemsize);
  const bool is_by_layout = order_of(node, options.fold_order) == FoldOrder::by_layout;
  // What a block of floats multiplies to may be infinite or zero where no product from the
  // beginning is.
  const bool may_leave_range = node.op == Op::mul && !is_integral(dtype);
  if (takes_some && plan->places == nullptr && is_by_layout && !may_leave_range)
    plan->blocks = jit::block_scan(node.op, dtype, options.features.isa);
  plan->scanned = std::move(loops.scanned);
  plan->rest = std::move(loops.rest);
  if (is_plain && plan->blocks.run == nullptr) set_beside(*plan);
  for (std::size_t dim = 1; dim < plan->rest.size(); ++dim)
    plan->num_rest *= plan->rest[dim].extent;
  plan->block = plan->scanned;
  if (plan->blocks.run != nullptr && plan->scanned.extent > jit::scan_block_elements)
    for (std::int64_t& stride : plan->block.stride_bytes) stride *= jit::scan_block_elements;
  if (is_plain) {
    if (prefers_single_rows(*plan, output.numel(), options.features))
      plan->scan = jit::one_row_after_the_other(plan->scan);
    return plan;
  }

  const FoldDim& neighbours = plan->rest[0];
  plan->maps_columns =
      plan->blocks.run == nullptr && neighbours.extent > 1 &&
      neighbours.stride_bytes[0] == static_cast<std::int64_t>(itemsize_bytes(output.dtype()));
  plan->map = make_map(dtype, plan->maps_columns ? neighbours : plan->scanned, program, inputs,
                       options, kernels);
  plan_buffer(*plan);
  find_kernel(*plan, node, program, output, inputs, options, kernels);
  return plan;
}

std::vector<PrecompiledLoop> scan_loops(const ScanPlan& plan) {
  std::vector<PrecompiledLoop> loops;
  const auto add = [&](std::string_view function, Isa compiled_for, auto entry,
                       const char* purpose) {
    loops.push_back({detail::concat(function, ", ", name(plan.scan.op), " ", name(plan.scan.dtype)),
                     compiled_for, reinterpret_cast<const void*>(entry), purpose});
  };
  const bool in_order = plan.blocks.run == nullptr || plan.scans_long_rows_in_order();
  if (plan.places != nullptr) {
    add("run_places of jit/fold/extremum_scan.cpp", Isa::generic, plan.places,
        "keeps where the extremum so far is");
  } else if (in_order) {
    add(plan.scan.source, plan.scan.isa, plan.scan.run, "scans rows");
  }
  if (plan.blocks.run != nullptr && !(in_order && plan.max_threads == 1)) {
    const bool is_log = plan.scan.op == Op::logaddexp;
    add(is_log ? "run_log_blocks of jit/fold/log_scan.cpp"
               : "BlockLoops::run of jit/fold/block_scan.cpp",
        Isa::generic, plan.blocks.run, "scans blocks of a row, side by side");
    add(is_log ? "log_block_totals of jit/fold/log_scan.cpp"
               : "BlockLoops::totals of jit/fold/block_scan.cpp",
        Isa::generic, plan.blocks.totals, "before that finds what comes before each block");
  }
  return loops;
}

}  // namespace weft
