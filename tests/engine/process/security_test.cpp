// What docs/security.md promises of a whole engine; the parts have tests of their own.
#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace weft {
namespace {

/// Lines of /proc/self/maps whose permissions have both letters.
std::vector<std::string> mappings_with(char one, char other) {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> found;
  for (std::string line; std::getline(maps, line);) {
    const std::string permissions = line.substr(line.find(' ') + 1, 4);
    if (permissions.find(one) != std::string::npos && permissions.find(other) != std::string::npos)
      found.push_back(line);
  }
  return found;
}

/// Compiles and runs kernels of several kinds; returns whether the results are right.
bool compute(Engine& engine) {
  const Tensor x = arange(1000);
  const Tensor y = engine.eval(Expr(x) * 2 + 1);
  const Tensor sums = engine.reduce(Reduction::sum, engine.to(x.view({10, 100}).t(), DType::f32));
  const Tensor turned = engine.contiguous(x.view({20, 50}).t());
  return y.select(0, 999).item() == Scalar(1999) && sums.item().as_double() == 499500 &&
         turned.select(0, 1).select(0, 0).item() == Scalar(1);
}

TEST(Security, NoMappingIsWritableAndExecutable) {
  for (const char* backend : {"auto", "xbyak", "llvm"}) {
    EngineOptions options;
    options.backend = backend;
    options.threshold = 0;
    try {
      Engine engine(options);
      EXPECT_TRUE(compute(engine)) << backend;
      engine.wait_optimised();
      EXPECT_TRUE(compute(engine)) << backend;
    } catch (const UnsupportedError&) {
      continue;  // a build without this backend
    }
    for (const std::string& line : mappings_with('w', 'x'))
      ADD_FAILURE() << backend << ": " << line;
  }
  EXPECT_FALSE(mappings_with('r', 'x').empty()) << "the test itself can't read its mappings";
}

/// Code memory is a file in memory: without files there is none.
[[noreturn]] void compute_without_code_memory() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
  Engine engine;
  std::_Exit(compute(engine) ? 0 : 1);
}

TEST(SecurityDeathTest, WithoutCodeMemoryTheInterpreterServes) {
  EXPECT_EXIT(compute_without_code_memory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft
