// Golden files: tests/golden/assembly/NAME.kernel is a kernel before the passes, NAME.TARGET.asm
// what the xbyak backend makes of it, with the lines of the IR.  The targets have fixed features,
// so that every machine makes the same.  WEFT_BLESS=1 rewrites the expectations.
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "jit/xbyak/backend.h"
#include "tests/required_backends.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(WEFT_SOURCE_DIR) / "tests" / "golden" / "assembly";

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".kernel") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Target fixed_target(Isa isa) {
  Target target;
  target.features.isa = isa;
  target.features.avx512_vbmi = isa == Isa::avx512;
  target.keep_texts = true;
  target.run = false;
  return target;
}

class GoldenAssembly : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenAssembly, IsAsExpected) {
  const std::string source = read_file(folder / (GetParam() + ".kernel"));
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    const Target target = fixed_target(isa);
    ir::Kernel kernel = ir::parse(source);
    ir::verify(kernel);
    kernel.vector_bytes = target.vector_bytes();
    ir::run_pipeline(kernel);
    ASSERT_EQ(xbyak_backend().refuses(kernel, target), "");
    const std::string actual = xbyak_backend().compile(kernel, target)->texts.at("asm");
    if (actual.find("; no disassembler") != std::string::npos)
      return leave_out_without("llvm", actual.substr(0, 80));
    const fs::path expected = folder / (GetParam() + "." + std::string(name(isa)) + ".asm");
    if (std::getenv("WEFT_BLESS") != nullptr) {
      std::ofstream(expected, std::ios::binary) << actual;
      continue;
    }
    EXPECT_EQ(actual, read_file(expected)) << expected;
  }
}

/// What is transposed lies along the columns: asking for rows of it would ask for nothing.
TEST(FusedRows, AskForRowsOfWhatIsNotTransposed) {
  const auto asked_rows = [](std::string_view second, std::string_view body) {
    ir::Kernel kernel = ir::parse(detail::concat(R"(kernel default unscheduled 0 {
  $0 out f32 [* 1]
  $1 in f32 [1 *]
)",
                                                 second, R"(  parallel
  parallel
body:
  %0 = load f32 $1
)",
                                                 body, "}\n"));
    Target target = fixed_target(Isa::avx512);
    target.features.amd_family = zen5_family;
    kernel.vector_bytes = target.vector_bytes();
    ir::run_pipeline(kernel);
    EXPECT_EQ(kernel.schedule, ir::Schedule::tile);
    const std::string text = xbyak_backend().compile(kernel, target)->texts.at("asm");
    if (text.find("; no disassembler") != std::string::npos) return -1;
    const std::regex row(R"(prefetcht[01] byte ptr \[rax \+ 4\*rsi\])");
    return static_cast<int>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), row), std::sregex_iterator()));
  };
  const int alone = asked_rows("", "  %1 = square f32 %0\n  store f32 $0 %1\n");
  if (alone < 0) return leave_out_without("llvm", "no disassembler");
  EXPECT_EQ(alone, 0);
  // Four rows a step, into one of two caches.
  EXPECT_EQ(asked_rows("  $2 in f32 [* 1]\n",
                       "  %1 = load f32 $2\n  %2 = add f32 %0, %1\n  store f32 $0 %2\n"),
            8);
}

INSTANTIATE_TEST_SUITE_P(Kernels, GoldenAssembly, ::testing::ValuesIn(kernel_names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace weft::jit
