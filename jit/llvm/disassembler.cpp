#include "jit/llvm/disassembler.h"

#include "jit/llvm/compiler.h"

#include <weft/error.h>

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCDisassembler/MCSymbolizer.h>
#include <llvm/MC/MCExpr.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>

namespace weft::jit {
namespace {

/// Code of every extension can turn up, whatever this machine has.
constexpr const char* all_features =
    "+avx2,+fma,+f16c,+bmi,+bmi2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+avx512vbmi,"
    "+avx512bf16,+avx512fp16";

constexpr unsigned intel_syntax = 1;

/// Offsets that some jump goes to, and the labels printed for them.
using Labels = std::map<std::uint64_t, std::string>;

/// Puts names into operands: those of relocations, and labels where a jump stays within the code.
class Namer : public llvm::MCSymbolizer {
 public:
  Namer(llvm::MCContext& context, std::uint64_t size, Labels& labels,
        const Relocations& relocations)
      : MCSymbolizer(context, nullptr), size_(size), labels_(labels), relocations_(relocations) {}

  bool tryAddingSymbolicOperand(llvm::MCInst& inst, llvm::raw_ostream&, std::int64_t value,
                                std::uint64_t address, bool is_branch, std::uint64_t offset,
                                std::uint64_t, std::uint64_t) override {
    std::string label;
    if (const auto found = relocations_.find(address + offset); found != relocations_.end())
      label = found->second;
    else if (is_branch && static_cast<std::uint64_t>(value) < size_)
      label = labels_[static_cast<std::uint64_t>(value)];
    else
      return false;
    // The first walk only collects the targets; they have no name yet.
    llvm::MCSymbol* symbol = Ctx.getOrCreateSymbol(label.empty() ? "unnamed" : label);
    inst.addOperand(llvm::MCOperand::createExpr(llvm::MCSymbolRefExpr::create(symbol, Ctx)));
    return true;
  }
  void tryAddingPcLoadReferenceComment(llvm::raw_ostream&, std::int64_t, std::uint64_t) override {}

 private:
  std::uint64_t size_;
  Labels& labels_;
  const Relocations& relocations_;
};

/// The pieces of MC, which refer to one another and must live together.
class Machine {
 public:
  Machine()
      : triple_(target_triple()),
        target_(find_target()),
        registers_(target_.createMCRegInfo(triple_.str())),
        asm_info_(target_.createMCAsmInfo(*registers_, triple_.str(), options_)),
        instructions_(target_.createMCInstrInfo()),
        subtarget_(target_.createMCSubtargetInfo(triple_.str(), "x86-64", all_features)),
        context_(triple_, asm_info_.get(), registers_.get(), subtarget_.get()),
        decoder_(target_.createMCDisassembler(*subtarget_, context_)),
        printer_(target_.createMCInstPrinter(triple_, intel_syntax, *asm_info_, *instructions_,
                                             *registers_)) {
    WEFT_ASSERT(decoder_ && printer_, "LLVM was built without the x86 disassembler");
    printer_->setPrintImmHex(true);
  }

  void set_namer(std::unique_ptr<Namer> namer) { decoder_->setSymbolizer(std::move(namer)); }
  llvm::MCContext& context() { return context_; }

  /// Decodes at `offset`; appends the text unless `out` is null.  Returns the length, at least 1.
  std::uint64_t decode(llvm::ArrayRef<std::uint8_t> code, std::uint64_t offset,
                       llvm::raw_ostream* out) {
    llvm::MCInst inst;
    std::uint64_t length = 0;
    const auto status =
        decoder_->getInstruction(inst, length, code.drop_front(offset), offset, llvm::nulls());
    if (status != llvm::MCDisassembler::Success) {
      if (out != nullptr) *out << "\t.byte " << llvm::format_hex(code[offset], 4);
      return 1;
    }
    if (out != nullptr) printer_->printInst(&inst, offset, "", *subtarget_, *out);
    return length;
  }

 private:
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

/// One printed instruction, its tabs made into one space.
std::string tidy(llvm::StringRef printed) {
  std::string text = printed.trim().str();
  for (char& letter : text)
    if (letter == '\t') letter = ' ';
  return text;
}

}  // namespace

std::string disassemble_x86(std::span<const std::byte> code, std::uint64_t display_base,
                            const Relocations& relocations) {
  Machine machine;
  Labels labels;
  machine.set_namer(std::make_unique<Namer>(machine.context(), code.size(), labels, relocations));
  const llvm::ArrayRef<std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(code.data()),
                                           code.size());
  for (std::uint64_t offset = 0; offset < code.size();)
    offset += machine.decode(bytes, offset, nullptr);
  int count = 0;
  for (auto& [offset, label] : labels) (label = ".L").append(std::to_string(count++));

  std::string text;
  llvm::raw_string_ostream out(text);
  for (std::uint64_t offset = 0; offset < code.size();) {
    if (const auto label = labels.find(offset); label != labels.end())
      out << label->second << ":\n";
    std::string line;
    llvm::raw_string_ostream line_out(line);
    const std::uint64_t length = machine.decode(bytes, offset, &line_out);
    out << llvm::format("%6llx", static_cast<unsigned long long>(display_base + offset)) << "  "
        << tidy(line) << '\n';
    offset += length;
  }
  return text;
}

}  // namespace weft::jit
