#include "engine/explain/code_texts.h"

#include "engine/explain/story.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "jit/disassemble.h"

#include <weft/error.h>

namespace weft {
namespace {

/// A text of code for people: the loops of machine code are marked.
std::string shown_text(const jit::CompiledKernel& compiled, const std::string& stage,
                       const std::string& text, const jit::AssemblyLoops& loops) {
  if (text.empty())
    return detail::concat("; backend ", compiled.code->backend, " makes no ", stage, "\n");
  return stage == "asm" ? with_loops(text, loops, stored_bytes_per_element(compiled.kernel)) : text;
}

/// In place of IR.
constexpr const char* no_ir =
    "; loops that are compiled with weft run: there is no IR of the call\n";

/// The IR of a reduction, which says in which order it combines.
std::string reduction_text(ir::Kernel kernel, const CpuFeatures& features) {
  kernel.vector_bytes = jit::Target{features}.vector_bytes();
  ir::run_pipeline(kernel);
  return detail::concat("; the reduction:\n", ir::print(kernel),
                        "; what computes the values that it accumulates:\n");
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

}  // namespace

std::string code_text(const jit::CodeObject& code, const std::string& stage) {
  const auto text = code.texts.find(stage);
  if (text != code.texts.end()) return text->second;
  if (stage != "asm" || code.instruction_bytes == 0) return {};
  return jit::disassemble({code.instructions(), code.instruction_bytes});
}

jit::Throughput hot_throughput(const jit::CodeObject& code, const jit::AssemblyLoops& loops) {
  if (loops.hot < 0) return {};
  const jit::AssemblyLoop& hot = loops.loops[static_cast<std::size_t>(loops.hot)];
  const std::size_t end = hot.end_offset == 0 ? code.instruction_bytes : hot.end_offset;
  if (hot.calls) return {0, {}, "the loop calls functions, which they know nothing of"};
  if (code.instructions() == nullptr || end > code.instruction_bytes || hot.first_offset >= end)
    return {0, {}, "code for other machines is there as text alone"};
  return jit::loop_throughput({code.instructions() + hot.first_offset, end - hot.first_offset});
}

void add_code_texts(const CodeParts& parts, const std::vector<std::string>& emit,
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

}  // namespace weft
