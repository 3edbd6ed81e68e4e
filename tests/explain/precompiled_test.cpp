// Reductions and scans by loops that were compiled with weft: explain() shows the code of the loops
// that will run, read where it lies in this process.
#include "jit/disassemble.h"
#include "runtime/cpu_features.h"
#include "tests/matchers.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <string>

namespace weft::testing {
namespace {

using matchers::HasSubstr;
using matchers::Not;
using matchers::StartsWith;

/// Not inlined, so that it has code of its own: a loop, and two ways to return.
[[gnu::noinline]] int add_up(const int* values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    if (values[i] < 0) return -1;
    sum ^= values[i];
  }
  return sum;
}

class Precompiled : public ::testing::Test {
 protected:
  void SetUp() override {
    const jit::FunctionListing own = jit::disassemble_function(reinterpret_cast<void*>(&add_up));
    if (own.text.empty()) leave_out_without("llvm", own.reason);
  }

  Explanation explain(const std::string& expr, const std::string& layout,
                      ExplainOptions options = {}) {
    options.emit = {"asm", "ir"};
    const std::pair<std::string, Tensor> names[] = {{"a", parse_layout(layout)}};
    return engine_.explain(parse_expr(expr, names), {}, options);
  }

  Engine engine_;
};

TEST_F(Precompiled, FunctionsAreReadToTheEndOfEveryPath) {
  const int values[] = {1, 2, 4};
  EXPECT_EQ(add_up(values, 3), 7);
  const std::string text = jit::disassemble_function(reinterpret_cast<void*>(&add_up)).text;
  EXPECT_THAT(text, HasSubstr("        ; entry\n"));
  EXPECT_THAT(text, HasSubstr(".L0:\n"));
  EXPECT_THAT(text, HasSubstr("  ret\n"));
  EXPECT_THAT(text, Not(HasSubstr(".byte")));
  EXPECT_EQ(text, jit::disassemble_function(reinterpret_cast<void*>(&add_up)).text);
}

TEST_F(Precompiled, CodeOfNoObjectIsRefused) {
  static const int data = 0;
  const jit::FunctionListing none = jit::disassemble_function(&data);
  EXPECT_EQ(none.text, "");
  EXPECT_EQ(none.reason, "it is in no program or library that is loaded");
}

TEST_F(Precompiled, ShowsTheLoopsThatRun) {
  const CpuFeatures& features = host_features();
  const bool reads_side_by_side =
      features.isa == Isa::avx2 || (features.isa == Isa::avx512 && features.pages_in_turn);
  const struct {
    const char* expr;
    const char* layout;
    const char* loop;
  } cases[] = {
      {"sum(a)", "f32[100]", "Loops::rows of jit/fold/loops.h, add f32"},
      {"sum(a)", "f64[1000000]",
       reads_side_by_side ? "Loops::tree_of_blocks of jit/fold/loops.h, add f64"
                          : "Loops::lanes of jit/fold/loops.h, add f64"},
      {"amin(a)", "i16[1000000]", "Loops::lanes of jit/fold/loops.h, minimum i16"},
      {"sum(a, dims=[1])", "f32[10,1000]", "Loops::rows of jit/fold/loops.h, add f32"},
      {"sum(a, dims=[0])", "f32[30,1000]", "Loops::columns of jit/fold/loops.h, add f32"},
      {"amin(a, dims=[1])", "i16[10,1000]", "Loops::rows of jit/fold/loops.h, minimum i16"},
      {"sum(a, dims=[0])", "f32[100000,8]",
       features.isa >= Isa::avx2 ? "Loops::narrow_columns of jit/fold/loops.h, add f32"
                                 : "Loops::columns of jit/fold/loops.h, add f32"},
      {"argmax(a, dim=1)", "f32[10,1000]", "Loops::rows of jit/fold/loops.h, maximum f32"},
      {"argmax(a, dim=0)", "f64[10,1000]", "Extrema::columns of jit/fold/extrema.h, maximum f64"},
      {"any(a)", "bool[1000]", "Loops::rows of jit/fold/loops.h, "},
      {"sum(a)", "c64[1000]", "Loops::rows of jit/fold/loops.h, add c64"},
      {"prod(a)", "c64[1000]",
       features.isa >= Isa::avx2 ? "Loops::rows of jit/fold/loops.h, mul c64"
                                 : "plain_rows of jit/fold/fold.cpp, mul c64"},
      {"cumsum(a, dim=0)", "f32[10,1000]", "run_scan of jit/fold/scans.h, add f32"},
      {"cumsum(a, dim=0)", "f32[100000]", "BlockLoops::run of jit/fold/block_scan.cpp, add f32"},
      {"cumprod(a, dim=0)", "c64[100]", "run_complex of jit/fold/scan.cpp, mul c64"},
      {"cummax(a, dim=0)", "f32[100]", "run_scan of jit/fold/scans.h, maximum f32"},
      {"logcumsumexp(a, dim=0)", "f32[100]",
       "run_log_scan of jit/fold/log_scan.cpp, logaddexp f32"},
      {"logcumsumexp(a, dim=0)", "f64[100000]",
       "run_log_blocks of jit/fold/log_scan.cpp, logaddexp f64"},
  };
  for (const auto& [expr, layout, loop] : cases) {
    SCOPED_TRACE(detail::concat(expr, " of ", layout));
    const Explanation told = explain(expr, layout);
    ASSERT_FALSE(told.precompiled.empty());
    EXPECT_THAT(told.precompiled[0].name, StartsWith(loop));
    const std::string& text = told.texts.at("asm");
    EXPECT_THAT(text,
                HasSubstr(detail::concat("; ", told.precompiled[0].name, ": compiled with weft (",
                                         told.precompiled[0].instruction_set, "), ")));
    EXPECT_THAT(text, HasSubstr("  ret\n"));
    EXPECT_THAT(text, HasSubstr("; entry\n"));
  }
}

TEST_F(Precompiled, TheHotLoopReadsDenseRows) {
  ExplainOptions options;
  options.target = "avx2";
  const Explanation told = explain("sum(a)", "f32[100]", options);
  EXPECT_EQ(told.backend, "precompiled");
  EXPECT_EQ(told.precompiled[0].instruction_set, "avx2");
  EXPECT_EQ(told.schedule, "inner_reduce");
  EXPECT_THAT(told.texts.at("ir"), HasSubstr("accumulate f32 $0 add %0\n"));
#if WEFT_PLAIN_CODE
  // A step has 256 bytes.
  EXPECT_GT(told.story.hot_loop.elements, 0);
  EXPECT_EQ(told.story.hot_loop.elements % 64, 0);
  EXPECT_THAT(told.texts.at("asm"), HasSubstr("        ; hot loop "));
  EXPECT_THAT(told.texts.at("asm"), HasSubstr("\n>"));
#endif
}

TEST_F(Precompiled, WhatTheIrCannotSayIsSaid) {
  for (const char* expr : {"argmax(a)", "cumsum(a, dim=0)"}) {
    const Explanation told = explain(expr, "f32[1000]");
    EXPECT_THAT(told.texts.at("ir"), StartsWith("; loops that are compiled with weft run"));
    EXPECT_TRUE(told.story.ir_steps.empty());
  }
}

TEST_F(Precompiled, PassesBesideAKernelAreShownToo) {
  const Explanation told = explain("a - amax(a, dims=[1], keepdim=true)", "f32[10,1000]");
  EXPECT_THAT(told.texts.at("asm"), StartsWith("; inner fold of f32[10, 1000]: amax("));
  EXPECT_THAT(told.texts.at("asm"), HasSubstr("; the kernel beside that:\n"));
  EXPECT_EQ(told.precompiled.size(), 1u);
}

TEST_F(Precompiled, ExactSums) {
  ExplainOptions options;
  options.numerics = Numerics::exact;
  const Explanation told = explain("sum(a)", "f32[1000]", options);
  EXPECT_THAT(told.precompiled[0].name, StartsWith("add_steps of jit/fold/exact_loops.h, add f32"));
  EXPECT_THAT(told.texts.at("asm"), HasSubstr("  ret\n"));
}

TEST_F(Precompiled, NothingIsReadOfNothing) {
  for (const char* expr : {"sum(a)", "cumsum(a, dim=0)"})
    EXPECT_TRUE(explain(expr, "f32[0]").precompiled.empty());
}

}  // namespace
}  // namespace weft::testing
