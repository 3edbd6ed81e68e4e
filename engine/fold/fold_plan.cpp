#include "engine/fold/fold_plan.h"

#include "engine/fold/few_rows.h"
#include "engine/plan/lower.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/combine.h"

#include <weft/error.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace weft {
namespace {

/// What one core folds in a nanosecond, about.
constexpr std::int64_t bytes_per_ns = 25;

/// The row-major place of every element within what is reduced into the same output.
Tensor place_operand(const FoldNode& fold) {
  const std::size_t ndim = fold.arg_sizes.size();
  std::vector<std::int64_t> strides(ndim, 0);
  std::int64_t stride = 1;
  for (std::size_t dim = ndim; dim-- > 0;) {
    if (!fold.folds(dim)) continue;
    strides[dim] = stride;
    stride *= fold.arg_sizes[dim];
  }
  return unbacked({fold.arg_sizes.data(), ndim}, strides, DType::i64);
}

TensorIterator plan_iteration(const ExprNode& node, const Tensor& output,
                              std::span<const Tensor> inputs, const Tensor& places) {
  TensorIteratorConfig config;
  config.check_all_same_dtype(false).resize_outputs(false).is_reduction(true);
  config.set_check_mem_overlap(false).allow_cpu_scalars(true);
  config.check_all_same_device(false);  // places are on none
  config.add_output(output);
  for (const Tensor& input : inputs) config.add_input(input);
  if (node.fold->form == FoldForm::index) config.add_input(places);
  return config.build();
}

/// The loops in the order of the iterator, fastest first, or in that of the shape.
std::vector<FoldDim> plan_dims(const ExprNode& node, FoldOrder order, const Tensor& output,
                               std::span<const Tensor> inputs) {
  if (order == FoldOrder::by_shape) {
    std::vector<Tensor> operands{output};
    operands.insert(operands.end(), inputs.begin(), inputs.end());
    std::optional<std::vector<FoldDim>> dims = dims_by_shape(*node.fold, operands);
    WEFT_ASSERT(dims, "the argument is not walkable by its shape");
    return *std::move(dims);
  }
  const TensorIterator iterator = plan_iteration(node, output, inputs, place_operand(*node.fold));
  std::vector<FoldDim> dims;
  const auto num_operands = static_cast<std::size_t>(iterator.ntensors());
  for (std::size_t dim = 0; dim < iterator.shape().size(); ++dim) {
    FoldDim& made = dims.emplace_back();
    made.extent = iterator.shape()[dim];
    for (std::size_t i = 0; i < num_operands; ++i)
      made.stride_bytes.push_back(iterator.stride_bytes(static_cast<int>(i))[dim]);
  }
  if (dims.empty()) dims.push_back({1, std::vector<std::int64_t>(num_operands)});
  return dims;
}

/// The dimension along which vectors run: the fastest that fills some, else the longest.  The
/// fastest is the first in dims_by_shape().  Of two as fast, as those of windows are that slide by
/// one, a kept one: what is folded then lies side by side for many results.
std::size_t vector_dim(const std::vector<FoldDim>& dims, std::size_t input,
                       std::int64_t input_itemsize, const FoldPlan& plan) {
  const FoldOrder order = plan.order;
  const auto distance = [&](const FoldDim& dim) {
    if (order == FoldOrder::by_shape) return static_cast<std::int64_t>(&dim - dims.data());
    const std::int64_t stride = std::abs(dim.stride_bytes[input]);
    return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
  };
  std::int64_t num_rows = 1;
  for (const FoldDim& dim : dims)
    if (dim.stride_bytes[0] == 0) num_rows *= dim.extent;
  // A vector of columns is as good as several, if whole blocks of it are folded.  Of numbers that
  // are converted it takes half a vector of AVX2 or more.
  const bool may_be_few = order == FoldOrder::by_layout && num_rows >= fold_block_rows;
  const auto fills_vectors = [&](const FoldDim& dim) {
    if (dim.extent >= min_vector_extent) return true;
    const bool are_columns = dim.stride_bytes[0] != 0 && dim.stride_bytes[input] == input_itemsize;
    return may_be_few && are_columns && dim.extent * plan.fold.itemsize() >= min_columns_bytes &&
           (dim.extent >= 8 || dim.extent * input_itemsize >= min_columns_bytes);
  };
  const auto is_better = [&](const FoldDim& a, const FoldDim& b) {
    const bool a_fills = fills_vectors(a), b_fills = fills_vectors(b);
    if (a_fills != b_fills) return a_fills;
    const auto rank = [&](const FoldDim& dim) {
      return std::pair(distance(dim), dim.stride_bytes[0] == 0);
    };
    return a_fills ? rank(a) < rank(b) : a.extent > b.extent;
  };
  return static_cast<std::size_t>(std::min_element(dims.begin(), dims.end(), is_better) -
                                  dims.begin());
}

/// Of one row of the loops of exact sums.
constexpr std::int64_t exact_block_rows = 256;

std::int64_t product(const std::vector<FoldDim>& dims) {
  std::int64_t result = 1;
  for (const FoldDim& dim : dims) result *= dim.extent;
  return result;
}

/// Of the largest input, or of what it is broadcast to in bytes.
std::int64_t read_bytes(const FoldPlan& plan, std::span<const Tensor> inputs) {
  std::int64_t bytes = plan.vector.extent * plan.num_rows * plan.num_kept;
  for (const Tensor& tensor : inputs)
    bytes = std::max(bytes, wrapping_product(tensor.numel(), static_cast<std::int64_t>(
                                                                 itemsize_bytes(tensor.dtype()))));
  return bytes;
}

/// Whether it is measured how memory is walked through best: with AVX2 on Zen 5 alone.
bool has_measured_walks(const CpuFeatures& features) {
  return features.isa == Isa::avx512 ||
         (features.isa == Isa::avx2 && features.amd_family >= zen5_family);
}

/// How far ahead code for long rows should ask for what it reads; 0: not at all.  Past the caches
/// the prefetchers of Zen 4 fall behind sums, and those of Zen 5 whatever reads one tensor.
std::int32_t asked_ahead_bytes(const FoldPlan& plan, std::span<const Tensor> inputs,
                               const PlannerOptions& options) {
  constexpr std::int32_t zen4_bytes = 2048, zen5_bytes = 4096;
  const CpuFeatures& features = options.features;
  const bool is_long = plan.is_inner && plan.vector.extent >= fold_block_elements(plan.fold) &&
                       has_measured_walks(features) &&
                       read_bytes(plan, inputs) >= options.streaming_bytes;
  if (!is_long || features.amd_family < zen3_family) return 0;
  const bool sums =
      is_floating(plan.fold.dtype) && (plan.fold.op == Op::add || plan.fold.op == Op::mul);
  if (features.amd_family == zen3_family) return sums ? zen4_bytes : 0;
  const auto is_whole = [&](const Tensor& input) { return input.numel() >= plan.vector.extent; };
  return std::ranges::count_if(inputs, is_whole) == 1 ? zen5_bytes : 0;
}

}  // namespace

