// Every op of the table in every dtype it computes in, and every cast, against the interpreter.
#include "ir/pass.h"
#include "jit/llvm/backend.h"
#include "tests/jit/llvm/support.h"

namespace weft::jit::test {
namespace {

/// Several vectors, one, and ends of all kinds.
const std::vector<std::vector<std::int64_t>> lengths = {{1},  {2},  {7},  {16},
                                                        {31}, {64}, {95}, {300}};

bool computes_in(Op op, DType dtype) {
  return weft::computes_in(info(op).domain, info(op).result, dtype);
}

class LlvmOps : public testing::TestWithParam<Op> {
  void SetUp() override { need_llvm(); }
};

TEST_P(LlvmOps, GiveTheInterpretersBits) {
  const Op op = GetParam();
  for (Isa isa : isas())
    for (DType dtype : all_dtypes) {
      if (!computes_in(op, dtype)) continue;
      ir::Kernel kernel = kernel_of(op, dtype, isa);
      ir::run_pipeline(kernel);
      ASSERT_EQ(llvm_backend().refuses(kernel, target_for(isa)), "") << name(dtype);
      expect_same(kernel, target_for(isa), lengths);
    }
}

std::vector<Op> primitive_ops() {
  std::vector<Op> ops;
  for (Op op : all_ops())
    if (info(op).form == Form::primitive) ops.push_back(op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(All, LlvmOps, testing::ValuesIn(primitive_ops()),
                         [](const auto& info) { return std::string(name(info.param)); });

class LlvmCasts : public testing::TestWithParam<DType> {
  void SetUp() override { need_llvm(); }
};

TEST_P(LlvmCasts, GiveTheInterpretersBits) {
  for (Isa isa : isas())
    for (DType to : all_dtypes) {
      if (to == GetParam()) continue;
      ir::Kernel kernel = cast_kernel(GetParam(), to, isa);
      ir::run_pipeline(kernel);
      // Between complex numbers a NaN is one of another width on the way, or is not.
      expect_same(kernel, target_for(isa), lengths, !is_complex(to));
    }
}

INSTANTIATE_TEST_SUITE_P(From, LlvmCasts, testing::ValuesIn(all_dtypes),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace weft::jit::test
