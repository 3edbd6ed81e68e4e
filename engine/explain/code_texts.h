// The texts of an explained call's code: IR, assembly, and what the passes before it run.
#pragma once

#include "engine/fold/fold_call.h"
#include "jit/assembly_loops.h"
#include "jit/backend.h"
#include "jit/throughput.h"

#include <weft/engine.h>

#include <span>
#include <string>
#include <vector>

namespace weft {

/// What the backend kept of a stage; machine code that it did not print is disassembled here.
/// Empty if there is none.
std::string code_text(const jit::CodeObject& code, const std::string& stage);

/// What LLVM's models make of the hot loop, whose code lies in memory.
jit::Throughput hot_throughput(const jit::CodeObject& code, const jit::AssemblyLoops& loops);

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

/// Fills in the stages that are asked for, but for "iter", which is of the plan.
void add_code_texts(const CodeParts& parts, const std::vector<std::string>& emit,
                    Explanation& explanation);

}  // namespace weft
