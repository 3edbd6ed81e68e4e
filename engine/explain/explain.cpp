// Engine::explain: one call planned and compiled, with every stage kept.
#include "engine/engine_state.h"
#include "engine/explain/explain_cuda.h"
#include "engine/explain/story.h"
#include "engine/fold/fold_call.h"
#include "engine/fold/joint_fold.h"
#include "engine/fold/row_blocks.h"
#include "engine/plan/lower.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "jit/assembly_loops.h"
#include "jit/disassemble.h"

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

/// What the backend kept of a stage; machine code that it did not print is disassembled here.
/// Empty if there is none.
std::string code_text(const jit::CodeObject& code, const std::string& stage) {
  const auto text = code.texts.find(stage);
  if (text != code.texts.end()) return text->second;
  if (stage != "asm" || code.instruction_bytes == 0) return {};
  return jit::disassemble({code.instructions(), code.instruction_bytes});
}

/// The same for people: the loops of machine code are marked.
std::string shown_text(const jit::CompiledKernel& compiled, const std::string& stage,
                       const std::string& text, const jit::AssemblyLoops& loops) {
  if (text.empty())
    return detail::concat("; backend ", compiled.code->backend, " makes no ", stage, "\n");
  return stage == "asm" ? with_loops(text, loops, stored_bytes_per_element(compiled.kernel)) : text;
}

/// In place of IR.
constexpr const char* no_ir =
    "; the loop IR has no form for scans, places of extrema and sums without rounding\n";

