#include "jit/llvm/disassembler.h"

#include "jit/llvm/machine_code.h"

#include <llvm/MC/MCExpr.h>
#include <llvm/Support/Format.h>

#include <memory>

namespace weft::jit {
namespace {

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

/// Decodes at `offset`; appends the text unless `out` is null.  Returns the length, at least 1.
std::uint64_t decode(MachineCode& machine, llvm::ArrayRef<std::uint8_t> code, std::uint64_t offset,
                     llvm::raw_ostream* out) {
  llvm::MCInst inst;
  const std::uint64_t length = machine.decode(code, offset, inst);
  if (length == 0) {
    if (out != nullptr) *out << "\t.byte " << llvm::format_hex(code[offset], 4);
    return 1;
  }
  if (out != nullptr) machine.print(inst, offset, *out);
  return length;
}

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
  MachineCode machine;
  Labels labels;
  machine.set_symbolizer(
      std::make_unique<Namer>(machine.context(), code.size(), labels, relocations));
  const llvm::ArrayRef<std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(code.data()),
                                           code.size());
  for (std::uint64_t offset = 0; offset < code.size();)
    offset += decode(machine, bytes, offset, nullptr);
  int count = 0;
  for (auto& [offset, label] : labels) (label = ".L").append(std::to_string(count++));

  std::string text;
  llvm::raw_string_ostream out(text);
  for (std::uint64_t offset = 0; offset < code.size();) {
    if (const auto label = labels.find(offset); label != labels.end())
      out << label->second << ":\n";
    std::string line;
    llvm::raw_string_ostream line_out(line);
    const std::uint64_t length = decode(machine, bytes, offset, &line_out);
    out << llvm::format("%6llx", static_cast<unsigned long long>(display_base + offset)) << "  "
        << tidy(line) << '\n';
    offset += length;
  }
  return text;
}

}  // namespace weft::jit
