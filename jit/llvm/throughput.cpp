#include "jit/llvm/throughput.h"

#include "jit/llvm/machine_code.h"

#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MCA/Context.h>
#include <llvm/MCA/CustomBehaviour.h>
#include <llvm/MCA/InstrBuilder.h>
#include <llvm/MCA/Pipeline.h>
#include <llvm/MCA/SourceMgr.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <vector>

namespace weft::jit {
namespace {

namespace mca = llvm::mca;

std::vector<llvm::MCInst> decode_all(MachineCode& machine, std::span<const std::byte> code) {
  const llvm::ArrayRef<std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(code.data()),
                                           code.size());
  std::vector<llvm::MCInst> instructions;
  for (std::uint64_t offset = 0; offset < code.size();) {
    llvm::MCInst inst;
    const std::uint64_t length = machine.decode(bytes, offset, inst);
    WEFT_CHECK(length != 0, CompileError, "there is no instruction at offset ", offset);
    instructions.push_back(inst);
    offset += length;
  }
  return instructions;
}

/// The cycles that so many iterations take on an empty processor.
unsigned simulate(llvm::ArrayRef<std::unique_ptr<mca::Instruction>> loop, unsigned iterations,
                  const MachineCode& machine, const llvm::MCSubtargetInfo& processor) {
  mca::CircularSourceMgr source(loop, iterations);
  mca::CustomBehaviour behaviour(processor, source, machine.instructions());
  mca::Context context(machine.registers(), processor);
  constexpr bool loads_pass_stores = true;
  const mca::PipelineOptions of_the_model(0, 0, 0, 0, 0, 0, loads_pass_stores);
  const std::unique_ptr<mca::Pipeline> pipeline =
      context.createDefaultPipeline(of_the_model, source, behaviour);
  llvm::Expected<unsigned> cycles = pipeline->run();
  WEFT_CHECK(static_cast<bool>(cycles), CompileError, llvm::toString(cycles.takeError()));
  return *cycles;
}

double cycles_on(const MachineCode& machine, const std::vector<llvm::MCInst>& code,
                 const llvm::MCSubtargetInfo& processor) {
  WEFT_CHECK(
      processor.getSchedModel().hasInstrSchedModel() && processor.getSchedModel().isOutOfOrder(),
      CompileError, "LLVM has no model of this processor");
  const std::unique_ptr<llvm::MCInstrAnalysis> analysis(
      machine.target().createMCInstrAnalysis(&machine.instructions()));
  mca::InstrumentManager no_instruments(processor, machine.instructions());
  constexpr unsigned call_latency = 100;
  mca::InstrBuilder builder(processor, machine.instructions(), machine.registers(), analysis.get(),
                            no_instruments, call_latency);
  constexpr std::size_t longest = 1000;
  WEFT_CHECK(!code.empty() && code.size() <= longest, CompileError, "a loop of ", code.size(),
             " instructions takes too long to simulate");
  std::vector<std::unique_ptr<mca::Instruction>> loop;
  for (const llvm::MCInst& inst : code) {
    auto made = builder.createInstruction(inst, {});
    WEFT_CHECK(static_cast<bool>(made), CompileError, llvm::toString(made.takeError()));
    loop.push_back(std::move(*made));
  }
  // The difference leaves out how the loop starts and ends.  Some 2 us an instruction.
  constexpr std::size_t instructions_at_most = 3000;
  const auto many =
      static_cast<unsigned>(std::clamp<std::size_t>(instructions_at_most / loop.size(), 6, 150));
  const unsigned few = many / 3;
  const unsigned start = simulate(loop, few, machine, processor);
  return static_cast<double>(simulate(loop, many, machine, processor) - start) / (many - few);
}

}  // namespace

ModelCycles loop_cycles(std::span<const std::byte> loop) {
  MachineCode machine;
  const std::vector<llvm::MCInst> code = decode_all(machine, loop);
  // The second is for code that this machine can't run, and for processors that LLVM does not know.
  std::string reason;
  for (std::string name : {llvm::sys::getHostCPUName().str(), std::string("skylake-avx512")}) {
    try {
      const double cycles = cycles_on(machine, code, *machine.make_subtarget(name));
      return {cycles, std::move(name)};
    } catch (const CompileError& error) {
      if (reason.empty()) reason = error.what();
    }
  }
  throw CompileError(reason);
}

}  // namespace weft::jit
