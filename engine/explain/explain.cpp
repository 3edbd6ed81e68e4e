// Engine::explain: one call planned and compiled, with every stage kept.
#include "engine/engine_state.h"
#include "engine/explain/code_texts.h"
#include "engine/explain/explain_cuda.h"
#include "engine/explain/story.h"
#include "engine/expression/parts.h"
#include "engine/fold/fold_call.h"
#include "engine/fold/joint_fold.h"
#include "engine/fold/row_blocks.h"
#include "engine/fold/unrolled.h"
#include "engine/plan/lower.h"
#include "ir/limits.h"
#include "ir/pass.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weft {
namespace {

constexpr std::array<std::string_view, 8> stages{"iter", "signature", "ir",  "llvm",
                                                 "asm",  "cuda",      "ptx", "sass"};

CpuFeatures features_for(std::string_view target) {
  if (target == "host") return host_features();
  if (target == "avx2") return target_features(Isa::avx2);
  if (target == "avx512") return target_features(Isa::avx512);
  throw ArgumentError(
      detail::concat("unknown target '", target, "'; the targets are host, avx2 and avx512"));
}

void check_stages(const std::vector<std::string>& emit) {
  for (const std::string& stage : emit) {
    if (std::ranges::find(stages, stage) != stages.end()) continue;
    std::string known;
    for (const std::string_view name : stages) known.append(known.empty() ? "" : ", ").append(name);
    throw ArgumentError(detail::concat("unknown emit '", stage, "'; the stages are ", known));
  }
}

void describe_operands(const Program& program, const TensorIterator& iterator,
                       Explanation& explanation) {
  for (int i = 0; i < iterator.ntensors(); ++i) {
    const bool is_output = i < program.num_outputs;
    Explanation::Operand operand;
    operand.role = is_output ? "output" : "input";
    operand.dtype = iterator.dtype(i);
    const auto strides = iterator.stride_bytes(i);
    operand.stride_bytes.assign(strides.begin(), strides.end());
    if (is_output) {
      operand.name = "out";
    } else {
      const auto leaf = static_cast<std::size_t>(i - program.num_outputs);
      const std::string& given = program.leaves[leaf]->name;
      operand.name = given.empty() ? detail::concat("in", leaf) : given;
    }
    explanation.operands.push_back(std::move(operand));
  }
}

/// Of folds that share a loop the first one's pass has its code.
void describe_loop(const JointFolds::Member& member, std::span<PassText> passes) {
  for (const std::size_t fold : member.folds) {
    passes[fold].code = nullptr;
    passes[fold].loops.clear();
    passes[fold].text += fold == member.folds[0] ? ", a loop" : " and loop";
  }
  const auto& kernel = member.plan->reduction;
  passes[member.folds[0]].code = {kernel, kernel->folding_code()};
}

/// Says of folds which of them share a pass.
void describe_sharing(const JointFolds& joint, std::span<PassText> passes) {
  const std::size_t first = joint.members[0]->folds[0];
  for (const auto& member : joint.members) {
    for (const std::size_t fold : member->folds)
      passes[fold].text += fold == first
                               ? detail::concat(", one pass of ", joint.num_folds(),
                                                " folds that reads ", bytes_text(joint.read_bytes))
                               : ", in the same pass";
    if (member->folds.size() > 1) describe_loop(*member, passes);
  }
}

/// What explain() says of loops that are compiled with weft.
std::vector<Explanation::PrecompiledLoop> told_loops(const std::vector<PassText>& passes) {
  std::vector<Explanation::PrecompiledLoop> loops;
  for (const PassText& pass : passes)
    for (const PrecompiledLoop& loop : pass.loops)
      loops.push_back({loop.name, std::string(name(loop.isa)), loop.purpose});
  return loops;
}

/// A kernel after its passes, where loops that are there already run in its place.
jit::CompiledKernel not_compiled(const jit::Signature& signature, const jit::Target& target) {
  auto code = std::make_shared<jit::CodeObject>();
  code->backend = signature.backend == "interp" ? "interp" : "precompiled";
  jit::CompiledKernel result{signature.kernel, std::move(code), {}};
  result.kernel.vector_bytes = target.vector_bytes();
  ir::run_pipeline(result.kernel);
  return result;
}

/// The dtype that the root of the expression computes in.
DType root_dtype(const Expr& expr) {
  return expr.node().kind == ExprNode::Kind::op ? expr.node().compute_dtype : expr.dtype();
}

/// Backend, numerics, target and architecture as asked for.
PlannerOptions checked(const ExplainOptions& options, PlannerOptions planner) {
  check_stages(options.emit);
  name(options.numerics);  // refuses what is none
  const bool is_cuda = options.backend == "nvrtc";
  // That of nvrtc need not be usable.
  if (options.backend != "auto" && !is_cuda)
    static_cast<void>(jit::unavailable_reason(options.backend));
  WEFT_CHECK(is_cuda || options.arch.empty(), ArgumentError, "arch ", options.arch,
             " is for backend nvrtc, but the backend is ", options.backend);
  planner.backend = options.backend;
  planner.numerics = elementwise(options.numerics);
  planner.fold_order = fold_order(options.numerics);
  planner.features = features_for(options.target);
  return planner;
}

/// As calls have it: what takes several passes is written where the output is, or lies apart.
bool is_new_or_apart(const Expr& expr, const Tensor& out) {
  if (!out.defined()) return true;
  CallKey key;
  make_key(key, std::span(&expr, 1), std::span(&out, 1));
  return std::ranges::equal(out.sizes(), sizes_of(expr.node())) && lies_apart(out, key);
}

std::optional<UnrolledFolds> unrolled_as_called(const Expr& expr, const Tensor& out,
                                                const PlannerOptions& planner) {
  std::optional<UnrolledFolds> unrolled =
      unroll_folds(std::span(&expr, 1), std::span(&out, 1), planner);
  return unrolled && is_new_or_apart(expr, out) ? std::move(unrolled) : std::nullopt;
}

std::optional<RowBlocks> blocks_as_called(const Expr& expr, const Tensor& out,
                                          const CpuFeatures& features) {
  std::optional<RowBlocks> blocks = plan_row_blocks(std::span(&expr, 1), features);
  return blocks && is_new_or_apart(expr, out) ? std::move(blocks) : std::nullopt;
}

/// One explanation in the making, step by step in the order of the functions.
class Explainer {
 public:
  /// `planner`: as in calls of the engine.  `parts`: what has been computed before.
  Explainer(const Expr& given, const Tensor& out, const ExplainOptions& options,
            PlannerOptions planner, jit::KernelCache& kernels,
            const std::vector<std::string>& parts)
      : given_(given),
        options_(options),
        planner_(checked(options, std::move(planner))),
        kernels_(kernels),
        is_cuda_(options.backend == "nvrtc"),
        unrolled_(unrolled_as_called(given_, out, planner_)),
        is_fold_(!unrolled_ && given.node().kind == ExprNode::Kind::fold) {
    explanation_.passes = parts;
  }

