// Reads the program's symbols and its machine code: a call of x86-64 is one byte and the distance
// to its target, and hardly any other five bytes in a program happen to be such a call.
#include "tests/faults/sites.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace weft::faults {
namespace {

constexpr std::string_view front_begin = "__wrap_";
constexpr std::size_t max_sites = 4096;

/// Addresses are those of the program's file.
struct Function {
  std::uintptr_t begin = 0, end = 0;
  std::string symbol;
};

struct Reference {
  std::uintptr_t end = 0;  ///< where the instruction ends, to which a call returns
  std::string front;
  Function caller;
  bool is_call = false;  ///< else a jump at the end of a function, which returns to its caller
};

struct Marks {
  std::array<std::atomic<bool>, max_sites> called, failed;
};

struct Code {
  std::uintptr_t base = 0;  ///< what is added to addresses of the file
  std::vector<std::span<const std::byte>> texts;
};

/// Of the program, which comes first.
int take_program(dl_phdr_info* info, std::size_t, void* given) {
  Code& code = *static_cast<Code*>(given);
  code.base = info->dlpi_addr;
  for (const ElfW(Phdr) & header : std::span(info->dlpi_phdr, info->dlpi_phnum))
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0)
      code.texts.emplace_back(reinterpret_cast<const std::byte*>(code.base + header.p_vaddr),
                              header.p_memsz);
  return 1;
}

