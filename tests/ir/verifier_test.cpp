// What the golden files of the verifier cannot say in text.
#include "ir/verifier.h"
#include "tests/matchers.h"

#include "ir/builder.h"
#include "ir/text.h"

#include <weft/error.h>

namespace weft::ir {
namespace {

using matchers::ElementsAre;
using matchers::HasSubstr;
using matchers::IsEmpty;
using matchers::StartsWith;

Kernel negation() {
  return parse(
      "kernel default unscheduled 0 { $0 out f32 [1] $1 in f32 [1] parallel "
      "body: %0 = load f32 $1 %1 = neg f32 %0 store f32 $0 %1 }");
}

TEST(Verifier, WrongNumberOfArguments) {
  Kernel kernel = negation();
  kernel.body[1].args[0] = no_value;
  EXPECT_THAT(violations(kernel), ElementsAre(StartsWith("V5: ")));
  kernel = negation();
  kernel.body[1].args[2] = 0;
  EXPECT_THAT(violations(kernel), ElementsAre(StartsWith("V5: ")));
}

TEST(Verifier, FieldsThatMeanNothing) {
  Kernel kernel = negation();
  kernel.body[1].bits.lo = 1;
  kernel.body[1].operand = 1;
  EXPECT_THAT(violations(kernel), ElementsAre(StartsWith("V10: "), StartsWith("V10: ")));
}

TEST(Verifier, NothingToFence) {
  Kernel kernel = negation();
  kernel.is_unfenced = true;
  EXPECT_THAT(violations(kernel), ElementsAre(StartsWith("V13: unfenced")));
  kernel.is_streaming = true;
  EXPECT_THAT(violations(kernel), IsEmpty());
}

TEST(Verifier, TooManyInstructions) {
  Kernel kernel = negation();
  std::vector<Inst> body(4095, Inst{.op = Op::constant});
  kernel.body.insert(kernel.body.end() - 1, body.begin(), body.end());
  EXPECT_THAT(violations(kernel), ElementsAre(StartsWith("V14: ")));
  kernel.body.erase(kernel.body.end() - 3, kernel.body.end() - 1);
  EXPECT_THAT(violations(kernel), IsEmpty());
}

TEST(Verifier, TooMuchHoisted) {
  Kernel kernel = negation();
  kernel.num_hoisted = 9;
  EXPECT_THAT(violations(kernel),
              matchers::Contains(HasSubstr("V12: 9 instructions are hoisted out of a body of 3")));
}

TEST(Verifier, TooManyOperands) {
  Kernel kernel = negation();
  kernel.operands.resize(256, kernel.operands.back());
  EXPECT_THAT(violations(kernel), ElementsAre(StartsWith("V1: ")));
}

TEST(Verifier, ThrowsAllAndShowsTheKernel) {
  Kernel kernel = negation();
  EXPECT_NO_THROW(verify(kernel));
  kernel.body[1].op = Op::bitwise_not;
  kernel.body[0].operand = 0;
  try {
    verify(kernel);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), matchers::AllOf(HasSubstr("V6: "), HasSubstr("V7: "),
                                              HasSubstr("bitwise_not f32 %0\n")));
  }
}

}  // namespace
}  // namespace weft::ir