std::unique_ptr<Lowered> lower_fold_to_run(const FoldPlan& plan, const Program& program,
                                           std::span<const Tensor> inputs,
                                           const PlannerOptions& options) {
  std::unique_ptr<Lowered> lowered = lower_fold(plan, program, inputs, options.numerics);
  if (lowered == nullptr) return nullptr;
  // What lies ready has loops of its own, which don't ask for other rows.
  const bool asks_for_part = options.ahead_bytes != 0 && !is_plain_load(program);
  const std::int32_t bytes =
      asks_for_part ? options.ahead_bytes : asked_ahead_bytes(plan, inputs, options);
  if (bytes != 0) ask_ahead(*lowered, bytes);
  return lowered;
}

namespace {

/// Looks for code for the whole fold, which only backends make that generate some.
void make_reduction(FoldPlan& plan, const Program& program, std::span<const Tensor> inputs,
                    const PlannerOptions& options, jit::KernelCache& kernels) {
  const std::string& backend = options.backend;
  if (backend != "auto" && backend != "xbyak" && backend != "llvm") return;
  const std::unique_ptr<Lowered> lowered = lower_fold_to_run(plan, program, inputs, options);
  if (lowered == nullptr) return;
  auto kernel = kernels.get(signature_of(lowered->kernel, options));
  if (kernel->folding_code() == nullptr) plan.refusals = kernel->first().refusals;
  if (kernel->folding_code() != nullptr || kernel->has_next()) plan.reduction = std::move(kernel);
}

/// Rows that each become one output may get code of their own.  How many a launch has depends on
/// threads, and on folds that share a pass.
void make_rows(FoldPlan& plan, const PlannerOptions& options) {
  if (plan.reduction == nullptr || options.backend != "auto" || !is_row_each(plan)) return;
  auto rows = jit::KernelCache::for_shape(plan.reduction, std::span(&plan.vector.extent, 1), false);
  if (rows != plan.reduction) plan.rows = std::move(rows);
}

/// Whether some runs of the plan fold what a kernel computes into a buffer.
bool needs_map(const FoldPlan& plan) {
  return plan.reduction == nullptr || plan.reduction->folding_code() == nullptr;
}

void plan_blocks(FoldPlan& plan) {
  const std::int64_t block = fold_block_elements(plan.fold);
  const bool is_exact = plan.order == FoldOrder::exact;
  if (!plan.is_inner) {
    plan.rows_per_block = is_exact ? exact_block_rows : fold_block_rows;
    // Of each column an exact sum holds some hundred bytes.
    const std::int64_t lying = is_exact ? 512 : fold_buffer_bytes,
                       computed = is_exact ? 128 : 2 << 10;
    const auto columns = [&](std::int64_t bytes) {
      return std::min(plan.vector.extent, bytes / plan.fold.itemsize());
    };
    plan.strip_extent = columns(lying);
    plan.computed_strip_extent = columns(computed);
  } else if (plan.vector.extent >= block) {
    plan.segments_per_row = (plan.vector.extent + block - 1) / block;
  } else {
    const std::int64_t lanes = plan.fold.num_lanes();
    const std::int64_t padded = (plan.vector.extent + lanes - 1) / lanes * lanes;
    plan.rows_per_block = std::max<std::int64_t>(block / padded, 1);
  }
  plan.num_blocks =
      (plan.num_rows + plan.rows_per_block - 1) / plan.rows_per_block * plan.segments_per_row;
}

/// How the loops walk through `bytes` that are folded where they lie: as many streams as caches and
/// memory answer best (docs/decisions/fold-loops.md).
void choose_walk(FoldPlan& plan, std::int64_t bytes, const PlannerOptions& options) {
  const CpuFeatures& features = options.features;
  jit::Fold& fold = plan.fold;
  const bool is_streamed = bytes >= options.streaming_bytes;
  fold.prefetches = is_streamed;
  if (features.pages_in_turn) return;
  if (is_streamed) fold.rows_at_once = 8;
  if (!has_measured_walks(features) || plan.map != nullptr || bytes <= features.l1d_bytes) return;
  fold.in_order = true;
  // Short rows are often some of many, taken from memory together with what other passes write
  // there (engine/fold/row_blocks.cpp), and slower to read so.  Zen 4 reads on by itself.
  const bool reads_on = features.amd_family < zen5_family;
  fold.columns_ahead_bytes = reads_on ? 0 : 1024;
  fold.prefetches =
      !(reads_on && plan.is_inner) && (bytes > features.l2_bytes || !is_row_each(plan));
  if (is_floating(fold.dtype) && (fold.op == Op::add || fold.op == Op::mul)) fold.rows_at_once = 8;
  constexpr std::int64_t wide_bytes = 2 * fold_buffer_bytes;
  if (is_streamed && folds_in_place(plan) && plan.form != FoldForm::index &&
      plan.order != FoldOrder::exact)
    plan.strip_extent = std::min(plan.vector.extent, wide_bytes / fold.itemsize());
}

/// Whether it pays to read `bytes` that are folded where they lie in the order of memory, some of
/// each output's in turn.  Short rows in the last cache are read faster by many streams.
bool are_neighbours(const FoldPlan& plan, std::int64_t bytes, const CpuFeatures& features) {
  constexpr std::int64_t least_row_bytes = 1024;
  const std::int64_t itemsize = plan.fold.itemsize(), row_bytes = plan.vector.extent * itemsize;
  return plan.is_inner && plan.num_blocks > 1 && plan.vector.stride_bytes[1] == itemsize &&
         plan.kept[0].stride_bytes[1] == row_bytes &&
         std::abs(plan.reduced[0].stride_bytes[1]) > row_bytes &&
         (row_bytes >= least_row_bytes || bytes > features.l3_bytes / 4);
}

/// Blocks, work, and the order of reading.
void plan_walk(FoldPlan& plan, std::span<const Tensor> inputs, const PlannerOptions& options) {
  plan_blocks(plan);
  const std::int64_t bytes = read_bytes(plan, inputs);
  plan.work_ns = bytes / bytes_per_ns;
  choose_walk(plan, bytes, options);
  plan.units_are_neighbours = are_neighbours(plan, bytes, options.features);
  plan_shortcut(plan);
}

jit::Fold make_fold(const ExprNode& node, const PlannerOptions& options) {
  return options.backend == "interp"
             ? jit::make_plain_fold(node.op, node.compute_dtype)
             : jit::make_fold(node.op, node.compute_dtype, options.features.isa);
}

double divisor_of(const ExprNode& node, const FoldPlan& plan) {
  return node.fold->is_mean ? static_cast<double>(plan.num_folded) : 0;
}

}  // namespace

