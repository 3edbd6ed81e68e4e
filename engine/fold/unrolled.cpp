#include "engine/fold/unrolled.h"

#include "engine/tensor/tensor_impl.h"
#include "ir/combine.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/// Elements of more operands, and longer bodies, are folded by loops.
constexpr std::int64_t most_elements = 8;
constexpr std::size_t most_operands = 32, most_instructions = 128;

/// Where the elements that become one result lie from the first of them, in bytes: those of one
/// operand, in the order of the fold.
std::vector<std::int64_t> element_offsets(const FoldPlan& layout, std::size_t operand) {
  std::vector<std::int64_t> offsets{0};
  for (const FoldDim& dim : layout.reduced) {
    const std::size_t inside = offsets.size();
    for (std::int64_t i = 1; i < dim.extent; ++i)
      for (std::size_t j = 0; j < inside; ++j)
        offsets.push_back(offsets[j] + i * dim.stride_bytes[operand]);
  }
  return offsets;
}

/// The first elements of all results.
Tensor first_elements(const Tensor& input, const FoldNode& fold) {
  const Tensor whole = input.expand({fold.arg_sizes.data(), fold.arg_sizes.size()});
  std::vector<std::int64_t> sizes(whole.sizes().begin(), whole.sizes().end());
  for (std::size_t dim = 0; dim < sizes.size(); ++dim)
    if (fold.folds(dim)) sizes[dim] = 1;
  return whole.as_strided(sizes, whole.strides());
}

class Unroller {
 public:
  Unroller(const ExprNode& node, const Program& program, std::span<const Tensor> inputs,
           const FoldPlan& layout)
      : node_(node), given_(program), layout_(layout) {
    result_.program.num_outputs = 1;
    result_.program.result_dtypes = result_.program.output_dtypes = {node.dtype};
    result_.program.params = program.params;
    result_.origins.push_back({0, 0});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      firsts_.push_back(first_elements(inputs[i], *node.fold));
      offsets_.push_back(element_offsets(layout, i + 1));
    }
  }

  UnrolledFold run() {
    std::optional<ir::ValueId> sum;
    if (identity_counts())
      sum = append({.op = Op::constant, .dtype = node_.dtype, .bits = layout_.fold.identity});
    for (std::size_t i = 0; i < static_cast<std::size_t>(layout_.num_rows); ++i) {
      const ir::ValueId value = element(i);
      sum = sum ? append({.op = node_.op, .dtype = node_.dtype, .args = args(*sum, value)}) : value;
    }
    if (layout_.divisor != 0) {
      const Bits bits = Scalar(layout_.divisor).bits(node_.dtype);
      const ir::ValueId n = append({.op = Op::constant, .dtype = node_.dtype, .bits = bits});
      sum = append({.op = Op::div, .dtype = node_.dtype, .args = args(*sum, n)});
    }
    append({.op = Op::store, .dtype = node_.dtype, .args = args(*sum)});
    return std::move(result_);
  }

 private:
  static std::array<ir::ValueId, max_arity> args(ir::ValueId a, ir::ValueId b = ir::no_value) {
    return {a, b, ir::no_value, ir::no_value};
  }

  /// Whether results may differ where the fold doesn't begin with its identity, as 0 and -0 give 0.
  bool identity_counts() const {
    const bool is_product = node_.op == Op::mul && !is_complex(node_.dtype);
    return !is_integral(node_.dtype) && !is_product && node_.op != Op::maximum &&
           node_.op != Op::minimum;
  }

  ir::ValueId append(const ir::Inst& inst) {
    std::vector<ir::Inst>& body = result_.program.body;
    body.push_back(inst);
    return static_cast<ir::ValueId>(body.size() - 1);
  }

  /// The program's value for element `i` of each result.
  ir::ValueId element(std::size_t i) {
    std::vector<ir::ValueId> values;
    for (ir::Inst inst : given_.body) {
      for (ir::ValueId& arg : inst.args)
        if (arg != ir::no_value) arg = values[arg];
      if (inst.op == Op::store) return inst.args[0];
      if (inst.op == Op::load)
        inst.operand = operand(inst.operand - 1U, offsets_[inst.operand - 1U][i]);
      values.push_back(append(inst));
    }
    throw InternalError("unroll: the argument of a fold is not stored");
  }

  std::uint8_t operand(std::size_t input, std::int64_t offset_bytes) {
    const auto same = [&](const Origin& origin) {
      return origin.operand == input + 1 && origin.offset_bytes == offset_bytes;
    };
    auto found = std::ranges::find_if(result_.origins, same);
    if (found == result_.origins.end()) {
      const Tensor& first = firsts_[input];
      const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(first.dtype()));
      const std::int64_t offset = first.storage_offset() + offset_bytes / itemsize;
      result_.inputs.push_back(first.as_strided(first.sizes(), first.strides(), offset));
      found = result_.origins.insert(found, {input + 1, offset_bytes});
    }
    return static_cast<std::uint8_t>(found - result_.origins.begin());
  }

  const ExprNode& node_;
  const Program& given_;
  const FoldPlan& layout_;
  std::vector<Tensor> firsts_;
  std::vector<std::vector<std::int64_t>> offsets_;
  UnrolledFold result_;
};

bool has_few_elements(const FoldNode& fold) {
  std::int64_t count = 1;
  for (std::size_t dim = 0; dim < fold.arg_sizes.size(); ++dim)
    if (fold.folds(dim)) count = wrapping_product(count, fold.arg_sizes[dim]);
  return count > 0 && count <= most_elements;
}

}  // namespace

std::optional<UnrolledFold> unroll(const ExprNode& node, const Program& program,
                                   const Tensor& output, std::span<const Tensor> inputs,
                                   const PlannerOptions& options) {
  const std::string& backend = options.backend;
  if (backend != "auto" && backend != "xbyak" && backend != "llvm") return {};
  if (node.fold->form != FoldForm::value || !has_few_elements(*node.fold)) return {};
  if (order_of(node, options.fold_order) == FoldOrder::exact) return {};
  const auto layout = lay_out_fold(node, output, inputs, options);
  const auto num_elements = static_cast<std::size_t>(layout->num_rows);
  // Vectors along what is folded combine in another order.
  if (layout->is_inner || inputs.size() * num_elements >= most_operands ||
      program.body.size() * num_elements > most_instructions)
    return {};
  return Unroller(node, program, inputs, *layout).run();
}

Lowered lower_unrolled(const UnrolledFold& fold, const Tensor& output,
                       const PlannerOptions& options) {
  const TensorIterator iterator =
      plan_iteration(fold.program, std::span(&output, 1), fold.inputs, false);
  return lower_to_run(iterator, fold.program, options);
}

void plan_unrolled(CallPlan& plan, const UnrolledFold& fold, const Tensor& output,
                   const PlannerOptions& options, jit::KernelCache& kernels) {
  const TensorIterator iterator =
      plan_iteration(fold.program, std::span(&output, 1), fold.inputs, false);
  const auto kernel = std::make_shared<CallPlan>();
  kernel->launch = plan_launch(iterator, fold.program, options, kernels);
  plan.steps = {kernel};
  PassList list;
  list.passes.push_back({kernel, fold.origins, 0});
  plan.passes = std::make_shared<const PassList>(std::move(list));
  plan.pass = [list = plan.passes](std::byte* const* base, const Bits* params) {
    list->run(base, params);
  };
}

}  // namespace weft
