#include "engine/explain/explain_cuda.h"

#include "ir/text.h"
#include "jit/nvrtc/backend.h"
#include "jit/nvrtc/reduce.h"
#include "jit/signature.h"

#include <weft/error.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace weft {
namespace {

using jit::nvrtc::Nest;
using jit::nvrtc::Prepared;
using jit::nvrtc::Variant;

constexpr const char* default_arch = "sm_90";

/// The call as a launch; storages, which may have no bytes, are taken to be aligned.
Nest nest_of(const Lowered& lowered, const TensorIterator& iterator, const Program& program) {
  Nest nest;
  nest.extents = lowered.extents;
  nest.stride_bytes = lowered.stride_bytes;
  for (std::size_t i = 0; i < lowered.kernel.operands.size(); ++i) {
    if (lowered.kernel.operands[i].role == ir::Role::place) {
      nest.base.push_back(0);
      continue;
    }
    const bool is_output = static_cast<int>(i) < program.num_outputs;
    const auto leaf = i - static_cast<std::size_t>(program.num_outputs);
    const Tensor& tensor =
        is_output ? iterator.output(static_cast<int>(i)) : program.leaves[leaf]->tensor;
    nest.base.push_back(static_cast<std::uint64_t>(tensor.storage_offset()) *
                        itemsize_bytes(tensor.dtype()));
  }
  nest.params.resize(lowered.kernel.params.size());
  return nest;
}

/// PTX and machine code, as far as they are asked for.
void compile(const std::string& source, const std::string& arch, bool wants_sass,
             Explanation& explanation) {
  const jit::nvrtc::DeviceCode code =
      jit::nvrtc::compile_source(nvrtc(), source, {.arch = arch, .is_verbose = false});
  explanation.compile_us += code.compile_us;
  explanation.texts["ptx"] = code.ptx;
  if (wants_sass)
    explanation.texts["sass"] =
        jit::nvrtc::disassemble(code.cubin, jit::nvrtc::find_disassembler());
}

Story::Chapter device_chapter(const ir::Kernel& kernel, const Variant& variant, const Nest& nest,
                              const std::string& arch) {
  // As if for an H200; devices differ.
  constexpr int num_multiprocessors = 132;
  const jit::nvrtc::Launches planned = jit::nvrtc::plan_launches(
      kernel, variant, nest, jit::nvrtc::max_blocks_for(kernel, num_multiprocessors));
  Story::Chapter chapter{"device", {}};
  const auto say = [&](const auto&... text) { chapter.lines.push_back(detail::concat(text...)); };
  if (ir::is_reduction(kernel)) {
    say("a warp folds a leaf of the tree at a time, ", jit::nvrtc::sets_of(kernel, variant).items,
        jit::nvrtc::is_inner_walk(kernel) ? " lanes" : " columns", " a thread");
  } else if (ir::is_scan(kernel) && jit::nvrtc::is_inner_walk(kernel)) {
    say("a warp or a block scans a part of a row, ", jit::nvrtc::scanned_items(kernel, variant),
        " elements a thread at a time");
  } else if (ir::is_scan(kernel)) {
    say("a thread scans ", variant.items, " columns, or a part of them");
  } else if (kernel.schedule == ir::Schedule::tile) {
    const std::size_t inner = kernel.loops.size() - 1;
    say("tiles of ", jit::nvrtc::loop_step(kernel, variant, inner - 1), " by ",
        jit::nvrtc::loop_step(kernel, variant, inner), " items are turned in shared memory",
        variant.tile.batch > 1 ? detail::concat(", ", variant.tile.batch, " at once") : "");
    say("a thread turns squares of ", variant.items, " by ", variant.items);
  } else {
    say("a thread has ", jit::nvrtc::vectors_in_flight(kernel, variant.items), " times ",
        variant.items, " items on the way at once");
  }
  if (variant.halves) say("elements are moved in halves, at whose multiples they lie");
  std::string blocks;
  for (const jit::nvrtc::Launch& launch : planned.launches)
    blocks += detail::concat(blocks.empty() ? "" : ", then ", launch.blocks);
  say("indices of ", variant.index_bits, " bits, ", blocks, " blocks of ",
      jit::nvrtc::threads_per_block, " threads for ", arch);
  return chapter;
}

}  // namespace

CudaCall explain_cuda(const Lowered& lowered, const TensorIterator& iterator,
                      const Program& program, const ExplainOptions& options,
                      Explanation& explanation) {
  const std::string arch = options.arch.empty() ? default_arch : options.arch;
  jit::nvrtc::check_arch(arch);
  CudaCall call;
  call.signature = {lowered.kernel, target_features(Isa::generic), "nvrtc " + arch};
  explanation.signature = jit::text(call.signature);
  explanation.signature_hash = jit::hash(call.signature);

  const auto start = std::chrono::steady_clock::now();
  const Prepared prepared = jit::nvrtc::prepare(lowered.kernel);
  WEFT_CHECK(prepared.refusal.empty(), UnsupportedError,
             "no backend can compile this kernel; nvrtc: ", prepared.refusal);
  const Nest nest = jit::nvrtc::nest_of_parts(prepared, nest_of(lowered, iterator, program));
  const Variant variant = jit::nvrtc::choose_variant(prepared.kernel, nest);
  const std::string source = jit::nvrtc::emit_source(prepared.kernel, variant);
  explanation.compile_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  explanation.backend = "nvrtc";
  explanation.schedule = ir::name(prepared.kernel.schedule);

  const auto wanted = [&](std::string_view stage) {
    return std::ranges::find(options.emit, stage) != options.emit.end();
  };
  // The source alone can be had without NVRTC.
  if (wanted("ptx") || wanted("sass") || nvrtc().library.reason.empty())
    compile(source, arch, wanted("sass"), explanation);
  if (!wanted("ptx")) explanation.texts.erase("ptx");
  if (wanted("signature")) explanation.texts["signature"] = explanation.signature + "\n";
  if (wanted("ir")) explanation.texts["ir"] = ir::print(prepared.kernel);
  if (wanted("cuda")) explanation.texts["cuda"] = source;
  for (const char* stage : {"llvm", "asm"})
    if (wanted(stage))
      explanation.texts[stage] = detail::concat("; backend nvrtc makes no ", stage, "\n");
  call.chapter = device_chapter(prepared.kernel, variant, nest, arch);
  auto code = std::make_shared<jit::CodeObject>();
  code->backend = "nvrtc";
  call.compiled.kernel = prepared.kernel;
  call.compiled.code = std::move(code);
  return call;
}

}  // namespace weft