std::size_t largest_input(std::span<const FoldDim> dims, std::size_t num_inputs) {
  std::size_t best = 1;
  std::int64_t most = -1;
  for (std::size_t i = 1; i <= num_inputs; ++i) {
    std::int64_t count = 1;
    for (const FoldDim& dim : dims)
      if (dim.stride_bytes[i] != 0) count *= dim.extent;
    if (count > most) best = i;
    most = std::max(most, count);
  }
  return best;
}

bool have_equal_loops(const FoldPlan& a, const FoldPlan& b) {
  return a.is_inner == b.is_inner && a.vector.extent == b.vector.extent &&
         std::ranges::equal(a.reduced, b.reduced, {}, &FoldDim::extent, &FoldDim::extent) &&
         std::ranges::equal(a.kept, b.kept, {}, &FoldDim::extent, &FoldDim::extent);
}

std::int64_t fold_block_elements(const jit::Fold& fold) {
  return fold_buffer_bytes / fold.itemsize();
}

std::shared_ptr<FoldPlan> lay_out_fold(const ExprNode& node, const Tensor& output,
                                       std::span<const Tensor> inputs,
                                       const PlannerOptions& options) {
  auto plan = std::make_shared<FoldPlan>();
  plan->form = node.fold->form;
  plan->order = order_of(node, options.fold_order);
  plan->fold = make_fold(node, options);
  for (std::size_t dim = 0; dim < node.fold->arg_sizes.size(); ++dim)
    if (node.fold->folds(dim)) plan->num_folded *= node.fold->arg_sizes[dim];
  plan->divisor = divisor_of(node, *plan);
  plan->max_threads = options.num_threads;

  const std::vector<FoldDim> dims = plan_dims(node, plan->order, output, inputs);
  plan->num_operands = dims[0].stride_bytes.size();
  const std::size_t input = largest_input(dims, inputs.size());
  const auto input_itemsize =
      inputs.empty() ? 0 : static_cast<std::int64_t>(itemsize_bytes(inputs[input - 1].dtype()));
  const std::size_t along = vector_dim(dims, input, input_itemsize, *plan);
  const auto is_reduced = [](const FoldDim& dim) {
    return dim.stride_bytes[0] == 0 && dim.extent > 1;
  };
  plan->vector = dims[along];
  plan->is_inner = is_reduced(plan->vector);
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    if (dim != along) (is_reduced(dims[dim]) ? plan->reduced : plan->kept).push_back(dims[dim]);
  const FoldDim one{1, std::vector<std::int64_t>(plan->num_operands)};
  if (plan->reduced.empty()) plan->reduced.push_back(one);
  if (plan->kept.empty()) plan->kept.push_back(one);
  plan->num_rows = product(plan->reduced);
  plan->num_kept = product(plan->kept);
  return plan;
}

