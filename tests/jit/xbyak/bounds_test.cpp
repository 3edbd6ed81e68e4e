// Bounds that are the same along the innermost loop, which may be NaN, or a zero of either sign.
#include "tests/jit/xbyak/harness.h"

#include <weft/dtype.h>

namespace weft::jit::testing {
namespace {

using ir::no_value;

class XbyakBounds : public ::testing::TestWithParam<Isa> {
 protected:
  Random random_{seed()};
};

/// out = last(low, minimum(high, maximum(low, x))).  Bounds are parameters, or one element each of
/// memory.
ir::Kernel clamp_kernel(DType dtype, bool are_params, std::size_t num_loops, Op last) {
  ir::Kernel kernel = make_kernel({dtype, dtype}, num_loops);
  const auto two = [&](Op op, ir::ValueId x, ir::ValueId y) {
    return ir::Inst{.op = op, .dtype = dtype, .args = {x, y, no_value, no_value}};
  };
  kernel.body.push_back({.op = Op::load, .dtype = dtype, .operand = 1});
  for (std::uint8_t i = 0; i < 2; ++i) {
    if (are_params) {
      kernel.params.push_back(dtype);
      kernel.body.push_back({.op = Op::param, .dtype = dtype, .operand = i});
    } else {
      std::vector<ir::StrideClass> strides(num_loops, ir::stride_any);
      strides.back() = 0;
      kernel.operands.push_back({dtype, ir::Role::input, std::move(strides)});
      kernel.body.push_back(
          {.op = Op::load, .dtype = dtype, .operand = static_cast<std::uint8_t>(2 + i)});
    }
  }
  kernel.body.push_back(two(Op::maximum, 1, 0));
  kernel.body.push_back(two(Op::minimum, 2, 3));
  kernel.body.push_back(two(last, 1, 4));  // the same bound once more
  kernel.body.push_back(
      {.op = Op::store, .dtype = dtype, .operand = 0, .args = {5, no_value, no_value, no_value}});
  return kernel;
}

TEST_P(XbyakBounds, GiveTheBitsOfTheInterpreter) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const bool are_params : {false, true})
      for (const Op last : {Op::minimum, Op::mul}) {
        const ir::Kernel kernel = scheduled(clamp_kernel(dtype, are_params, 1, last), GetParam());
        const Comparison comparison(kernel, GetParam());
        ASSERT_EQ(comparison.refusal(), "");
        for (int run = 0; run < 400; ++run)
          ASSERT_TRUE(comparison.agree({.extents = {1 + run / 2}}, random_)) << "run " << run;
      }
}

// A row that has a NaN for a bound stands between others.
TEST_P(XbyakBounds, ChangeFromRowToRow) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const ir::Kernel kernel = scheduled(clamp_kernel(dtype, false, 2, Op::maximum), GetParam());
    const Comparison comparison(kernel, GetParam());
    ASSERT_EQ(comparison.refusal(), "");
    for (std::int64_t size = 1; size < 200; size += size < 20 ? 1 : 9)
      ASSERT_TRUE(comparison.agree({.extents = {30, size}}, random_)) << "rows of " << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, XbyakBounds, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
