// The module that holds LLVM: of another release than weft was built with, and where memory runs
// out.  A program of its own, because it replaces operator new, and opens other_llvm_module.cpp.
#include "ir/pass.h"
#include "ir/text.h"
#include "jit/llvm/backend.h"
#include "runtime/disk_entry.h"
#include "tests/jit/llvm/support.h"
#include "tests/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <span>
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
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return is_memory_gone ? nullptr : std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}

namespace weft::jit::test {
namespace {

namespace fs = std::filesystem;

class LlvmModules : public testing::Test {
 protected:
  LlvmModules() { ::setenv("WEFT_LLVM_MODULE", WEFT_OTHER_LLVM_MODULE, 1); }
  void SetUp() override { need_llvm(); }
};

TEST_F(LlvmModules, WithoutMemoryCompilingIsAnError) {
  std::string reason;
  const LlvmModule& module = *llvm_module(reason);
  ir::Kernel kernel = kernel_of(Op::library_tan, DType::f32, isas().front());
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

/// The keys of all entries.
std::string keys_in(const std::string& folder) {
  std::string keys;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(in)), {});
    const DecodedEntry entry =
        decode_entry(std::as_bytes(std::span(content.data(), content.size())));
    EXPECT_EQ(entry.fault, "");
    keys.append(reinterpret_cast<const char*>(entry.key.data()), entry.key.size());
  }
  return keys;
}

TEST_F(LlvmModules, ObjectsAreKeptUnderTheReleaseThatMadeThem) {
  const TemporaryFolder temporary;
  const std::string folder = temporary.path();
  Target target = target_for(isas().front());
  target.disk = std::make_shared<DiskCache>(DiskCacheOptions{CacheMode::on, folder, 1 << 20});
  ir::Kernel kernel = kernel_of(Op::library_tan, DType::f32, isas().front());
  ir::run_pipeline(kernel);
  EXPECT_FALSE(llvm_backend().compile(kernel, target)->is_from_disk);
  EXPECT_NE(keys_in(folder).find("; LLVM 99.8.7;"), std::string::npos) << keys_in(folder);
  EXPECT_TRUE(llvm_backend().compile(kernel, target)->is_from_disk);
}

}  // namespace
}  // namespace weft::jit::test
