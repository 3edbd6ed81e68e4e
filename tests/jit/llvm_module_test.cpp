// The module that holds LLVM, where memory runs out.  A program of its own, because it replaces
// operator new.
#include "ir/pass.h"
#include "ir/text.h"
#include "jit/llvm/backend.h"
#include "tests/jit/llvm_support.h"

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

namespace {

thread_local bool is_memory_gone = false;

}  // namespace

// Not inlined: the compiler would see free() meet new, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* block = is_memory_gone ? nullptr : std::malloc(size)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace weft::jit::test {
namespace {

class LlvmModules : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = llvm_unavailable_reason(); !reason.empty())
      GTEST_SKIP() << reason;
  }
};

TEST_F(LlvmModules, WithoutMemoryCompilingIsAnError) {
  std::string reason;
  const LlvmModule& module = *llvm_module(reason);
  ir::Kernel kernel = kernel_of(Op::tan, DType::f32, isas().front());
  ir::run_pipeline(kernel);
  const std::string text = ir::print(kernel);
  WeftLlvmRequest request{};
  request.kernel = {text.data(), text.size()};
  request.isa = static_cast<std::uint8_t>(isas().front());
  WeftLlvmResult result{};
  is_memory_gone = true;
  module.compile(&request, &result);
  is_memory_gone = false;
  EXPECT_EQ(std::string_view(result.error.data, result.error.size), "out of memory");
  EXPECT_EQ(result.object.size, 0u);
  module.release(result.owner);
  module.compile(&request, &result);
  EXPECT_EQ(result.error.size, 0u);
  EXPECT_GT(result.object.size, 0u);
  module.release(result.owner);
}

}  // namespace
}  // namespace weft::jit::test
