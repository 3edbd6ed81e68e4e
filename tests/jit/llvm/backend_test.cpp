// What the LLVM tier refuses, the texts it keeps, and how its module is found.
#include "jit/llvm/backend.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "tests/jit/llvm/support.h"
#include "tests/matchers.h"

#include <weft/error.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace weft::jit::test {
namespace {

using matchers::HasSubstr;
using matchers::Not;

ir::Kernel add_kernel(Isa isa) {
  ir::Kernel kernel = kernel_of(Op::add, DType::f32, isa);
  ir::run_pipeline(kernel);
  return kernel;
}

class LlvmBackend : public testing::Test {
 protected:
  void SetUp() override { need_llvm(); }
};

TEST_F(LlvmBackend, LeavesFunctionsOfComplexNumbersToOthersIfThereAre) {
  const ir::Kernel kernel = kernel_of(Op::library_tan, DType::c64, Isa::avx2);
  Target target = target_for(Isa::avx2);
  EXPECT_EQ(llvm_backend().refuses(kernel, target), "");
  target.has_alternatives = true;
  EXPECT_EQ(llvm_backend().refuses(kernel, target),
            "functions of complex numbers would be computed once for each part");
}

TEST_F(LlvmBackend, RefusesWhatThePassesRemove) {
  const ir::Kernel composite = kernel_of(Op::gelu, DType::f32, Isa::avx2);
  EXPECT_EQ(llvm_backend().refuses(composite, target_for(Isa::avx2)),
            "%1 gelu f32 is a composite op");
  const ir::Kernel narrow = kernel_of(Op::add, DType::bf16, Isa::avx2);
  EXPECT_EQ(llvm_backend().refuses(narrow, target_for(Isa::avx2)), "%2 add bf16 has no lowering");
  const ir::Kernel cast = cast_kernel(DType::f64, DType::f16, Isa::avx2);
  EXPECT_EQ(llvm_backend().refuses(cast, target_for(Isa::avx2)),
            "%1 cast f16 from f64 has no lowering");
}

TEST_F(LlvmBackend, RefusesProcessorsWithoutAvx2) {
  EXPECT_EQ(llvm_backend().refuses(add_kernel(Isa::avx2), target_for(Isa::generic)),
            "the target lacks AVX2");
}

TEST_F(LlvmBackend, KeepsTextsOnlyWhenAsked) {
  for (Isa isa : isas()) {
    Target target = target_for(isa);
    const auto quiet = llvm_backend().compile(add_kernel(isa), target);
    EXPECT_TRUE(quiet->texts.empty());
    EXPECT_EQ(quiet->backend, "llvm");
    EXPECT_GT(quiet->code_bytes, 50u);
    target.keep_texts = true;
    const auto talkative = llvm_backend().compile(add_kernel(isa), target);
    const std::string& llvm = talkative->texts.at("llvm");
    const std::string& assembly = talkative->texts.at("asm");
    const bool is_wide = isa == Isa::avx512;
    EXPECT_THAT(llvm, HasSubstr(is_wide ? "fadd <16 x float>" : "fadd <8 x float>"));
    EXPECT_THAT(llvm, HasSubstr("@llvm.masked.store"));
    EXPECT_THAT(assembly, HasSubstr(is_wide ? "vaddps zmm" : "vaddps ymm"));
    EXPECT_THAT(assembly, HasSubstr(".L0:\n"));
    EXPECT_THAT(assembly, HasSubstr("[rip + ."));
    const auto again = llvm_backend().compile(add_kernel(isa), target);
    EXPECT_EQ(again->texts, talkative->texts);
  }
}

TEST_F(LlvmBackend, NamesTheLibrarysFunctions) {
  for (Isa isa : isas()) {
    ir::Kernel kernel = kernel_of(Op::library_tan, DType::f32, isa);
    ir::run_pipeline(kernel);
    Target target = target_for(isa);
    target.keep_texts = true;
    EXPECT_THAT(llvm_backend().compile(kernel, target)->texts.at("asm"),
                HasSubstr(isa == Isa::avx512 ? "call Sleef_finz_tanf16_u10avx512f"
                                             : "call Sleef_finz_tanf8_u10avx2"));
  }
}

TEST_F(LlvmBackend, CallsNothingForSmallFloats) {
  for (Isa isa : isas())
    for (DType dtype : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2}) {
      ir::Kernel kernel = kernel_of(Op::add, dtype, isa);
      ir::run_pipeline(kernel);
      Target target = target_for(isa);
      target.keep_texts = true;
      EXPECT_THAT(llvm_backend().compile(kernel, target)->texts.at("asm"), Not(HasSubstr("call")));
    }
}

TEST_F(LlvmBackend, CompilesForOtherMachinesWithoutLinking) {
  Target target;
  target.features.isa = Isa::avx512;
  target.keep_texts = true;
  target.run = false;
  const auto code = llvm_backend().compile(add_kernel(Isa::avx512), target);
  EXPECT_EQ(code->entry, nullptr);
  EXPECT_FALSE(code->texts.at("asm").empty());
}

TEST_F(LlvmBackend, CompilesInManyThreads) {
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const CodeObject>> codes(8);
  for (std::size_t i = 0; i < codes.size(); ++i)
    threads.emplace_back([&, i] {
      const Isa isa = isas()[i % isas().size()];
      ir::Kernel kernel = kernel_of(i % 3 == 0 ? Op::exp : Op::mul, DType::f32, isa);
      ir::run_pipeline(kernel);
      codes[i] = llvm_backend().compile(kernel, target_for(isa));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& code : codes) EXPECT_NE(code->entry, nullptr);
}

TEST_F(LlvmBackend, NoPageIsWritableAndExecutable) {
  const auto code = llvm_backend().compile(add_kernel(isas().front()), target_for(isas().front()));
  std::ifstream maps("/proc/self/maps");
  const auto entry = reinterpret_cast<std::uintptr_t>(code->entry);
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    const std::string permissions = line.substr(line.find(' ') + 1, 4);
    EXPECT_FALSE(permissions[1] == 'w' && permissions[2] == 'x') << line;
    std::uintptr_t begin = 0, end = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lx-%lx", &begin, &end), 2);
    if (entry < begin || entry >= end) continue;
    found = true;
    EXPECT_EQ(permissions.substr(0, 3), "r-x");
  }
  EXPECT_TRUE(found);
}

TEST(LlvmModule, AWrongPathIsAReasonNotACrash) {
  // This process may have opened the module already, and a child would inherit that: run the
  // program anew.
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_LLVM_MODULE", "/nonexistent/libweft_llvm.so", 1);
    execl("/proc/self/exe", "weft_tests", "--gtest_filter=LlvmModule.DISABLED_IsUnavailable",
          "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// Run by the test above, in a process whose WEFT_LLVM_MODULE is wrong.
TEST(LlvmModule, DISABLED_IsUnavailable) {
  EXPECT_THAT(llvm_unavailable_reason(), HasSubstr("/nonexistent/libweft_llvm.so"));
  try {
    llvm_backend().compile(add_kernel(Isa::avx2), target_for(Isa::avx2));
    FAIL() << "compiled without a module";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/libweft_llvm.so"));
  }
}

}  // namespace
}  // namespace weft::jit::test
