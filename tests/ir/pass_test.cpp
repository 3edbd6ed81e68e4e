// What holds for every pass on every kernel; what each does is in tests/golden.
#include "ir/pass.h"

#include "ir/builder.h"
#include "ir/limits.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/ir/random_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::ir {
namespace {

TEST(Pass, ReportsChangesKeepsKernelsValidAndIsIdempotent) {
  Random random(6);
  for (int i = 0; i < 1500; ++i) {
    Kernel kernel = random_kernel(random, {.may_reduce = true, .may_scan = true});
    for (const Pass& pass : pipeline()) {
      const Kernel before = kernel;
      const bool changed = pass.run(kernel);
      ASSERT_EQ(changed, kernel != before) << pass.name << '\n' << print(before);
      ASSERT_EQ(violations(kernel), std::vector<std::string>{}) << pass.name << '\n'
                                                                << print(before) << print(kernel);
      ASSERT_FALSE(pass.run(kernel)) << pass.name << '\n' << print(before) << print(kernel);
    }
  }
}

TEST(Pass, PipelineLeavesOnlyWhatBackendsKnow) {
  Random random(7);
  constexpr DType dtypes[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                              DType::f16,     DType::bf16, DType::f32, DType::f8e4m3fn,
                              DType::f8e5m2,  DType::f64};
  for (int i = 0; i < 500; ++i) {
    Kernel kernel = random_kernel(
        random, {.dtypes = dtypes, .may_reduce = true});  // complex numbers are the interpreter's
    run_pipeline(kernel);
    for (const Inst& inst : kernel.body) {
      EXPECT_NE(info(inst.op).form, Form::composite) << print(kernel);
      EXPECT_FALSE(info(inst.op).form == Form::primitive && is_small_float(inst.dtype))
          << print(kernel);
      EXPECT_FALSE(casts_as_result(inst)) << print(kernel);
    }
  }
}

TEST(Pass, BodiesMayBeTooLongUntilWhatIsEqualIsShared) {
  Kernel kernel;
  kernel.loops.resize(1);
  kernel.operands = {{DType::f32, Role::output, {1}}, {DType::f32, Role::input, {1}}};
  Builder builder(kernel.body);
  const Value x = builder.load(1, DType::f32);
  Value sum = x;
  for (int i = 0; i < 200; ++i)
    sum = sum +
          builder.append(
              {.op = Op::erfc, .dtype = DType::f32, .args = {x.id, no_value, no_value, no_value}});
  builder.store(0, sum);
  std::size_t longest = 0;
  run_pipeline(kernel, [&](std::string_view, bool, const Kernel& after) {
    longest = std::max(longest, after.body.size());
  });
  EXPECT_GT(longest, max_instructions);
  EXPECT_LT(kernel.body.size(), max_instructions);
  EXPECT_EQ(violations(kernel), std::vector<std::string>{});
}

TEST(Pass, ObserverSeesEachPass) {
  Random random(8);
  Kernel kernel = random_kernel(random);
  std::vector<std::string_view> seen;
  run_pipeline(kernel, [&](std::string_view pass, bool, const Kernel&) { seen.push_back(pass); });
  ASSERT_EQ(seen.size(), pipeline().size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], pipeline()[i].name);
}

}  // namespace
}  // namespace weft::ir