  const CpuFeatures& target() const { return planner_.features; }

  /// Whether the call runs block of rows by block of rows, and from which size on either way of
  /// running writes past the caches.
  void choose_blocks(const Tensor& out, std::int64_t streaming_bytes,
                     std::int64_t row_streaming_bytes) {
    if (!is_cuda_ && !unrolled_) blocks_ = blocks_as_called(given_, out, planner_.features);
    planner_.streaming_bytes = blocks_ ? row_streaming_bytes : streaming_bytes;
    if (blocks_ && blocks_->part.folds_ask) planner_.ahead_bytes = blocks_->part.ahead_bytes;
  }

  /// Finds the passes that run before the kernel, and what is left of the expression for it.
  void plan_passes() {
    if (unrolled_) return describe_unrolled();
    check_is_current(std::span(&given_, 1));
    const auto compute = [&](std::span<const Expr> folds) { return plan_folds(folds); };
    const auto keep = [&](const Expr& fold) { return plan_kept(fold); };
    const Expr block = blocks_ ? first_block() : given_;
    rest_ = without_folds(std::span(&block, 1), ComputeFolds(compute), KeepArgument(keep))[0];
    if (blocks_) rest_ = rest_of_all();
    expr_ = is_fold_ ? Expr(last_fold_->node().args[0]) : rest_;
    for (const PassText& told : passes_) explanation_.passes.push_back(told.text);
    explanation_.precompiled = told_loops(passes_);
  }

