// The pieces of LLVM's MC layer, which refer to one another and must live together.
#pragma once

#include "jit/llvm/compiler.h"

#include <weft/error.h>

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCDisassembler/MCSymbolizer.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <cstdint>
#include <memory>
#include <string>

namespace weft::jit {

/// Reads x86-64 code of every extension that can turn up, whatever this machine has.
///
/// Requires: initialise_llvm().
class MachineCode {
 public:
  MachineCode()
      : triple_(target_triple()),
        target_(find_target()),
        registers_(target_.createMCRegInfo(triple_.str())),
        asm_info_(target_.createMCAsmInfo(*registers_, triple_.str(), options_)),
        instructions_(target_.createMCInstrInfo()),
        subtarget_(make_subtarget("x86-64")),
        context_(triple_, asm_info_.get(), registers_.get(), subtarget_.get()),
        decoder_(target_.createMCDisassembler(*subtarget_, context_)),
        printer_(target_.createMCInstPrinter(triple_, intel_syntax, *asm_info_, *instructions_,
                                             *registers_)) {
    WEFT_ASSERT(decoder_ && printer_, "LLVM was built without the x86 disassembler");
    printer_->setPrintImmHex(true);
  }

  void set_symbolizer(std::unique_ptr<llvm::MCSymbolizer> symbolizer) {
    decoder_->setSymbolizer(std::move(symbolizer));
  }
  llvm::MCContext& context() { return context_; }
  const llvm::Target& target() const { return target_; }
  const llvm::MCInstrInfo& instructions() const { return *instructions_; }
  const llvm::MCRegisterInfo& registers() const { return *registers_; }
  /// A processor by name, with every extension.
  std::unique_ptr<llvm::MCSubtargetInfo> make_subtarget(llvm::StringRef processor) const {
    return std::unique_ptr<llvm::MCSubtargetInfo>(
        target_.createMCSubtargetInfo(triple_.str(), processor, all_features));
  }

  /// The length of the instruction at `offset`; 0 if there is none.
  std::uint64_t decode(llvm::ArrayRef<std::uint8_t> code, std::uint64_t offset,
                       llvm::MCInst& inst) {
    std::uint64_t length = 0;
    const auto status =
        decoder_->getInstruction(inst, length, code.drop_front(offset), offset, llvm::nulls());
    return status == llvm::MCDisassembler::Success ? length : 0;
  }
  void print(const llvm::MCInst& inst, std::uint64_t offset, llvm::raw_ostream& out) {
    printer_->printInst(&inst, offset, "", *subtarget_, out);
  }

 private:
  static constexpr const char* all_features =
      "+avx2,+fma,+f16c,+bmi,+bmi2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+avx512vbmi,"
      "+avx512bf16,+avx512fp16";
  static constexpr unsigned intel_syntax = 1;

  static const llvm::Target& find_target() {
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(target_triple(), error);
    WEFT_ASSERT(target != nullptr, error);
    return *target;
  }

  llvm::Triple triple_;
  const llvm::Target& target_;
  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> asm_info_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

}  // namespace weft::jit