/// The IR of a reduction, which says in which order it combines.
std::string reduction_text(ir::Kernel kernel, const CpuFeatures& features) {
  kernel.vector_bytes = jit::Target{features}.vector_bytes();
  ir::run_pipeline(kernel);
  return detail::concat("; the reduction:\n", ir::print(kernel),
                        "; what computes the values that it accumulates:\n");
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

/// The machine code of a pass that runs before the kernel, or in its place.
std::string pass_assembly(const PassText& pass) {
  std::string text;
  if (pass.code != nullptr) {
    const std::string assembly = code_text(*pass.code, "asm");
    text = with_loops(assembly, jit::find_loops(assembly), 0);
  }
  for (const PrecompiledLoop& loop : pass.loops) text += list_loop(loop).text;
  return text;
}

/// Those of all passes, each after a line that says what it is.
std::string passes_assembly(std::span<const PassText> passes) {
  std::string text;
  for (const PassText& pass : passes)
    if (const std::string assembly = pass_assembly(pass); !assembly.empty())
      text += detail::concat("; ", pass.text, "\n", assembly);
  return text.empty() ? text : text + "; the kernel beside that:\n";
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

/// What LLVM's models make of the hot loop, whose code lies in memory.
jit::Throughput hot_throughput(const jit::CodeObject& code, const jit::AssemblyLoops& loops) {
  if (loops.hot < 0) return {};
  const jit::AssemblyLoop& hot = loops.loops[static_cast<std::size_t>(loops.hot)];
  const std::size_t end = hot.end_offset == 0 ? code.instruction_bytes : hot.end_offset;
  if (hot.calls) return {0, {}, "the loop calls functions, which they know nothing of"};
  if (code.instructions() == nullptr || end > code.instruction_bytes || hot.first_offset >= end)
    return {0, {}, "code for other machines is there as text alone"};
  return jit::loop_throughput({code.instructions() + hot.first_offset, end - hot.first_offset});
}

/// The dtype that the root of the expression computes in.
DType root_dtype(const Expr& expr) {
  return expr.node().kind == ExprNode::Kind::op ? expr.node().compute_dtype : expr.dtype();
}

/// What the texts of a call's code are made of.
struct CodeParts {
  const jit::CompiledKernel& compiled;
  const std::string& assembly;
  const jit::AssemblyLoops& loops;
  std::span<const PassText> passes;
  const PassText* last;  ///< the fold that the whole expression is, or null
  bool is_compiled;      ///< there is code for all of that fold
  bool is_ready;         ///< only loops that are compiled with weft run
  bool has_ir;
  const CpuFeatures& features;
};

void add_texts(const CodeParts& parts, const std::vector<std::string>& emit,
               Explanation& explanation) {
  for (const std::string& stage : emit) {
    if (stage == "iter") continue;  // it is of the plan, not of code
    std::string& text = explanation.texts[stage];
    if (stage == "signature") {
      text = explanation.signature + "\n";
    } else if (stage == "ir") {
      text = parts.has_ir ? ir::print(parts.compiled.kernel) : no_ir;
      const bool is_reduced_apart =
          parts.last != nullptr && !parts.is_compiled && !parts.is_ready && parts.last->lowered;
      if (is_reduced_apart)
        text.insert(0, reduction_text(parts.last->lowered->kernel, parts.features));
    } else if (stage == "asm" && parts.is_ready) {
      text = pass_assembly(*parts.last);
    } else if (stage == "asm") {
      text = shown_text(parts.compiled, stage, parts.assembly, parts.loops);
      if (!parts.is_compiled) text.insert(0, passes_assembly(parts.passes));
    } else {
      text = shown_text(parts.compiled, stage, code_text(*parts.compiled.code, stage), parts.loops);
    }
  }
}

}  // namespace

Explanation Engine::explain(const Expr& given_expr, const Tensor& given_out,
                            const ExplainOptions& options) {
  check_stages(options.emit);
  name(options.numerics);  // refuses what is none
  // That of nvrtc need not be usable.
  if (options.backend != "auto" && options.backend != "nvrtc")
    static_cast<void>(jit::unavailable_reason(options.backend));
  const bool is_cuda = options.backend == "nvrtc";
  WEFT_CHECK(is_cuda || options.arch.empty(), ArgumentError, "arch ", options.arch,
             " is for backend nvrtc, but the backend is ", options.backend);
  PlannerOptions planner = state_->planner_options();
  planner.backend = options.backend;
  planner.numerics = elementwise(options.numerics);
  planner.fold_order = fold_order(options.numerics);
  planner.features = features_for(options.target);
  const bool is_host = planner.features == host_features();
  std::optional<RowBlocks> blocks;
  if (!is_cuda) blocks = plan_row_blocks(std::span(&given_expr, 1), planner.features);
  planner.streaming_bytes = blocks ? state_->row_streaming_bytes(planner.features)
                                   : state_->streaming_bytes(planner.features);
  if (blocks && blocks->part.folds_ask) planner.ahead_bytes = blocks->part.ahead_bytes;

  std::vector<PassText> passes;
  std::optional<Expr> last_fold;
  const auto describe = [&](std::span<const Expr> folds) {
    std::vector<Tensor> values;
    const std::size_t first = passes.size();
    for (const Expr& fold : folds) {
      passes.push_back(describe_pass(fold, planner, state_->kernels));
      WEFT_CHECK(!is_cuda || passes.back().lowered != nullptr, UnsupportedError,
                 "backend nvrtc has no kernel for ", passes.back().text);
      values.push_back(contiguous_layout(fold.node().fold->sizes, fold.dtype()));
      last_fold = fold;
    }
    if (is_cuda) return values;
    for (const JointFolds& joint : join_folds(folds, planner, state_->kernels))
      describe_sharing(joint, std::span(passes).subspan(first));
    return values;
  };
  const bool is_fold = given_expr.node().kind == ExprNode::Kind::fold;
  const auto keep = [&](const Expr& fold) {
    if (is_cuda || !is_worth_keeping(fold, planner)) return Tensor();
    if (blocks) blocks->part.ahead_bytes = 0;  // what is kept has asked
    passes.push_back(describe_kept(fold));
    return contiguous_layout(fold.node().fold->arg_sizes, Expr(fold.node().args[0]).dtype());
  };
  const Expr rest =
      without_folds(std::span(&given_expr, 1), ComputeFolds(describe), KeepArgument(keep))[0];
  const Expr expr = is_fold ? Expr(last_fold->node().args[0]) : rest;
  const Tensor out = is_fold ? Tensor() : given_out;

  const Program program = flatten(std::span(&expr, 1), std::span(&out, 1));
  std::vector<Tensor> inputs = leaves_of(program);
  // A handle of its own, which may be resized; but an output that is also an input never is.
  const auto is_out = [&](const Tensor& input) { return input.is_same(out); };
  Tensor given = out;
  if (out.defined() && std::ranges::none_of(inputs, is_out)) given = finish_view(copy_view(out));
  if (inputs.empty() && !given.defined()) given = empty({}, program.output_dtypes[0]);
  const TensorIterator iterator = plan_iteration(program, std::span(&given, 1), inputs, true);

  Explanation explanation;
  for (const PassText& told : passes) explanation.passes.push_back(told.text);
  explanation.precompiled = told_loops(passes);
  const Tensor& result = is_fold ? rest.node().tensor : iterator.output(0);
  explanation.result_dtype = result.dtype();
  explanation.result_sizes.assign(result.sizes().begin(), result.sizes().end());
  explanation.result_strides.assign(result.strides().begin(), result.strides().end());
  explanation.common_dtype = root_dtype(expr);
  explanation.fast_setup = name(iterator.fast_setup());
  explanation.perm.assign(iterator.perm().begin(), iterator.perm().end());
  explanation.shape.assign(iterator.shape().begin(), iterator.shape().end());
  describe_operands(program, iterator, explanation);

  const auto wanted = [&](std::string_view stage) {
    return std::ranges::find(options.emit, stage) != options.emit.end();
  };
  if (wanted("iter")) explanation.texts["iter"] = iterator.text();
  // A reduction that code is generated for is one kernel with what it reduces; one of what lies
  // ready needs no other kernel.
  const PassText* const last = is_fold ? &passes.back() : nullptr;
  const bool is_compiled = is_fold && last->is_compiled;
  const bool is_ready = is_fold && last->reads_in_place;
  const bool has_ir = !is_ready || last->lowered != nullptr;
  const DeviceType runs_on = is_cuda ? DeviceType::cuda : DeviceType::cpu;
  Lowered lowered = is_compiled || (is_ready && has_ir) ? *last->lowered
                                                        : lower(iterator, program, planner.numerics,
                                                                planner.streaming_bytes, runs_on);
  if (blocks) {
    const bool has_asked = blocks->part.ahead_bytes == 0;
    blocks->choose_stores(
        static_cast<double>(result.numel()) * static_cast<double>(itemsize_bytes(result.dtype())),
        planner.streaming_bytes);
    lowered.kernel.is_unfenced = lowered.kernel.is_streaming;
    if (!is_fold && !has_asked)
      ask_ahead(lowered, asked_by_last(blocks->part.ahead_bytes, planner.features));
  }
  if (is_cuda) {
    const CudaCall call = explain_cuda(lowered, iterator, program, options, explanation);
    explanation.story = make_story({explanation,
                                    given_expr,
                                    result,
                                    expr,
                                    program,
                                    iterator,
                                    lowered,
                                    call.signature,
                                    call.compiled,
                                    planner,
                                    {}});
    explanation.story.chapters.push_back(call.chapter);
    return explanation;
  }
  const jit::Signature signature = signature_of(lowered.kernel, planner);
  explanation.signature = jit::text(signature);
  explanation.signature_hash = jit::hash(signature);
  jit::Target target;
  target.features = planner.features;
  // Code for other machines may refer to what this one lacks.
  target.run = is_host;
  target.keep_texts = !is_host || wanted("llvm") || wanted("asm");
  const jit::CompiledKernel compiled =
      is_ready ? not_compiled(signature, target) : jit::compile(signature, target);
  explanation.backend = compiled.code->backend;
  if (is_fold)
    for (const std::string& refusal : last->refusals)
      explanation.refusals.push_back(refusal + " (the reduction as a whole)");
  explanation.refusals.insert(explanation.refusals.end(), compiled.refusals.begin(),
                              compiled.refusals.end());
  explanation.schedule = has_ir ? ir::name(compiled.kernel.schedule) : last->schedule;
  explanation.compile_us = compiled.code->compile_us;

  const std::string assembly = code_text(*compiled.code, "asm");
  const LoopListing ready = is_ready ? list_loop(last->loops.front()) : LoopListing();
  const jit::AssemblyLoops loops = is_ready ? ready.loops : jit::find_loops(assembly);
  add_texts(
      {compiled, assembly, loops, passes, last, is_compiled, is_ready, has_ir, planner.features},
      options.emit, explanation);
  const std::int64_t folded_bytes =
      is_fold ? result.numel() * static_cast<std::int64_t>(itemsize_bytes(result.dtype())) : -1;
  explanation.story = make_story(
      {explanation, given_expr, result, expr, program, iterator, lowered, signature, compiled,
       planner, loops, is_ready ? ready.throughput : hot_throughput(*compiled.code, loops),
       folded_bytes, is_ready ? &ready : nullptr, has_ir, blocks ? blocks->rows_per_block : 0});
  return explanation;
}

}  // namespace weft