  /// Plans what is left, into `given_out` unless a fold writes that.
  void plan_rest(const Tensor& given_out) {
    is_output_given_ = given_out.defined();
    const Tensor out = is_fold_ ? Tensor() : given_out;
    program_ = flatten(std::span(&expr_, 1), std::span(&out, 1));
    inputs_ = leaves_of(program_);
    // A handle of its own, which may be resized; but an output that is also an input never is.
    const auto is_out = [&](const Tensor& input) { return input.is_same(out); };
    output_ = out;
    if (out.defined() && std::ranges::none_of(inputs_, is_out))
      output_ = finish_view(copy_view(out));
    if (unrolled_ && !output_.defined()) output_ = output_around_folds();
    if (inputs_.empty() && !output_.defined()) output_ = empty({}, program_.output_dtypes[0]);
    iterator_ = plan_iteration(program_, std::span(&output_, 1), inputs_, true);
    result_ = is_fold_ ? result_of_fold(given_out) : iterator_->output(0);
    describe_plan();
  }

  void lower_rest() {
    lowered_ = is_compiled() || (is_ready() && has_ir()) ? *last()->lowered : lowered_alone();
    if (!blocks_) return;
    const bool has_asked = blocks_->part.ahead_bytes == 0;
    blocks_->choose_stores(
        static_cast<double>(result_.numel()) * static_cast<double>(itemsize_bytes(result_.dtype())),
        planner_.streaming_bytes);
    lowered_.kernel.is_unfenced = lowered_.kernel.is_streaming;
    if (!is_fold_ && !has_asked)
      ask_ahead(lowered_, asked_by_last(blocks_->part.ahead_bytes, planner_.features));
  }

  /// Compiles what lower_rest() made, and tells the story.
  Explanation finish() {
    if (is_cuda_) {
      finish_on_device();
    } else {
      finish_on_host();
    }
    return std::move(explanation_);
  }

 private:
  Expr first_block() const {
    return take_rows(*blocks_, std::span(&given_, 1), 0, blocks_->rows_per_block)[0];
  }

  /// What the kernel computes of all rows where passes run on blocks, which decide what is kept.
  Expr rest_of_all() {
    const auto compute = [&](std::span<const Expr> folds) { return layouts_of(folds); };
    std::size_t next = 0;
    const auto keep = [&](const Expr& fold) {
      return are_kept_[next++] ? layout_of_argument(fold) : Tensor();
    };
    return without_folds(std::span(&given_, 1), ComputeFolds(compute), KeepArgument(keep))[0];
  }

  std::vector<Tensor> layouts_of(std::span<const Expr> folds) {
    std::vector<Tensor> values;
    for (const Expr& fold : folds)
      values.push_back(contiguous_layout(fold.node().fold->sizes, fold.dtype()));
    if (!folds.empty()) last_fold_ = folds.back();
    return values;
  }
  static Tensor layout_of_argument(const Expr& fold) {
    return contiguous_layout(fold.node().fold->arg_sizes, Expr(fold.node().args[0]).dtype());
  }

  /// Of the argument of a fold, as large as it is for all rows.
  Dims told_sizes(const Expr& fold) const {
    Dims sizes = fold.node().fold->arg_sizes;
    if (blocks_) sizes[0] = blocks_->num_rows;
    return sizes;
  }

  std::vector<Tensor> plan_folds(std::span<const Expr> folds) {
    const std::size_t first = passes_.size();
    for (const Expr& fold : folds) {
      passes_.push_back(describe_pass(fold, told_sizes(fold), planner_, kernels_));
      WEFT_CHECK(!is_cuda_ || passes_.back().lowered != nullptr || passes_.back().schedule.empty(),
                 UnsupportedError, "backend nvrtc has no kernel for ", passes_.back().text);
    }
    std::vector<Tensor> values = layouts_of(folds);
    if (is_cuda_) return values;
    for (const JointFolds& joint : join_folds(folds, planner_, kernels_))
      describe_sharing(joint, std::span(passes_).subspan(first));
    return values;
  }

