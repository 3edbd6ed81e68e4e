// What profilers and debuggers are told of code: the map, the debugger's list, the symbol files.
#include "jit/code_registry.h"
#include "ir/text.h"
#include "jit/annotate.h"
#include "jit/interp/backend.h"
#include "tests/jit/xbyak/harness.h"
#include "tests/matchers.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

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
extern jit_descriptor __jit_debug_descriptor;
}

namespace weft::jit {
namespace {

using matchers::HasSubstr;
using matchers::Not;
using matchers::StartsWith;

constexpr std::array<std::byte, 5> code{};

std::string perf_map_path() { return "/tmp/perf-" + std::to_string(getpid()) + ".map"; }

std::string perf_map() {
  std::ifstream in(perf_map_path());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The symbol that a debugger would read from the newest entry.
struct Symbol {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

Symbol newest_symbol() {
  const jit_code_entry* entry = __jit_debug_descriptor.first_entry;
  const char* file = entry->symfile_addr;
  Elf64_Ehdr header;
  std::memcpy(&header, file, sizeof header);
  EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const char* section_names = file + sections.at(header.e_shstrndx).sh_offset;
  Symbol result;
  for (const Elf64_Shdr& section : sections) {
    const std::string_view name = section_names + section.sh_name;
    if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS) {
      EXPECT_LE(section.sh_offset + section.sh_size, entry->symfile_size) << name;
    }
    if (name == ".text") result.address = section.sh_addr;
    if (name != ".symtab") continue;
    Elf64_Sym symbol;
    std::memcpy(&symbol, file + section.sh_offset + section.sh_entsize, sizeof symbol);
    result.name = file + sections.at(section.sh_link).sh_offset + symbol.st_name;
    result.size = symbol.st_size;
    EXPECT_EQ(section_names + sections.at(symbol.st_shndx).sh_name, std::string(".text"));
    EXPECT_EQ(ELF64_ST_TYPE(symbol.st_info), STT_FUNC);
  }
  return result;
}

/// Leaves no file for a later process of the same number.
class CodeRegistry : public ::testing::Test {
 protected:
  ~CodeRegistry() override { std::filesystem::remove(perf_map_path(), ignored_); }

 private:
  std::error_code ignored_;
};

TEST_F(CodeRegistry, DebuggersAndProfilersFindTheCode) {
  const auto registration = register_code("weft:some_kernel", code);
  const auto address = reinterpret_cast<std::uintptr_t>(code.data());
  const Symbol symbol = newest_symbol();
  EXPECT_EQ(symbol.name, "weft:some_kernel");
  EXPECT_EQ(symbol.address, address);
  EXPECT_EQ(symbol.size, code.size());
  std::ostringstream line;
  line << std::hex << address << " 5 weft:some_kernel\n";
  EXPECT_THAT(perf_map(), HasSubstr(line.str()));
}

TEST_F(CodeRegistry, TheDebuggersListForgetsInAnyOrder) {
  const auto length = [] {
    int count = 0;
    const jit_code_entry* before = nullptr;
    for (const jit_code_entry* entry = __jit_debug_descriptor.first_entry; entry != nullptr;
         before = entry, entry = entry->next_entry, ++count)
      EXPECT_EQ(entry->prev_entry, before);
    return count;
  };
  const int before = length();
  auto first = register_code("first", code);
  auto second = register_code("second", code);
  auto third = register_code("third", code);
  EXPECT_EQ(length(), before + 3);
  second.reset();
  EXPECT_EQ(length(), before + 2);
  EXPECT_EQ(newest_symbol().name, "third");
  third.reset();
  EXPECT_EQ(newest_symbol().name, "first");
  first.reset();
  EXPECT_EQ(length(), before);
}

TEST_F(CodeRegistry, NamesSayWhatAKernelDoes) {
  const ir::Kernel add =
      testing::scheduled(testing::op_kernel(Op::add, DType::f32, DType::f32), Isa::avx2);
  EXPECT_THAT(symbol_name(add), StartsWith("weft:add.f32.linear."));
  EXPECT_THAT(symbol_name(testing::cast_kernel(DType::u8, DType::u8)), StartsWith("weft:cast.u8."));
  EXPECT_NE(symbol_name(add),
            symbol_name(testing::scheduled(testing::op_kernel(Op::add, DType::f32, DType::f32),
                                           Isa::avx512)));
}

TEST_F(CodeRegistry, InterpretedKernelsHaveNoCode) {
  const ir::Kernel add = testing::op_kernel(Op::add, DType::f32, DType::f32);
  const auto object = interp_backend().compile(add, Target{});
  EXPECT_EQ(registered(object, add), object);
}

TEST(Annotate, PutsTheIrBeforeItsCode) {
  const ir::Kernel kernel = testing::op_kernel(Op::add, DType::f32, DType::f32);
  const std::vector<CodeMark> marks = {
      {0, ir::no_value, "entry"}, {4, 0, {}}, {4, 2, {}}, {16, ir::no_value, "return"}};
  EXPECT_EQ(annotate("     0  mov rax, rdi\n.L0:\n     4  vaddps zmm0, zmm1, zmm2\n    10  jb .L0\n"
                     "    16  ret\n",
                     kernel, marks),
            "        ; entry\n"
            "     0  mov rax, rdi\n"
            ".L0:\n"
            "        ; %2 = add f32 %0, %1\n"
            "     4  vaddps zmm0, zmm1, zmm2\n"
            "        ; return\n"
            "    10  jb .L0\n"
            "    16  ret\n");
}

}  // namespace
}  // namespace weft::jit