bool is_plain_load(const Program& program) {
  return program.body.size() == 2 && program.body[0].op == Op::load &&
         program.body[0].dtype == program.body[1].dtype;
}

std::shared_ptr<jit::TieredKernel> make_map(DType dtype, const FoldDim& inner,
                                            const Program& program, std::span<const Tensor> inputs,
                                            const PlannerOptions& options,
                                            jit::KernelCache& kernels) {
  ir::Kernel kernel;
  kernel.numerics = options.numerics;
  kernel.body = program.body;
  for (const Program::Param& param : program.params) kernel.params.push_back(param.dtype);
  kernel.loops.resize(2);
  kernel.operands.push_back({dtype, ir::Role::output, {ir::stride_any, 1}});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::StrideClass along =
        inner_class(inner.stride_bytes[i + 1], inner.extent, inputs[i].dtype());
    kernel.operands.push_back({inputs[i].dtype(), ir::Role::input, {ir::stride_any, along}});
  }
  return kernels.get(signature_of(kernel, options));
}

std::shared_ptr<const FoldPlan> plan_fold(const ExprNode& node, const Program& program,
                                          const Tensor& output, std::span<const Tensor> inputs,
                                          const PlannerOptions& options,
                                          jit::KernelCache& kernels) {
  const std::shared_ptr<FoldPlan> plan = lay_out_fold(node, output, inputs, options);
  const DType dtype = node.compute_dtype;
  const Isa isa = options.features.isa;
  if (plan->form == FoldForm::index) plan->extrema = jit::extremum_loops(node.op, dtype, isa);
  if (plan->order == FoldOrder::exact)
    plan->exact = jit::exact_loops(is_complex(dtype) ? real_dtype(dtype) : dtype,
                                   options.backend == "interp" ? Isa::generic : isa);
  const bool is_dense = plan->vector.stride_bytes[1] == plan->fold.itemsize();
  if (!is_plain_load(program) || !is_dense) {
    make_reduction(*plan, program, inputs, options, kernels);
    if (needs_map(*plan))
      plan->map = make_map(dtype, plan->vector, program, inputs, options, kernels);
  }
  plan_walk(*plan, inputs, options);
  make_rows(*plan, options);
  return plan;
}

