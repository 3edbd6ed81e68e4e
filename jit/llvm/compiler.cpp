#include "jit/llvm/compiler.h"

#include "ir/pass.h"
#include "jit/annotate.h"
#include "jit/llvm/disassembler.h"
#include "jit/llvm/emit.h"

#include <weft/error.h>

#include <llvm/ADT/SmallVector.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include <mutex>
#include <optional>
#include <vector>

namespace weft::jit {
namespace {

/// Leaves out loop strength reduction: a third of the time, for loops that emit_kernel() already
/// writes as it would.  LLVM's own switch for that is global to the process and might be set by
/// others.
class KernelPasses : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass* pass) override {
    if (pass->getPassName() == "Loop Strength Reduction") {
      delete pass;
      return;
    }
    llvm::legacy::PassManager::add(pass);
  }
};

std::unique_ptr<llvm::TargetMachine> make_machine() {
  initialise_llvm();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(target_triple(), error);
  WEFT_CHECK(target != nullptr, CompileError, error);
  llvm::TargetOptions options;
  // Features come with each function, so that one machine serves all targets.
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(target_triple(), "x86-64", "", options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
  WEFT_CHECK(machine != nullptr, CompileError, "no code generator for ", target_triple());
  return machine;
}

/// Code generators that nobody uses now.  Making one costs as much as compiling a small kernel.
class MachinePool {
 public:
  std::unique_ptr<llvm::TargetMachine> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto machine = std::move(idle_.back());
        idle_.pop_back();
        return machine;
      }
    }
    return make_machine();
  }
  void give_back(std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(machine));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_;
};

/// Never destroyed: background compilations may outlive the end of main().
MachinePool& machine_pool() {
  static MachinePool& pool = *new MachinePool;
  return pool;
}

llvm::SmallVector<char, 0> generate_object(llvm::TargetMachine& machine, llvm::Module& module) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  KernelPasses passes;
  llvm::MCContext* context = nullptr;
  WEFT_CHECK(!machine.addPassesToEmitMC(passes, context, stream), CompileError,
             "no object files for ", target_triple());
  passes.run(module);
  return object;
}

void verify(const llvm::Module& module) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  WEFT_CHECK(!llvm::verifyModule(module, &stream), InternalError, "invalid LLVM IR: ", message);
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string text_of(const llvm::object::SymbolRef& symbol) {
  llvm::Expected<llvm::StringRef> name = symbol.getName();
  if (name && !name->empty()) return name->str();
  llvm::consumeError(name.takeError());
  // A section's own symbol: constants are named by where they are kept.
  auto section = symbol.getSection();
  if (!section) {
    llvm::consumeError(section.takeError());
    return "unnamed";
  }
  llvm::Expected<llvm::StringRef> section_name = (*section)->getName();
  if (section_name) return section_name->str();
  llvm::consumeError(section_name.takeError());
  return "unnamed";
}

/// What relocations of the code refer to: "Sleef_finz_expf16_u10avx512f", ".rodata.cst64+64".
Relocations relocations_of(const llvm::object::ObjectFile& object,
                           const llvm::object::SectionRef& code) {
  Relocations names;
  for (const llvm::object::SectionRef& section : object.sections()) {
    auto relocated = section.getRelocatedSection();
    if (!relocated) {
      llvm::consumeError(relocated.takeError());
      continue;
    }
    if (*relocated == object.section_end() || **relocated != code) continue;
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      std::string name = text_of(*relocation.getSymbol());
      auto addend = llvm::object::ELFRelocationRef(relocation).getAddend();
      // The processor counts from the end of the 4 bytes.
      const std::int64_t offset = addend ? *addend + 4 : 0;
      if (!addend) llvm::consumeError(addend.takeError());
      if (offset > 0) name.append("+").append(std::to_string(offset));
      names[relocation.getOffset()] = name;
    }
  }
  return names;
}

/// Which value of the kernel the code from each offset on computes, by the debug information.
std::vector<CodeMark> marks_of(const llvm::object::ObjectFile& object) {
  std::vector<CodeMark> marks;
  const std::unique_ptr<llvm::DWARFContext> debug = llvm::DWARFContext::create(object);
  for (const std::unique_ptr<llvm::DWARFUnit>& unit : debug->compile_units()) {
    const llvm::DWARFDebugLine::LineTable* lines = debug->getLineTableForUnit(unit.get());
    if (lines == nullptr) continue;
    for (const llvm::DWARFDebugLine::Row& row : lines->Rows) {
      const ir::ValueId value = row.Line == 0 ? ir::no_value : row.Line - 1;
      const bool is_known = !marks.empty() && marks.back().value == value;
      if (row.EndSequence || is_known) continue;
      marks.push_back(
          {static_cast<std::uint32_t>(row.Address.Address), value, "loops and addresses"});
    }
  }
  return marks;
}

std::string assembly_of(const std::string& bytes, const ir::Kernel& kernel) {
  const llvm::MemoryBufferRef buffer(bytes, "weft");
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> opened =
      llvm::object::ObjectFile::createELFObjectFile(buffer);
  WEFT_CHECK(static_cast<bool>(opened), CompileError, llvm::toString(opened.takeError()));
  const llvm::object::ObjectFile& object = **opened;
  for (const llvm::object::SectionRef& section : object.sections()) {
    if (!section.isText() || section.getSize() == 0) continue;
    llvm::Expected<llvm::StringRef> contents = section.getContents();
    WEFT_CHECK(static_cast<bool>(contents), CompileError, llvm::toString(contents.takeError()));
    const std::span<const std::byte> code(reinterpret_cast<const std::byte*>(contents->data()),
                                          contents->size());
    return annotate(disassemble_x86(code, 0, relocations_of(object, section)), kernel,
                    marks_of(object));
  }
  return {};
}

}  // namespace

const char* target_triple() { return "x86_64-unknown-linux-gnu"; }

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86Disassembler();
  });
}

CompiledCode compile_with_llvm(ir::Kernel kernel, const Target& target) {
  if (target.features.avx512_bf16) ir::restore_bf16_casts(kernel);
  std::unique_ptr<llvm::TargetMachine> machine = machine_pool().take();
  CompiledCode code;
  std::string annotated;  // the object again, with the lines of the IR
  const auto compile = [&](Lines lines, std::string& object, std::string* text) {
    llvm::LLVMContext context;
    llvm::Module module("weft", context);
    module.setTargetTriple(target_triple());
    module.setDataLayout(machine->createDataLayout());
    emit_kernel(kernel, target, module, lines);
    verify(module);
    if (text != nullptr) *text = text_of(module);
    const llvm::SmallVector<char, 0> bytes = generate_object(*machine, module);
    object.assign(bytes.data(), bytes.size());
  };
  compile(Lines::none, code.object, target.keep_texts ? &code.llvm_text : nullptr);
  if (target.keep_texts) compile(Lines::values, annotated, nullptr);
  machine_pool().give_back(std::move(machine));

  if (target.keep_texts) code.assembly_text = assembly_of(annotated, kernel);
  return code;
}

}  // namespace weft::jit