  Tensor plan_kept(const Expr& fold) {
    are_kept_.push_back(!is_cuda_ && is_worth_keeping(fold, planner_));
    if (!are_kept_.back()) return {};
    if (blocks_) blocks_->part.ahead_bytes = 0;  // what is kept has asked
    passes_.push_back(describe_kept(fold, told_sizes(fold)));
    return layout_of_argument(fold);
  }

  Tensor result_of_fold(const Tensor& given_out) const {
    if (!given_out.defined()) return rest_.node().tensor;
    const Inferred result = infer_result(given_, given_out);
    return empty_strided(result.sizes, result.strides, {result.dtype, Device{DeviceType::meta, 0}});
  }

  void describe_unrolled() {
    rest_ = unrolled_->rest[0];
    expr_ = unrolled_->exprs[0];
    for (const Expr& fold : unrolled_->folds) {
      const Dims& sizes = fold.node().fold->arg_sizes;
      explanation_.passes.push_back(detail::concat("unrolled fold of ", name(fold.dtype()),
                                                   dims_text({sizes.data(), sizes.size()}), ": ",
                                                   text(fold)));
    }
  }

  /// What is new lies as if the folds were tensors.
  Tensor output_around_folds() const {
    const Program program = flatten(std::span(&rest_, 1), {});
    const Tensor anew;
    return plan_iteration(program, std::span(&anew, 1), leaves_of(program), true).output(0);
  }

  void describe_plan() {
    explanation_.result_dtype = result_.dtype();
    explanation_.result_sizes.assign(result_.sizes().begin(), result_.sizes().end());
    explanation_.result_strides.assign(result_.strides().begin(), result_.strides().end());
    explanation_.common_dtype = root_dtype(expr_);
    explanation_.fast_setup = name(iterator_->fast_setup());
    explanation_.perm.assign(iterator_->perm().begin(), iterator_->perm().end());
    explanation_.shape.assign(iterator_->shape().begin(), iterator_->shape().end());
    describe_operands(program_, *iterator_, explanation_);
    if (is_wanted("iter")) explanation_.texts["iter"] = iterator_->text();
  }

  Lowered lowered_alone() const {
    const DeviceType runs_on = is_cuda_ ? DeviceType::cuda : DeviceType::cpu;
    return lower(*iterator_, program_, planner_.numerics, planner_.streaming_bytes, runs_on);
  }

  void finish_on_device() {
    const CudaCall call = explain_cuda(lowered_, *iterator_, program_, options_, explanation_);
    explanation_.story = make_story(parts(call.signature, call.compiled, {}));
    explanation_.story.chapters.push_back(call.chapter);
  }

  void finish_on_host() {
    const jit::Signature signature = signature_of(lowered_.kernel, planner_);
    explanation_.signature = jit::text(signature);
    explanation_.signature_hash = jit::hash(signature);
    const jit::CompiledKernel compiled = compile(signature);
    describe_code(compiled);

    const std::string assembly = code_text(*compiled.code, "asm");
    const LoopListing ready = is_ready() ? list_loop(last()->loops.front()) : LoopListing();
    const jit::AssemblyLoops loops = is_ready() ? ready.loops : jit::find_loops(assembly);
    add_code_texts({compiled, assembly, loops, passes_, last(), is_compiled(), is_ready(), has_ir(),
                    planner_.features},
                   options_.emit, explanation_);
    StoryParts story = parts(signature, compiled, loops);
    story.throughput = is_ready() ? ready.throughput : hot_throughput(*compiled.code, loops);
    story.ready = is_ready() ? &ready : nullptr;
    story.has_ir = has_ir();
    story.has_unrolled_folds = unrolled_.has_value();
    story.is_output_given = is_output_given_;
    story.rows_per_block = blocks_ ? blocks_->rows_per_block : 0;
    explanation_.story = make_story(story);
  }

  jit::CompiledKernel compile(const jit::Signature& signature) const {
    const bool is_host = planner_.features == host_features();
    jit::Target target;
    target.features = planner_.features;
    // Code for other machines may refer to what this one lacks.
    target.run = is_host;
    target.keep_texts = !is_host || is_wanted("llvm") || is_wanted("asm");
    return is_ready() ? not_compiled(signature, target) : jit::compile(signature, target);
  }

