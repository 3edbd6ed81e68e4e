// The few kinds of sections, symbols and relocations that position-independent code of the small
// model has on x86-64 (System V ABI, section 4.4).
#include "jit/llvm/object.h"

#include "jit/llvm/library.h"
#include "runtime/exec_memory.h"

#include <weft/error.h>

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace weft::jit {
namespace {

constexpr std::size_t max_loaded_bytes = std::size_t{64} << 20;
constexpr std::size_t max_alignment = 64;  // what code memory gives
constexpr std::size_t stub_bytes = 16;     ///< jmp [rip + 2], two bytes of padding, the address
constexpr std::size_t slot_bytes = 8;      ///< an address that code loads

/// A span of T within the file, checked.
template <class T>
std::span<const T> table(std::span<const std::byte> file, std::uint64_t offset,
                         std::uint64_t size_bytes) {
  WEFT_CHECK(offset <= file.size() && size_bytes <= file.size() - offset, CompileError,
             "the object is cut off");
  WEFT_CHECK(size_bytes % sizeof(T) == 0 &&
                 reinterpret_cast<std::uintptr_t>(file.data() + offset) % alignof(T) == 0,
             CompileError, "the object has a misplaced table");
  return {reinterpret_cast<const T*>(file.data() + offset), size_bytes / sizeof(T)};
}

template <class T>
const T& item(std::span<const T> items, std::size_t index) {
  WEFT_CHECK(index < items.size(), CompileError, "the object has an index out of range");
  return items[index];
}

/// One function of the library that the code refers to.
struct Import {
  std::uint32_t symbol;
  std::uint64_t address;
  std::size_t offset;  ///< of its stub, with the slot that holds its address at the end
};

class Loader {
 public:
  explicit Loader(std::span<const std::byte> file) : file_(file) {
    const Elf64_Ehdr& header = table<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr))[0];
    WEFT_CHECK(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                   header.e_ident[EI_CLASS] == ELFCLASS64 &&
                   header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL &&
                   header.e_machine == EM_X86_64 && header.e_shentsize == sizeof(Elf64_Shdr),
               CompileError, "the object is no relocatable ELF file for x86-64");
    sections_ =
        table<Elf64_Shdr>(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    placed_.assign(sections_.size(), unplaced);
  }

  LoadedObject load() {
    place_sections();
    read_symbols();
    find_imports();
    WEFT_CHECK(size_bytes_ > 0, CompileError, "the object has no code");
    block_ = allocate_code(size_bytes_);
    copy_sections();
    write_imports();
    for (const Elf64_Shdr& section : sections_) relocate(section);
    const Elf64_Sym* entry = find_function(kernel_symbol);
    WEFT_CHECK(entry != nullptr, CompileError, "the object defines no ", kernel_symbol);
    const Elf64_Sym* rows = find_function(rows_symbol);
    return {
        address_of(*entry), rows == nullptr ? nullptr : address_of(*rows),        other_functions(),
        size_bytes_,        sections_[entry->st_shndx].sh_size - entry->st_value, block_.owner};
  }

 private:
  static constexpr std::size_t unplaced = std::numeric_limits<std::size_t>::max();

  std::string_view name(std::span<const char> names, std::uint32_t offset) const {
    WEFT_CHECK(offset < names.size(), CompileError, "the object has a name out of range");
    const char* begin = names.data() + offset;
    return {begin, ::strnlen(begin, names.size() - offset)};
  }

  /// Unwind tables are left out: nothing is thrown through a kernel.
  bool is_loaded(const Elf64_Shdr& section) const {
    return (section.sh_flags & SHF_ALLOC) != 0 && section.sh_type == SHT_PROGBITS &&
           section.sh_size != 0 && !is_unwind_table(section);
  }

  bool is_unwind_table(const Elf64_Shdr& section) const {
    const Elf64_Ehdr& header = table<Elf64_Ehdr>(file_, 0, sizeof(Elf64_Ehdr))[0];
    const Elf64_Shdr& names = item(sections_, header.e_shstrndx);
    return name(table<char>(file_, names.sh_offset, names.sh_size), section.sh_name) == ".eh_frame";
  }

  std::size_t reserve(std::size_t size_bytes, std::size_t alignment) {
    const std::size_t offset = (size_bytes_ + alignment - 1) / alignment * alignment;
    WEFT_CHECK(size_bytes <= max_loaded_bytes && offset <= max_loaded_bytes - size_bytes,
               CompileError, "the object is larger than ", max_loaded_bytes, " bytes");
    size_bytes_ = offset + size_bytes;
    return offset;
  }

  void place_sections() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i];
      WEFT_CHECK(section.sh_type != SHT_NOBITS || section.sh_size == 0, CompileError,
                 "the object has memory of its own");
      if (!is_loaded(section)) continue;
      WEFT_CHECK((section.sh_flags & SHF_WRITE) == 0, CompileError,
                 "the object has data that it writes");
      const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 1);
      WEFT_CHECK((alignment & (alignment - 1)) == 0 && alignment <= max_alignment, CompileError,
                 "the object asks for an alignment of ", alignment);
      placed_[i] = reserve(section.sh_size, alignment);
    }
  }

  void read_symbols() {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB) continue;
      symbols_ = table<Elf64_Sym>(file_, section.sh_offset, section.sh_size);
      const Elf64_Shdr& names = item(sections_, section.sh_link);
      symbol_names_ = table<char>(file_, names.sh_offset, names.sh_size);
    }
  }

  template <class Visit>
  void for_each_relocation(const Elf64_Shdr& section, const Visit& visit) const {
    if (section.sh_type != SHT_RELA || section.sh_info >= sections_.size() ||
        placed_[section.sh_info] == unplaced)
      return;
    for (const Elf64_Rela& rela : table<Elf64_Rela>(file_, section.sh_offset, section.sh_size))
      visit(rela);
  }

  void find_imports() {
    for (const Elf64_Shdr& section : sections_)
      for_each_relocation(section, [&](const Elf64_Rela& rela) {
        const auto id = static_cast<std::uint32_t>(ELF64_R_SYM(rela.r_info));
        const Elf64_Sym& symbol = item(symbols_, id);
        if (symbol.st_shndx != SHN_UNDEF || find_import(id) != nullptr) return;
        const std::string_view wanted = name(symbol_names_, symbol.st_name);
        const void* address = find_library_function(wanted);
        WEFT_CHECK(address != nullptr, CompileError, "the code calls ", wanted,
                   ", which is not there");
        imports_.push_back(
            {id, reinterpret_cast<std::uintptr_t>(address), reserve(stub_bytes, stub_bytes)});
      });
  }

  const Import* find_import(std::uint32_t symbol) const {
    const auto found = std::ranges::find(imports_, symbol, &Import::symbol);
    return found == imports_.end() ? nullptr : &*found;
  }

  void copy_sections() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (placed_[i] == unplaced) continue;
      const auto bytes = table<std::byte>(file_, sections_[i].sh_offset, sections_[i].sh_size);
      std::memcpy(block_.write + placed_[i], bytes.data(), bytes.size());
    }
  }

  /// Calls reach 2 GiB, and libraries may lie further away than that.
  void write_imports() {
    constexpr unsigned char jump[] = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc};
    static_assert(sizeof(jump) + slot_bytes == stub_bytes);
    for (const Import& import : imports_) {
      std::memcpy(block_.write + import.offset, jump, sizeof(jump));
      std::memcpy(block_.write + import.offset + sizeof(jump), &import.address, slot_bytes);
    }
  }

  /// Where a symbol lies, from the start of the block.
  std::int64_t offset_of(std::uint32_t id, std::uint32_t type) const {
    const Elf64_Sym& symbol = item(symbols_, id);
    const bool wants_slot =
        type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
    if (symbol.st_shndx == SHN_UNDEF) {
      const std::size_t stub = find_import(id)->offset;
      return static_cast<std::int64_t>(wants_slot ? stub + stub_bytes - slot_bytes : stub);
    }
    // Only imports have a slot that holds their address.
    WEFT_CHECK(!wants_slot, CompileError, "the object asks for the address of what it defines");
    WEFT_CHECK(symbol.st_shndx < placed_.size() && placed_[symbol.st_shndx] != unplaced &&
                   symbol.st_value <= sections_[symbol.st_shndx].sh_size,
               CompileError, "the object has a symbol that is nowhere");
    return static_cast<std::int64_t>(placed_[symbol.st_shndx] + symbol.st_value);
  }

  /// What a relocation refers to, from the start of the block, which it must not leave.
  /// `first` and `last`: what may be between what it says and the byte that is meant.
  std::int64_t target_of(const Elf64_Rela& rela, std::int64_t first, std::int64_t last) const {
    const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(rela.r_info));
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(rela.r_info));
    constexpr auto limit = static_cast<std::int64_t>(max_loaded_bytes);
    WEFT_CHECK(rela.r_addend >= -limit && rela.r_addend <= limit, CompileError,
               "the object has a reference that goes too far");
    const std::int64_t to = offset_of(symbol, type) + rela.r_addend;
    WEFT_CHECK(to + last >= 0 && to + first < static_cast<std::int64_t>(size_bytes_), CompileError,
               "the object has a reference that goes too far");
    return to;
  }

  void relocate(const Elf64_Shdr& section) {
    for_each_relocation(section, [&](const Elf64_Rela& rela) {
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(rela.r_info));
      const std::size_t width = type == R_X86_64_64 ? 8 : 4;
      const Elf64_Shdr& target = sections_[section.sh_info];
      WEFT_CHECK(rela.r_offset <= target.sh_size && width <= target.sh_size - rela.r_offset,
                 CompileError, "the object has a relocation out of range");
      const std::size_t place = placed_[section.sh_info] + rela.r_offset;
      switch (type) {
        case R_X86_64_64: {
          const std::uint64_t address = reinterpret_cast<std::uintptr_t>(block_.run) +
                                        static_cast<std::uint64_t>(target_of(rela, 0, 0));
          std::memcpy(block_.write + place, &address, sizeof(address));
          return;
        }
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX: {
          // The processor counts from the end of the instruction: these 4 bytes, and an operand of
          // as many at most.  Both ends lie in one block of at most max_loaded_bytes.
          const std::int64_t to = target_of(rela, 4, 8);
          const auto relative = static_cast<std::int32_t>(to - static_cast<std::int64_t>(place));
          std::memcpy(block_.write + place, &relative, sizeof(relative));
          return;
        }
        default: throw CompileError(detail::concat("the object has a relocation of type ", type));
      }
    });
  }

  const std::byte* address_of(const Elf64_Sym& symbol) const {
    return block_.run + placed_[symbol.st_shndx] + symbol.st_value;
  }

  static bool is_defined_function(const Elf64_Sym& symbol) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
  }

  void check_function(const Elf64_Sym& symbol) const {
    WEFT_CHECK(symbol.st_shndx < placed_.size() && placed_[symbol.st_shndx] != unplaced &&
                   (sections_[symbol.st_shndx].sh_flags & SHF_EXECINSTR) != 0 &&
                   symbol.st_value < sections_[symbol.st_shndx].sh_size,
               CompileError, "the object's ", name(symbol_names_, symbol.st_name), " is no code");
  }

  /// A function that the object defines, which lies in code; null if it does not.
  const Elf64_Sym* find_function(std::string_view wanted) const {
    for (const Elf64_Sym& symbol : symbols_) {
      if (!is_defined_function(symbol) || name(symbol_names_, symbol.st_name) != wanted) continue;
      check_function(symbol);
      return &symbol;
    }
    return nullptr;
  }

  std::vector<std::pair<std::string, const std::byte*>> other_functions() const {
    std::vector<std::pair<std::string, const std::byte*>> others;
    for (const Elf64_Sym& symbol : symbols_) {
      if (!is_defined_function(symbol)) continue;
      const std::string_view found = name(symbol_names_, symbol.st_name);
      if (found == kernel_symbol || found == rows_symbol) continue;
      check_function(symbol);
      others.emplace_back(found, address_of(symbol));
    }
    return others;
  }

  std::span<const std::byte> file_;
  std::span<const Elf64_Shdr> sections_;
  std::span<const Elf64_Sym> symbols_;
  std::span<const char> symbol_names_;
  std::vector<std::size_t> placed_;  ///< [section] offset in the block
  std::vector<Import> imports_;
  std::size_t size_bytes_ = 0;
  CodeBlock block_;
};

}  // namespace

LoadedObject load_object(std::span<const std::byte> object) { return Loader(object).load(); }

}  // namespace weft::jit
