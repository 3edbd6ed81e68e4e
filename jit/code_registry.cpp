#include "jit/code_registry.h"

#include "runtime/file.h"
#include "runtime/fork_handlers.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

// The interface that debuggers know by these names and layouts.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

/// A debugger puts a breakpoint here.
[[gnu::noinline, gnu::weak, gnu::visibility("default")]] void __jit_debug_register_code() {
  __asm__ volatile("" ::: "memory");
}
[[gnu::weak, gnu::visibility("default")]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr,
                                                                                   nullptr};
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace weft::jit {
namespace {

enum Action : std::uint32_t { no_action, registers, unregisters };

/// An object file with one function symbol at the address where the code lies.
struct SymbolFile {
  static constexpr auto section_names = std::to_array("\0.text\0.symtab\0.strtab\0.shstrtab");
  enum Section : std::uint16_t { none, text, symtab, strtab, shstrtab, num_sections };

  Elf64_Ehdr header{};
  std::array<Elf64_Shdr, num_sections> sections{};
  std::array<Elf64_Sym, 2> symbols{};
  decltype(section_names) names = section_names;
  std::array<char, 128> strings{};

  SymbolFile(std::string_view name, std::span<const std::byte> code) {
    const auto address = reinterpret_cast<std::uint64_t>(code.data());
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_shoff = offsetof(SymbolFile, sections);
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = num_sections;
    header.e_shstrndx = shstrtab;

    set(text, 1, SHT_NOBITS, 0, code.size());
    sections[text].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    sections[text].sh_addr = address;
    set(symtab, 7, SHT_SYMTAB, offsetof(SymbolFile, symbols), sizeof symbols);
    sections[symtab].sh_link = strtab;
    sections[symtab].sh_info = 1;  // the first symbol that is not local
    sections[symtab].sh_entsize = sizeof(Elf64_Sym);
    set(strtab, 15, SHT_STRTAB, offsetof(SymbolFile, strings), sizeof strings);
    set(shstrtab, 23, SHT_STRTAB, offsetof(SymbolFile, names), sizeof names);

    symbols[1].st_name = 1;
    symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbols[1].st_shndx = text;
    symbols[1].st_size = code.size();
    name.copy(strings.data() + 1, strings.size() - 2);
  }

  void set(Section section, std::uint32_t name, std::uint32_t type, std::size_t offset,
           std::size_t size) {
    sections[section].sh_name = name;
    sections[section].sh_type = type;
    sections[section].sh_offset = offset;
    sections[section].sh_size = size;
    sections[section].sh_addralign = 1;
  }
};

std::mutex& registry_mutex() {
  static std::mutex& mutex = *[] {
    const auto after_fork = [] { registry_mutex().unlock(); };
    auto made = std::make_unique<std::mutex>();
    around_fork([] { registry_mutex().lock(); }, after_fork, after_fork);
    return made.release();  // code may die while the process exits
  }();
  return mutex;
}

/// A symbol file in the debugger's list.
class DebuggerEntry {
 public:
  DebuggerEntry(std::string_view name, std::span<const std::byte> code) : file_(name, code) {
    entry_.symfile_addr = reinterpret_cast<const char*>(&file_);
    entry_.symfile_size = sizeof file_;
    const std::lock_guard lock(registry_mutex());
    entry_.next_entry = __jit_debug_descriptor.first_entry;
    if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = &entry_;
    __jit_debug_descriptor.first_entry = &entry_;
    notify(registers);
  }
  ~DebuggerEntry() {
    const std::lock_guard lock(registry_mutex());
    if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = entry_.prev_entry;
    (entry_.prev_entry != nullptr ? entry_.prev_entry->next_entry
                                  : __jit_debug_descriptor.first_entry) = entry_.next_entry;
    notify(unregisters);
  }
  DebuggerEntry(const DebuggerEntry&) = delete;
  DebuggerEntry& operator=(const DebuggerEntry&) = delete;

 private:
  void notify(Action action) {
    __jit_debug_descriptor.relevant_entry = &entry_;
    __jit_debug_descriptor.action_flag = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action_flag = no_action;
  }

  SymbolFile file_;
  jit_code_entry entry_{};
};

/// One write of one short line, so that lines of several threads do not mix.
void append_to_perf_map(std::string_view name, std::span<const std::byte> code) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/tmp/perf-%d.map", static_cast<int>(getpid()));
  // Others can put a pipe of that name into /tmp, which would be waited for, or a file of theirs.
  const FileDescriptor file(
      open(path.data(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat found;
  if (file.get() < 0 || fstat(file.get(), &found) != 0) return;
  if (!S_ISREG(found.st_mode) || !is_own(found)) return;
  std::array<char, 256> line;
  const int size = std::snprintf(line.data(), line.size(), "%" PRIxPTR " %zx %.*s\n",
                                 reinterpret_cast<std::uintptr_t>(code.data()), code.size(),
                                 static_cast<int>(name.size()), name.data());
  if (size > 0 && static_cast<std::size_t>(size) < line.size() &&
      write(file.get(), line.data(), static_cast<std::size_t>(size)) != size)
    return;  // nobody is served by an error here
}

}  // namespace

bool is_code_registered() {
  static const bool is_asked_for = [] {
    const char* value = ::secure_getenv("WEFT_PERF");
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  }();
  return is_asked_for;
}

void prepare_code_registry() {
  registry_mutex();
  is_code_registered();
}

std::string symbol_name(const ir::Kernel& kernel) {
  constexpr std::size_t max_ops_length = 40;
  std::string ops;
  for (const ir::Inst& inst : kernel.body) {
    if (inst.op == Op::load || inst.op == Op::store || inst.op == Op::constant ||
        inst.op == Op::param)
      continue;
    const std::string_view op_name = name(ir::accumulates(inst) ? inst.combine : inst.op);
    if (ops.size() > max_ops_length) {
      ops += "_etc";
      break;
    }
    if (!ops.empty()) ops += '_';
    ops += op_name;
  }
  if (ops.empty()) ops = "copy";
  std::array<char, 16> hash;
  std::snprintf(hash.data(), hash.size(), "%08x",
                static_cast<unsigned>(ir::structural_hash(kernel)));
  return "weft:" + ops + '.' + std::string(name(kernel.operands.front().dtype)) + '.' +
         std::string(name(kernel.schedule)) + '.' + hash.data();
}

std::shared_ptr<const void> register_code(const std::string& name,
                                          std::span<const std::byte> code) {
  append_to_perf_map(name, code);
  return std::make_shared<const DebuggerEntry>(name, code);
}

std::shared_ptr<const CodeObject> registered(std::shared_ptr<const CodeObject> code,
                                             const ir::Kernel& kernel) {
  if (!is_code_registered() || code->instruction_bytes == 0) return code;
  auto result = std::make_shared<CodeObject>(*code);
  const std::span<const std::byte> instructions(code->instructions(), code->instruction_bytes);
  // Destroyed in reverse: the debugger forgets the code before its memory goes.
  struct Owner {
    std::shared_ptr<const void> memory;
    std::shared_ptr<const void> registration;
  };
  result->memory = std::make_shared<const Owner>(
      Owner{code->memory, register_code(symbol_name(kernel), instructions)});
  return result;
}

}  // namespace weft::jit
