// Passes on text, and kernels run from text.
#include <weft/ir_tools.h>

#include "tests/matchers.h"
#include "tests/required_backends.h"

#include <weft/error.h>
#include <weft/info.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace weft {
namespace {

using matchers::HasSubstr;
using matchers::StartsWith;

constexpr const char* doubled = R"(kernel default unscheduled 0 {
  $0 out f32 [* 1]
  $1 in f32 [* -1]
  #0 f32
  parallel
  parallel
body:
  %0 = load f32 $1
  %1 = load f32 $1
  %2 = add f32 %0, %1
  %3 = param f32 #0
  %4 = mul f32 %2, %3
  %5 = neg f32 %4
  store f32 $0 %4
}
)";

template <class ErrorType, class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const ErrorType& error) {
    return error.what();
  } catch (const Error& error) {
    return detail::concat("another class: ", error.what());
  }
  return "no error";
}

/// The same of one input many times: too many instructions until equal ones are shared.
TEST(IrTools, RunsPassesAsEnginesDo) {
  std::string text =
      "kernel default unscheduled 0 {\n  $0 out f32 [1]\n  $1 in f32 [1]\n  parallel\nbody:\n"
      "  %0 = load f32 $1\n";
  for (int i = 1; i <= 300; ++i) text += detail::concat("  %", i, " = exp f32 %0\n");
  text += "  store f32 $0 %300\n}\n";
  EXPECT_THAT(run_ir_passes(text, {"all"}), HasSubstr("store f32 $0"));
  EXPECT_THAT(message_of<UnsupportedError>([&] { run_ir_passes(text, {"expand_composites"}); }),
              HasSubstr("at most 4096 are possible"));
}

TEST(IrTools, RunsPasses) {
  EXPECT_EQ(run_ir_passes(doubled, {}), doubled);
  const std::string shared = run_ir_passes(doubled, {"share_common_values"});
  EXPECT_THAT(shared, HasSubstr("add f32 %0, %0"));
  EXPECT_THAT(shared, HasSubstr("neg f32"));
  const std::string both = run_ir_passes(doubled, {"share_common_values", "eliminate_dead_code"});
  EXPECT_THAT(both, matchers::Not(HasSubstr("neg f32")));
  const std::string after = run_ir_passes(doubled, {"all"}, true);
  for (const std::string& pass : ir_pass_names())
    EXPECT_THAT(after, HasSubstr(detail::concat("; ", pass)));
  EXPECT_THAT(after, HasSubstr("; legalise_dtypes: unchanged\n"));
  EXPECT_THAT(message_of<ArgumentError>([] { run_ir_passes(doubled, {"inline"}); }),
              HasSubstr("unknown pass 'inline'; the passes are all, legalise_dtypes"));
}

TEST(IrTools, RunsKernelsOnEveryBackend) {
  for (const EngineInfo::Backend& backend : engine_info().backends) {
    if (!backend.unavailable_reason.empty()) {
      EXPECT_FALSE(is_required_backend(backend.name)) << backend.unavailable_reason;
      continue;
    }
    IrRunOptions options;
    options.backend = backend.name;
    options.extents = {3, 41};
    const IrRun run = run_ir(doubled, options);
    EXPECT_EQ(run.backend, backend.name);
    EXPECT_EQ(run.difference, "");
    ASSERT_EQ(run.outputs.size(), 1U);
    EXPECT_EQ(run.outputs[0].numel(), 3 * 41);
  }
}

// The pipeline goes by way of i64, which is what convert() does: a backend that gets such a cast
// does the same, or refuses the kernel.
TEST(IrTools, NoBackendCastsF64ToU8AnotherWay) {
  const char* const cast = R"(kernel default linear 32 {
  $0 out u8 [1]
  $1 in f64 [1]
  vector 4 x1
body:
  %0 = load f64 $1
  %1 = cast u8 %0
  store u8 $0 %1
}
)";
  for (const char* const backend : {"xbyak", "llvm"}) {
    IrRunOptions options;
    options.backend = backend;
    options.extents = {30000};
    options.seed = 1;
    try {
      EXPECT_EQ(run_ir(cast, options).difference, "") << backend;
    } catch (const UnsupportedError&) {
    }
  }
}

TEST(IrTools, PlacesCountFromTheFirst) {
  const char* const places =
      "kernel default unscheduled 16 { $0 out i64 [* 0] $1 in f32 [* 1] $2 place i64 [0 1] "
      "parallel "
      "reduce tree lanes 32 block 4096 body: %0 = load f32 $1 %1 = load i64 $2 "
      "accumulate_place f32 $0 maximum %0, %1 }";
  IrRunOptions options;
  options.extents = {3, 37};
  const IrRun run = run_ir(places, options);
  EXPECT_EQ(run.difference, "");
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_GE(run.outputs[0].data_as<std::int64_t>()[i], 0);
    EXPECT_LT(run.outputs[0].data_as<std::int64_t>()[i], 37);
  }
}

TEST(IrTools, RefusesExtents) {
  const auto run_with = [](std::vector<std::int64_t> extents) {
    return message_of<ArgumentError>([&] {
      IrRunOptions options;
      options.extents = extents;
      run_ir(doubled, options);
    });
  };
  EXPECT_THAT(run_with({3}), HasSubstr("the kernel has 2 loops, but 1 extent is given"));
  EXPECT_THAT(run_with({3, 0}), HasSubstr("an extent is at least 1"));
  EXPECT_THAT(run_with({1 << 20, 1 << 20}), HasSubstr("iterations"));
  EXPECT_THAT(run_with({std::int64_t{1} << 62, 9}), HasSubstr("iterations"));
  const char* const onto_one =
      "kernel default unscheduled 0 { $0 out f32 [0] parallel "
      "body: %0 = constant f32 0x1 store f32 $0 %0 }";
  EXPECT_THAT(message_of<ArgumentError>([&] { run_ir(onto_one, {}); }), HasSubstr("written twice"));
}

TEST(IrTools, RefusesEveryKindOfInvalidKernel) {
  const auto folder = std::filesystem::path(WEFT_SOURCE_DIR) / "tests" / "golden" / "verifier";
  int num_invalid = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string rule = entry.path().filename().string();
    if (!rule.starts_with('v') || rule.starts_with("valid")) continue;
    std::ifstream file(entry.path());
    std::string text{std::istreambuf_iterator<char>(file), {}};
    text.erase(text.find("\n;---\n"));
    const std::string number = std::to_string(std::stoi(rule.substr(1, 2)));
    EXPECT_THAT(message_of<ArgumentError>([&] { run_ir(text, {}); }),
                matchers::AllOf(StartsWith("the kernel is not valid: "),
                                HasSubstr(detail::concat("V", number, ": "))))
        << rule;
    ++num_invalid;
  }
  EXPECT_GE(num_invalid, 15);
}

TEST(IrTools, RefusesTextThatIsNoKernel) {
  for (const char* text : {"", "kernel", "kernel default", "; nothing", "\xff\xfe"})
    EXPECT_THAT(message_of<ArgumentError>([&] { run_ir(text, {}); }), HasSubstr("expected"))
        << text;
}

}  // namespace
}  // namespace weft