  void describe_code(const jit::CompiledKernel& compiled) {
    explanation_.backend = compiled.code->backend;
    if (is_fold_)
      for (const std::string& refusal : last()->refusals)
        explanation_.refusals.push_back(refusal + " (the reduction as a whole)");
    explanation_.refusals.insert(explanation_.refusals.end(), compiled.refusals.begin(),
                                 compiled.refusals.end());
    explanation_.schedule = has_ir() ? ir::name(compiled.kernel.schedule) : last()->schedule;
    explanation_.compile_us = compiled.code->compile_us;
  }

  StoryParts parts(const jit::Signature& signature, const jit::CompiledKernel& compiled,
                   const jit::AssemblyLoops& loops) const {
    StoryParts parts{explanation_, given_,    result_,  expr_,    program_, *iterator_,
                     lowered_,     signature, compiled, planner_, loops};
    if (is_fold_) {
      parts.folded_bytes =
          result_.numel() * static_cast<std::int64_t>(itemsize_bytes(result_.dtype()));
      parts.is_apart = last()->is_apart;
    }
    return parts;
  }

  bool is_wanted(std::string_view stage) const {
    return std::ranges::find(options_.emit, stage) != options_.emit.end();
  }

  /// The fold that the whole expression is, or null.
  const PassText* last() const { return is_fold_ ? &passes_.back() : nullptr; }
  /// A reduction that code is generated for is one kernel with what it reduces; one of what lies
  /// ready needs no other kernel.
  bool is_compiled() const { return is_fold_ && last()->is_compiled; }
  bool is_ready() const { return is_fold_ && last()->reads_in_place; }
  bool has_ir() const { return !is_ready() || last()->lowered != nullptr; }

  const Expr& given_;
  const ExplainOptions& options_;
  PlannerOptions planner_;
  jit::KernelCache& kernels_;
  bool is_cuda_;
  std::optional<UnrolledFolds> unrolled_;
  bool is_fold_;
  std::optional<RowBlocks> blocks_;
  std::vector<PassText> passes_;
  std::vector<bool> are_kept_;     ///< arguments of folds, in the order in which it is asked
  std::optional<Expr> last_fold_;  ///< of `passes_`
  Expr rest_ = given_;             ///< with tensors in place of folds
  Expr expr_ = given_;             ///< that the kernel computes
  Program program_;
  std::vector<Tensor> inputs_;
  Tensor output_;
  bool is_output_given_ = false;            ///< by the caller
  std::optional<TensorIterator> iterator_;  ///< refers to both
  Tensor result_;
  Lowered lowered_;
  Explanation explanation_;
};

/// The layout of a part that other kernels read, and what it is.
Tensor describe_part(const Expr& part, std::vector<std::string>& parts) {
  const std::vector<Expr> rest = without_folds(std::span(&part, 1), Device());
  const Tensor anew;
  const Program program = flatten(rest, std::span(&anew, 1));
  const Tensor value =
      plan_iteration(program, std::span(&anew, 1), leaves_of(program), true).output(0);
  parts.push_back(detail::concat("part", parts.size(), ", as all is too much for one kernel, of ",
                                 name(part.dtype()), dims_text(value.sizes()), ": ", text(part)));
  return value;
}

}  // namespace

Explanation Engine::explain(const Expr& expr, const Tensor& out, const ExplainOptions& options) {
  std::vector<std::string> parts;
  const auto explain_kernel = [&](const Expr& given) {
    Explainer explainer(given, out, options, state_->planner_options(), state_->kernels, parts);
    const CpuFeatures& target = explainer.target();
    explainer.choose_blocks(out, state_->streaming_bytes(target),
                            state_->row_streaming_bytes(target));
    explainer.plan_passes();
    explainer.plan_rest(out);
    explainer.lower_rest();
    return explainer.finish();
  };
  const auto describe = [&](const Expr& part) { return describe_part(part, parts); };
  Expr rest = options.backend != "nvrtc" ? in_few_streams(expr, describe) : expr;
  while (true) {
    try {
      return explain_kernel(rest);
    } catch (const ir::KernelLimitError&) {
      const std::size_t num_parts = parts.size();
      rest = in_parts(std::span(&rest, 1), ComputePart(describe))[0];
      if (parts.size() == num_parts) throw;
    }
  }
}

}  // namespace weft
