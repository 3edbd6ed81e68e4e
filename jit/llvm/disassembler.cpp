#include "jit/llvm/disassembler.h"

#include "jit/llvm/machine_code.h"

#include <llvm/MC/MCExpr.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/Support/Format.h>

#include <memory>
#include <optional>
#include <vector>

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

void name_in_order(Labels& labels) {
  int count = 0;
  for (auto& [offset, label] : labels) (label = ".L").append(std::to_string(count++));
}

/// Puts labels, or addresses outside of the function, into jumps and calls.
class FunctionNamer : public llvm::MCSymbolizer {
 public:
  FunctionNamer(llvm::MCContext& context, std::uint64_t display_base, const Labels& labels)
      : MCSymbolizer(context, nullptr), display_base_(display_base), labels_(labels) {}

  bool tryAddingSymbolicOperand(llvm::MCInst& inst, llvm::raw_ostream&, std::int64_t value,
                                std::uint64_t, bool is_branch, std::uint64_t, std::uint64_t,
                                std::uint64_t) override {
    if (!is_branch) return false;
    const auto found = labels_.find(static_cast<std::uint64_t>(value));
    std::string name;
    llvm::raw_string_ostream out(name);
    if (found != labels_.end())
      out << found->second;
    else
      out << llvm::format_hex(display_base_ + static_cast<std::uint64_t>(value), 1);
    llvm::MCSymbol* symbol = Ctx.getOrCreateSymbol(name);
    inst.addOperand(llvm::MCOperand::createExpr(llvm::MCSymbolRefExpr::create(symbol, Ctx)));
    return true;
  }
  void tryAddingPcLoadReferenceComment(llvm::raw_ostream&, std::int64_t, std::uint64_t) override {}

 private:
  std::uint64_t display_base_;
  const Labels& labels_;
};

/// What control flow reaches from an entry.
struct Flow {
  std::map<std::uint64_t, std::uint64_t> lengths;  ///< offset of an instruction -> its length
  Labels labels;
  bool is_whole = true;
};

Flow follow(MachineCode& machine, llvm::ArrayRef<std::uint8_t> bytes, std::uint64_t entry) {
  const std::unique_ptr<llvm::MCInstrAnalysis> analysis(
      machine.target().createMCInstrAnalysis(&machine.instructions()));
  Flow flow;
  std::vector<std::uint64_t> pending{entry};
  while (!pending.empty()) {
    std::uint64_t at = pending.back();
    pending.pop_back();
    while (at < bytes.size() && !flow.lengths.contains(at)) {
      if (flow.lengths.size() == max_function_instructions) {
        flow.is_whole = false;
        return flow;
      }
      llvm::MCInst inst;
      const std::uint64_t length = machine.decode(bytes, at, inst);
      flow.lengths[at] = std::max<std::uint64_t>(length, 1);
      if (length == 0) break;
      const llvm::MCInstrDesc& kind = machine.instructions().get(inst.getOpcode());
      std::uint64_t target = 0;
      if (kind.isBranch() && analysis->evaluateBranch(inst, at, length, target) &&
          target < bytes.size()) {
        flow.labels[target];
        pending.push_back(target);
      }
      if (kind.isReturn() || kind.isBarrier()) break;
      at += length;
    }
  }
  return flow;
}

}  // namespace

std::string disassemble_x86_function(std::span<const std::byte> code, std::uint64_t entry,
                                     std::uint64_t display_base) {
  MachineCode machine;
  const llvm::ArrayRef<std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(code.data()),
                                           code.size());
  Flow flow = follow(machine, bytes, entry);
  name_in_order(flow.labels);
  machine.set_symbolizer(
      std::make_unique<FunctionNamer>(machine.context(), display_base, flow.labels));
  std::string text;
  llvm::raw_string_ostream out(text);
  std::optional<std::uint64_t> end;
  for (const auto& [offset, length] : flow.lengths) {
    // Up to 15 bytes are padding before what is jumped to.
    constexpr std::uint64_t largest_padding = 15;
    if (end && offset > *end + largest_padding) out << "        ; elsewhere\n";
    if (offset == entry) out << "        ; entry\n";
    if (const auto label = flow.labels.find(offset); label != flow.labels.end())
      out << label->second << ":\n";
    std::string line;
    llvm::raw_string_ostream line_out(line);
    decode(machine, bytes, offset, &line_out);
    out << llvm::format(" %6llx", static_cast<unsigned long long>(display_base + offset)) << "  "
        << tidy(line) << '\n';
    end = offset + length;
  }
  if (!flow.is_whole) out << "        ; and more: the function is longer than what is read\n";
  return text;
}

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
  name_in_order(labels);

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
