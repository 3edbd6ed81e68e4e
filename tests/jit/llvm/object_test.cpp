// The loader of object files: what LLVM writes runs, and no damaged file does harm.
#include "jit/llvm/object.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "tests/jit/llvm/support.h"

#include "jit/llvm/backend.h"

#include <weft/error.h>

#include <elf.h>

#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace weft::jit::test {
namespace {

/// A kernel's object file: code, constants, and calls of a library.
std::vector<std::byte> object_of(Op op) {
  std::string reason;
  const LlvmModule* module = llvm_module(reason);
  if (module == nullptr) return {};
  ir::Kernel kernel = kernel_of(op, DType::f32, isas().front());
  ir::run_pipeline(kernel);
  const std::string text = ir::print(kernel);
  WeftLlvmRequest request{};
  request.kernel = {text.data(), text.size()};
  request.isa = static_cast<std::uint8_t>(isas().front());
  WeftLlvmResult result{};
  module->compile(&request, &result);
  const auto* begin = reinterpret_cast<const std::byte*>(result.object.data);
  std::vector<std::byte> object(begin, begin + result.object.size);
  module->release(result.owner);
  return object;
}

class LlvmObject : public testing::Test {
 protected:
  void SetUp() override { need_llvm(); }
  static bool loads(const std::vector<std::byte>& object) {
    try {
      EXPECT_NE(load_object(object).entry, nullptr);
      return true;
    } catch (const CompileError&) {
      return false;
    }
  }
};

TEST_F(LlvmObject, Loads) {
  for (const Op op : {Op::add, Op::library_tan, Op::exp}) {
    const std::vector<std::byte> object = object_of(op);
    const LoadedObject loaded = load_object(object);
    EXPECT_GT(loaded.instruction_bytes, 50u);
    EXPECT_GE(loaded.size_bytes, loaded.instruction_bytes);
    EXPECT_LT(loaded.size_bytes, object.size() + 200);
    EXPECT_NE(loaded.memory, nullptr);
  }
}

TEST_F(LlvmObject, RefusesEveryPrefix) {
  const std::vector<std::byte> object = object_of(Op::library_tan);
  // The section table is at the end, so that nothing loads without the last byte.
  for (std::size_t size = 0; size < object.size(); ++size)
    ASSERT_FALSE(loads({object.begin(), object.begin() + static_cast<std::ptrdiff_t>(size)}))
        << size;
}

TEST_F(LlvmObject, SurvivesDamage) {
  const std::vector<std::byte> object = object_of(Op::library_tan);
  std::mt19937_64 random(7);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> damaged = object;
    for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1u << random() % 8);
    if (!loads(damaged)) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

/// An object file that can be changed.
struct Elf {
  explicit Elf(std::vector<std::byte> file) : bytes(std::move(file)) {}

  template <class T>
  T* at(std::uint64_t offset) {
    return reinterpret_cast<T*>(bytes.data() + offset);
  }
  std::span<Elf64_Shdr> sections() {
    const auto* header = at<Elf64_Ehdr>(0);
    return {at<Elf64_Shdr>(header->e_shoff), header->e_shnum};
  }
  template <class T>
  std::span<T> table(std::uint32_t section_type) {
    for (const Elf64_Shdr& section : sections())
      if (section.sh_type == section_type)
        return {at<T>(section.sh_offset), section.sh_size / sizeof(T)};
    ADD_FAILURE() << "no section of type " << section_type;
    return {};
  }
  std::span<Elf64_Sym> symbols() { return table<Elf64_Sym>(SHT_SYMTAB); }
  Elf64_Sym& symbol_of(const Elf64_Rela& rela) { return symbols()[ELF64_R_SYM(rela.r_info)]; }

  std::vector<std::byte> bytes;
};

/// The relocations of the code, which come first.
template <class Visit>
void for_each_relocation(const std::vector<std::byte>& object, const Visit& visit) {
  const std::size_t count = Elf(object).table<Elf64_Rela>(SHT_RELA).size();
  for (std::size_t i = 0; i < count; ++i) {
    Elf elf(object);
    visit(elf, elf.table<Elf64_Rela>(SHT_RELA)[i]);
  }
}

TEST_F(LlvmObject, RefusesReferencesThatLeaveIt) {
  const std::vector<std::byte> object = object_of(Op::library_tan);
  const auto size = static_cast<std::int64_t>(load_object(object).size_bytes);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         greatest = std::numeric_limits<std::int64_t>::max();
  int num_relocations = 0;
  for_each_relocation(object, [&](Elf& elf, Elf64_Rela& rela) {
    ++num_relocations;
    for (const std::int64_t addend :
         {least, least + 8, greatest, greatest - 8, std::int64_t{1} << 31, std::int64_t{1} << 30,
          std::int64_t{1} << 20, size, -size - 8, std::int64_t{-1} << 30}) {
      rela.r_addend = addend;
      EXPECT_FALSE(loads(elf.bytes)) << addend;
    }
  });
  EXPECT_GT(num_relocations, 1);
}

TEST_F(LlvmObject, OnlyImportsHaveAddressesToLoad) {
  int num_defined = 0;
  for_each_relocation(object_of(Op::library_tan), [&](Elf& elf, Elf64_Rela& rela) {
    const bool is_import = elf.symbol_of(rela).st_shndx == SHN_UNDEF;
    for (const std::uint32_t type :
         {R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_REX_GOTPCRELX}) {
      rela.r_info = ELF64_R_INFO(ELF64_R_SYM(rela.r_info), type);
      EXPECT_EQ(loads(elf.bytes), is_import) << type;
    }
    if (!is_import) ++num_defined;
  });
  EXPECT_GT(num_defined, 0);
}

TEST_F(LlvmObject, TheKernelIsCode) {
  const std::vector<std::byte> object = object_of(Op::library_tan);
  Elf elf(object);
  std::uint16_t constants = 0;
  for_each_relocation(object, [&](Elf& each, const Elf64_Rela& rela) {
    if (const Elf64_Sym& symbol = each.symbol_of(rela); symbol.st_shndx != SHN_UNDEF)
      constants = symbol.st_shndx;
  });
  ASSERT_NE(constants, 0);
  int num_kernels = 0;
  for (Elf64_Sym& symbol : elf.symbols()) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    ++num_kernels;
    const Elf64_Sym sound = symbol;
    symbol.st_value = elf.sections()[symbol.st_shndx].sh_size;
    EXPECT_FALSE(loads(elf.bytes));
    symbol = sound;
    symbol.st_shndx = constants;
    EXPECT_FALSE(loads(elf.bytes));
    symbol = sound;
    EXPECT_TRUE(loads(elf.bytes));
  }
  EXPECT_EQ(num_kernels, 1);
}

TEST_F(LlvmObject, NamesTheFunctionThatIsMissing) {
  std::vector<std::byte> object = object_of(Op::library_tan);
  const char wanted[] = "Sleef_finz_tanf";
  const auto found = std::search(object.begin(), object.end(), wanted, wanted + sizeof(wanted) - 1,
                                 [](std::byte a, char b) { return static_cast<char>(a) == b; });
  ASSERT_NE(found, object.end());
  found[11] = static_cast<std::byte>('n');
  try {
    load_object(object);
    FAIL() << "loaded";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("Sleef_finz_nanf"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace weft::jit::test
