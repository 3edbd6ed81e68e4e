#include "jit/llvm/linker.h"

#include "jit/llvm/emit.h"
#include "jit/llvm/math.h"
#include "runtime/exec_memory.h"

#include <weft/error.h>

#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>

#include <cstring>
#include <vector>

namespace weft::jit {
namespace {

/// Finds the functions that emitted code may call, and nothing else of the process.
class MathResolver : public llvm::JITSymbolResolver {
 public:
  void lookup(const LookupSet& symbols, OnResolvedFunction on_resolved) override {
    LookupResult found;
    for (llvm::StringRef symbol : symbols) {
      const void* address = find_math_function({symbol.data(), symbol.size()});
      if (address == nullptr)
        return on_resolved(
            llvm::createStringError("the code calls " + symbol + ", which is not there"));
      found[symbol] = {reinterpret_cast<std::uintptr_t>(address), llvm::JITSymbolFlags::Exported};
    }
    on_resolved(std::move(found));
  }
  llvm::Expected<LookupSet> getResponsibilitySet(const LookupSet&) override { return LookupSet(); }
};

/// Sections are laid out in ordinary memory, relocated for where they will run, and copied there at
/// the end.
class StagingMemory : public llvm::RuntimeDyld::MemoryManager {
 public:
  std::uint8_t* allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned,
                                    llvm::StringRef) override {
    return allocate(size, alignment);
  }
  std::uint8_t* allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned,
                                    llvm::StringRef, bool) override {
    return allocate(size, alignment);
  }
  void registerEHFrames(std::uint8_t*, std::uint64_t, std::size_t) override {}
  void deregisterEHFrames() override {}
  bool finalizeMemory(std::string*) override { return false; }

  std::size_t size_bytes() const { return size_bytes_; }
  void map_to(llvm::RuntimeDyld& linker, const std::byte* run) const {
    for (const Section& section : sections_)
      linker.mapSectionAddress(section.bytes.get(),
                               reinterpret_cast<std::uintptr_t>(run) + section.offset);
  }
  void copy_to(std::byte* write) const {
    for (const Section& section : sections_)
      std::memcpy(write + section.offset, section.bytes.get(), section.size);
  }

 private:
  struct Section {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size;
    std::size_t offset;
  };

  std::uint8_t* allocate(std::size_t size, std::size_t alignment) {
    if (alignment == 0) alignment = 1;
    size_bytes_ = (size_bytes_ + alignment - 1) / alignment * alignment;
    sections_.push_back({std::make_unique<std::uint8_t[]>(size), size, size_bytes_});
    size_bytes_ += size;
    return sections_.back().bytes.get();
  }

  std::vector<Section> sections_;
  std::size_t size_bytes_ = 0;
};

}  // namespace

LinkedCode link_kernel(const llvm::object::ObjectFile& object) {
  StagingMemory staging;
  MathResolver resolver;
  llvm::RuntimeDyld linker(staging, resolver);
  linker.loadObject(object);
  WEFT_CHECK(!linker.hasError(), CompileError, linker.getErrorString().str());
  const CodeBlock block = allocate_code(staging.size_bytes());
  staging.map_to(linker, block.run);
  linker.resolveRelocations();
  WEFT_CHECK(!linker.hasError(), CompileError, linker.getErrorString().str());
  staging.copy_to(block.write);
  const std::uint64_t entry = linker.getSymbol(kernel_symbol).getAddress();
  WEFT_ASSERT(entry != 0, "the object defines no ", kernel_symbol);
  return {reinterpret_cast<const void*>(static_cast<std::uintptr_t>(entry)), staging.size_bytes(),
          block.owner};
}

}  // namespace weft::jit