template <class T>
T read_as(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// The functions that the program defines, by address.
std::vector<Function> read_functions() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<Function> functions;
  if (bytes.size() < sizeof(Elf64_Ehdr)) return functions;
  const auto header = read_as<Elf64_Ehdr>(bytes.data());
  const auto section = [&](std::size_t i) {
    return read_as<Elf64_Shdr>(bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(symbols.sh_link);
    for (std::size_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_as<Elf64_Sym>(bytes.data() + symbols.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      functions.push_back({symbol.st_value, symbol.st_value + symbol.st_size,
                           bytes.data() + names.sh_offset + symbol.st_name});
    }
  }
  std::ranges::sort(functions, {}, &Function::begin);
  return functions;
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : symbol;
}

/// The tests are in weft::faults, but for what they share with others.
bool is_of_library(const std::string& symbol) {
  const std::string name = demangled(symbol);
  return name.find("weft") != name.npos && name.find("weft::faults::") == name.npos &&
         !name.starts_with("weft::memory_folder") && !name.starts_with("weft::exit_status");
}

/// Whether code ends with the first bytes of a call or a jump, whose distance follows.
bool is_transfer(std::span<const std::byte> code) {
  const std::byte last = code.back();
  return last == std::byte{0xe8} || last == std::byte{0xe9} ||
         (code.size() > 1 && code[code.size() - 2] == std::byte{0x0f} &&
          (last & std::byte{0xf0}) == std::byte{0x80});
}

class Sites {
 public:
  Sites() {
    map_marks(memfd_create("weft-marks", MFD_CLOEXEC));
    dl_iterate_phdr(&take_program, &code_);
    functions_ = read_functions();
    std::map<std::uintptr_t, std::string> fronts;
    for (const Function& function : functions_)
      if (function.symbol.starts_with(front_begin)) fronts[function.begin] = function.symbol;
    if (fronts.empty()) return;
    for (const std::span<const std::byte> text : code_.texts) scan(text, fronts);
    std::erase_if(references_, [](const Reference& reference) {
      return !is_of_library(reference.caller.symbol);
    });
    if (references_.size() > max_sites) throw std::runtime_error("there are too many sites");
  }

  void map_marks(int file) {
    file_ = file;
    if (::lseek(file, 0, SEEK_END) < static_cast<off_t>(sizeof(Marks)) &&
        ::ftruncate(file, sizeof(Marks)) != 0)
      throw std::runtime_error("there is no room for marks");
    void* const memory =
        ::mmap(nullptr, sizeof(Marks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("marks can't be mapped");
    marks_ = static_cast<Marks*>(memory);
  }

  bool call_fails(Kind kind, const char* front, const void* return_address) const noexcept {
    if (empty()) return fails(kind);
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(return_address) - code_.base;
    const Reference* const found = find(front, address);
    if (found == nullptr) return false;
    const auto index = static_cast<std::size_t>(found - references_.data());
    marks_->called[index] = true;
    if (!fails(kind)) return false;
    marks_->failed[index] = true;
    return true;
  }

  std::vector<Site> all() const {
    std::vector<Site> sites;
    for (std::size_t i = 0; i < references_.size(); ++i) {
      const Reference& reference = references_[i];
      std::ostringstream place;
      place << demangled(reference.caller.symbol) << "+0x" << std::hex
            << reference.end - reference.caller.begin << " (0x" << reference.end << ")";
      sites.push_back({demangled(reference.front.substr(front_begin.size())), place.str(),
                       marks_->called[i], marks_->failed[i]});
    }
    return sites;
  }

  bool empty() const { return references_.empty(); }
  int file() const { return file_; }

 private:
  /// What of the code ends with the distance to one of the functions.
  void scan(std::span<const std::byte> text, const std::map<std::uintptr_t, std::string>& fronts) {
    const std::uintptr_t first = fronts.begin()->first, last = fronts.rbegin()->first;
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(text.data()) - code_.base;
    for (std::size_t i = 1; i + sizeof(std::int32_t) <= text.size(); ++i) {
      std::int32_t distance;
      std::memcpy(&distance, text.data() + i, sizeof distance);
      const std::uintptr_t end = begin + i + sizeof distance;
      const std::uintptr_t target = end + static_cast<std::uintptr_t>(std::intptr_t{distance});
      if (target < first || target > last) continue;
      const auto front = fronts.find(target);
      if (front == fronts.end() || !is_transfer(text.first(i))) continue;
      const Function* const caller = function_at(end - 1);
      references_.push_back({end, front->second, caller != nullptr ? *caller : Function(),
                             text[i - 1] == std::byte{0xe8}});
    }
  }

  const Function* function_at(std::uintptr_t address) const {
    const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
    for (auto before = after; before != functions_.begin();) {
      --before;
      if (address < before->end) return &*before;
      if (address - before->begin > (1u << 20)) break;
    }
    return nullptr;
  }

  /// The reference by which a function was called that returns to `address`: the call before it, or
  /// else a jump in the function that is called there.  Where that is called by a pointer, the only
  /// jump to the function.
  const Reference* find(std::string_view front, std::uintptr_t address) const noexcept {
    const auto at = std::ranges::lower_bound(references_, address, {}, &Reference::end);
    if (at != references_.end() && at->end == address && at->is_call) return &*at;
    const Reference* only = nullptr;
    const std::uintptr_t called = target_of_call_before(address);
    for (const Reference& reference : references_) {
      if (reference.is_call || reference.front != front) continue;
      if (reference.caller.begin == called) return &reference;
      if (only != nullptr) return nullptr;
      only = &reference;
    }
    return called == 0 ? only : nullptr;
  }

  /// 0 if it is no direct call.
  std::uintptr_t target_of_call_before(std::uintptr_t address) const noexcept {
    constexpr std::size_t call_bytes = 5;
    for (const std::span<const std::byte> text : code_.texts) {
      const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(text.data()) - code_.base;
      if (address < begin + call_bytes || address > begin + text.size()) continue;
      const std::byte* const call = text.data() + (address - begin - call_bytes);
      if (*call != std::byte{0xe8}) return 0;
      std::int32_t distance;
      std::memcpy(&distance, call + 1, sizeof distance);
      return address + static_cast<std::uintptr_t>(std::intptr_t{distance});
    }
    return 0;
  }

  Code code_;
  std::vector<Function> functions_;
  std::vector<Reference> references_;  ///< by `end`
  Marks* marks_ = nullptr;
  int file_ = -1;
};

/// Null while they are looked for, which calls what is in front of others, too.
constinit std::atomic<const Sites*> prepared{nullptr};

/// Never destroyed: what ends with the process is noted, too.
Sites& sites() {
  static Sites& found = *new Sites;
  prepared = &found;
  return found;
}

}  // namespace

std::string sites_unknown_reason() {
#ifdef __x86_64__
  return sites().empty() ? "the program's symbols are stripped" : "";
#else
  return "calls are only recognised in code for x86-64";
#endif
}

std::vector<Site> all_sites() { return sites().all(); }
void prepare_sites() { sites(); }
bool call_fails(Kind kind, const char* front, const void* return_address) noexcept {
  const Sites* const found = prepared;
  return found != nullptr && found->call_fails(kind, front, return_address);
}
int marks_file() { return sites().file(); }
void share_marks(int file) { sites().map_marks(file); }

}  // namespace weft::faults