std::shared_ptr<const FoldPlan> plan_folds(const FoldPlan& layout,
                                           std::span<const ExprNode* const> nodes,
                                           const Program& program, std::span<const Tensor> inputs,
                                           const PlannerOptions& options,
                                           jit::KernelCache& kernels) {
  const auto plan = std::make_shared<FoldPlan>(layout);
  for (const ExprNode* node : nodes.subspan(1))
    plan->also.push_back({make_fold(*node, options), divisor_of(*node, *plan)});
  make_reduction(*plan, program, inputs, options, kernels);
  if (needs_map(*plan)) return nullptr;
  plan_walk(*plan, inputs, options);
  const bool has_rows = plan->reduction->folding_code()->rows != nullptr;
  return has_rows || !is_row_each(*plan) ? plan : nullptr;
}

std::shared_ptr<const FoldPlan> plan_fill(const ExprNode& node, const Tensor& output) {
  auto plan = std::make_shared<FoldPlan>();
  plan->form = node.fold->form;
  plan->is_fill = true;
  const bool is_index = plan->form == FoldForm::index;
  plan->fold.dtype = node.dtype;
  if (node.fold->is_mean) {  // 0 / 0
    plan->fold.identity = Scalar(std::numeric_limits<double>::quiet_NaN()).bits(node.dtype);
  } else if (!is_index) {
    plan->fold.identity = *ir::identity_of(node.op, node.dtype);
  }
  const std::int64_t itemsize = plan->fold.itemsize();
  for (std::size_t dim = output.sizes().size(); dim-- > 0;)
    plan->kept.push_back({output.sizes()[dim],
                          {stride_in_bytes(output.strides()[dim], output.sizes()[dim], itemsize)}});
  plan->num_kept = output.numel();
  return plan;
}

}  // namespace weft
