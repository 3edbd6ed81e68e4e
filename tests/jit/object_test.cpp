// The loader of object files: what LLVM writes runs, and no damaged file does harm.
#include "jit/llvm/object.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "tests/jit/llvm_support.h"

#include "jit/llvm/backend.h"

#include <weft/error.h>

#include <elf.h>

#include <cstring>

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
  void SetUp() override {
    if (const std::string reason = llvm_unavailable_reason(); !reason.empty())
      GTEST_SKIP() << reason;
  }
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
  for (const Op op : {Op::add, Op::tan, Op::exp}) {
    const std::vector<std::byte> object = object_of(op);
    const LoadedObject loaded = load_object(object);
    EXPECT_GT(loaded.size_bytes, 50u);
    EXPECT_LT(loaded.size_bytes, object.size() + 200);
    EXPECT_NE(loaded.memory, nullptr);
  }
}

TEST_F(LlvmObject, RefusesEveryPrefix) {
  const std::vector<std::byte> object = object_of(Op::tan);
  // The section table is at the end, so that nothing loads without the last byte.
  for (std::size_t size = 0; size < object.size(); ++size)
    ASSERT_FALSE(loads({object.begin(), object.begin() + static_cast<std::ptrdiff_t>(size)}))
        << size;
}

TEST_F(LlvmObject, SurvivesDamage) {
  const std::vector<std::byte> object = object_of(Op::tan);
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

TEST_F(LlvmObject, NamesTheFunctionThatIsMissing) {
  std::vector<std::byte> object = object_of(Op::tan);
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
