// Kernels that reduce to several outputs, compiled, against the interpreter.
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/jit/xbyak/harness.h"
#include "tests/required_backends.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::jit::testing {
namespace {

/// What is accumulated of the loads %0 and %1 and their difference %2.
struct Joint {
  const char* dtype;
  std::vector<const char*> accumulations;
};

const Joint joints[] = {
    {"f32", {"maximum %0", "minimum %0"}},
    {"f32", {"add %0", "add %2"}},
    {"f32", {"maximum %0", "add %2", "minimum %1", "mul %1"}},
    {"f64", {"maximum %2", "add %0", "maximum %0"}},
    {"f64", {"minimum %2", "minimum %2"}},
    {"i32", {"bitwise_xor %0", "maximum %2", "add %1"}},
    {"i64", {"add %0", "minimum %0"}},
    {"u8", {"maximum %0", "minimum %0", "add %2", "bitwise_or %1"}},
    {"i16", {"mul %0", "minimum %2"}},
};

std::string text_of(const Joint& joint, bool is_inner, bool has_rows, const std::string& second) {
  const std::string dtype = joint.dtype;
  const auto itemsize = static_cast<int>(itemsize_bytes(*parse_dtype(dtype)));
  const std::string outer = has_rows ? "* 0 " : "* ";
  const std::string output = dtype + " [" + outer + (is_inner ? "0" : "1") + "] ";
  const int lanes = is_inner ? 256 / itemsize : 1;
  const std::size_t num_folds = joint.accumulations.size();
  const auto operand = [](std::size_t i) { return "$" + std::to_string(i) + " "; };
  std::string text = "kernel default unscheduled 0 { ";
  for (std::size_t i = 0; i < num_folds; ++i) text += operand(i) + "out " + output;
  const std::string first_input = operand(num_folds), second_input = operand(num_folds + 1);
  text += first_input + "in " + dtype + " [" + (has_rows ? "* * 1" : "* 1") + "] ";
  text += second_input + "in " + dtype + " [" + (has_rows ? "* * " : "* ") + second + "] ";
  text += std::string("parallel ") + (has_rows ? "reduce " : "") +
          (is_inner ? "reduce " : "parallel ") + "tree lanes " + std::to_string(lanes) + " block " +
          std::to_string(2 * lanes * (is_inner ? 1 : 4)) + " body: %0 = load " + dtype + " " +
          first_input + "%1 = load " + dtype + " " + second_input + "%2 = sub " + dtype +
          " %0, %1 ";
  for (std::size_t i = 0; i < num_folds; ++i)
    text += "accumulate " + dtype + " " + operand(i) + joint.accumulations[i] + " ";
  return text + "}";
}

class JointReduction : public ::testing::TestWithParam<Isa> {
 protected:
  static void agrees(const Joint& joint, bool is_inner, bool has_rows, const std::string& second,
                     Random& random) {
    const std::string text = text_of(joint, is_inner, has_rows, second);
    const ir::Kernel given = ir::parse(text);
    ir::verify(given);
    const ir::Kernel kernel = scheduled(given, GetParam());
    for (const char* const backend : {"xbyak", "llvm"}) {
      if (find_backend(backend) == nullptr) continue;
      const Comparison comparison(kernel, target_for(GetParam()), backend);
      ASSERT_EQ(comparison.refusal(), "") << backend << text;
      for (const std::int64_t inner : interesting_sizes(kernel))
        for (const std::int64_t rows : {1, 3, 9}) {
          testing::Run run{.extents = {2, inner},
                           .placement = rows == 3 ? Placement::at_start : Placement::at_end};
          if (has_rows) run.extents = {2, rows, inner};
          run.takes_whole_rows = comparison.has_rows() && inner <= kernel.tree.block && rows != 9;
          ASSERT_TRUE(comparison.agree(run, random)) << backend << text;
        }
    }
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JointReduction);  // other processors run none

TEST_P(JointReduction, OfRowsAgreesWithTheInterpreter) {
  Random random{seed()};
  for (const Joint& joint : joints)
    for (const bool has_rows : {true, false})
      for (const char* const second : {"1", "0"}) agrees(joint, true, has_rows, second, random);
}

TEST_P(JointReduction, OfColumnsAgreesWithTheInterpreter) {
  Random random{seed()};
  for (const Joint& joint : joints)
    for (const char* const second : {"1", "0"}) agrees(joint, false, true, second, random);
}

/// Loops over whole vectors that don't reduce take fewer of a long body at once than a tree has.
TEST_P(JointReduction, OfLongBodiesAgreesWithTheInterpreter) {
  Random random{seed()};
  std::string body;
  int value = 1;
  for (; value < 80; ++value)
    body += detail::concat("%", value, " = sub i32 %", value - 1, ", %", value / 2, " ");
  for (const int num_folds : {1, 2}) {
    std::string text = "kernel default unscheduled 0 { $0 out i32 [0] ";
    if (num_folds > 1) text += "$1 out i32 [0] ";
    text += detail::concat("$", num_folds, " in i32 [1] reduce tree lanes 64 block 256 ",
                           "body: %0 = load i32 $", num_folds, " ", body, "accumulate i32 $0 add %",
                           value - 1);
    if (num_folds > 1) text += " accumulate i32 $1 maximum %3";
    const ir::Kernel kernel = scheduled(ir::parse(text + " }"), GetParam());
    for (const char* const backend : {"xbyak", "llvm"}) {
      if (find_backend(backend) == nullptr) continue;
      const Comparison comparison(kernel, target_for(GetParam()), backend);
      ASSERT_EQ(comparison.refusal(), "");
      for (const std::int64_t count : interesting_sizes(kernel)) {
        ASSERT_TRUE(comparison.agree({.extents = {count}}, random)) << backend << count;
        if (!comparison.has_rows() || count > kernel.tree.block) continue;
        ASSERT_TRUE(comparison.agree({.extents = {count}, .takes_whole_rows = true}, random));
      }
    }
  }
}

/// The lanes of two folds are more than AVX2 has registers for beside a body, so that they are
/// folded in parts, and rows don't become results.
TEST_P(JointReduction, HasCodeForWholeRowsWhereAllLanesAreInRegisters) {
  if (find_backend("xbyak") == nullptr) return leave_out_without("xbyak", "it is not there");
  for (const std::size_t num_folds : {1, 2, 4}) {
    const Joint joint{"f32", std::vector<const char*>(num_folds, "add %2")};
    const ir::Kernel kernel = scheduled(ir::parse(text_of(joint, true, false, "1")), GetParam());
    const Comparison comparison(kernel, target_for(GetParam()));
    EXPECT_EQ(comparison.refusal(), "");
    EXPECT_EQ(comparison.has_rows(), GetParam() == Isa::avx512 || num_folds == 1) << num_folds;
  }
}

TEST(JointReductionRefusal, NamesSizesThatDiffer) {
  if (find_backend("xbyak") == nullptr || runnable_isas().empty())
    return leave_out_without("xbyak", "it is not there");
  const Isa isa = runnable_isas()[0];
  const ir::Kernel kernel = scheduled(ir::parse(R"(kernel default unscheduled 0 {
      $0 out f32 [0]  $1 out f64 [0]  $2 in f32 [1]
      reduce
      tree lanes 32 block 128
    body:
      %0 = load f32 $2
      %1 = cast f64 %0
      accumulate f32 $0 add %0
      accumulate f64 $1 add %1 })"),
                                      isa);
  EXPECT_EQ(find_backend("xbyak")->refuses(kernel, target_for(isa)),
            "partial results of f32 and f64 differ in size");
}

INSTANTIATE_TEST_SUITE_P(Isas, JointReduction, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
