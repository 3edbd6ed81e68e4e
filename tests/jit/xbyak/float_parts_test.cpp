// The functions of f32 and the parts that they are made of, by xbyak and LLVM, against the
// interpreter: the same bits.
#include "ir/builder.h"
#include "ir/single_functions.h"
#include "jit/xbyak/backend.h"
#include "tests/jit/xbyak/harness.h"

#if defined(WEFT_HAS_LLVM)
#include "tests/jit/llvm/support.h"
#endif

namespace weft::jit::testing {
namespace {

/// scale_by_power where it is defined: of something in [3/4, 3/2) by a whole number.
ir::Kernel scale_kernel() {
  ir::Kernel kernel = make_kernel({DType::f32, DType::f32, DType::f32}, 1);
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.load(1, DType::f32), y = builder.load(2, DType::f32);
  const ir::Value number = mantissa(abs(x));
  const ir::Value bounded = maximum(like(y, -250), minimum(like(y, 250), y));
  const ir::Value power = select(y == y, round(bounded), like(y, 0));
  builder.store(0, scale_by_power(number, power));
  return kernel;
}

/// The same of f64, down to the subnormal numbers and beyond the largest.
ir::Kernel scale_kernel_64() {
  ir::Kernel kernel = make_kernel({DType::f64, DType::f64, DType::f64}, 1);
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.load(1, DType::f64), y = builder.load(2, DType::f64);
  const ir::Value number = select(x > like(x, 0), like(x, 1.4142135623730951), like(x, -0.7));
  const ir::Value bounded = maximum(like(y, -2000), minimum(like(y, 2000), y));
  const ir::Value power = select(y == y, round(bounded), like(y, 0));
  builder.store(0, scale_by_power(number, power));
  return kernel;
}

/// Any bits may say where in a table.  The dtype of the output says how many lanes there are.
ir::Kernel table_kernel(DType output) {
  ir::Kernel kernel = make_kernel({output, DType::f32}, 1);
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.load(1, DType::f32);
  const ir::Value entry = table_entry(x, table_number(x, ir::Table::exp2_high));
  const ir::Value other = table_entry(entry, table_number(x, ir::Table::exp2_low, 2));
  builder.store(0, builder.cast(entry + other, output));
  return kernel;
}

std::vector<ir::Kernel> kernels() {
  std::vector<ir::Kernel> result{scale_kernel(), scale_kernel_64(), table_kernel(DType::f32),
                                 table_kernel(DType::f64), table_kernel(DType::i16)};
  for (const Op op : {Op::exponent, Op::mantissa, Op::exp,  Op::exp2,      Op::log,      Op::log2,
                      Op::log10,    Op::sin,      Op::cos,  Op::tan,       Op::asin,     Op::acos,
                      Op::atan,     Op::atan2,    Op::tanh, Op::erf,       Op::sigmoid,  Op::silu,
                      Op::gelu,     Op::pow,      Op::fmod, Op::remainder, Op::div_floor})
    result.push_back(op_kernel(op, DType::f32, DType::f32));
  for (const Op op : {Op::exp,       Op::exp2, Op::log2,  Op::log10, Op::sigmoid,   Op::silu,
                      Op::gelu_tanh, Op::cosh, Op::sin,   Op::cos,   Op::tan,       Op::asin,
                      Op::acos,      Op::atan, Op::atan2, Op::asinh, Op::acosh,     Op::atanh,
                      Op::erf,       Op::cbrt, Op::pow,   Op::fmod,  Op::remainder, Op::div_floor})
    result.push_back(op_kernel(op, DType::f64, DType::f64));
  // Narrower vectors of f32 beside f64, and more than the registers hold.
  for (const Op op : {Op::sin, Op::fmod}) result.push_back(op_kernel(op, DType::f16, DType::f16));
  ir::Kernel mixed = make_kernel({DType::f64, DType::f32, DType::f64}, 1);
  ir::Builder builder(mixed.body);
  const ir::Value x = builder.load(1, DType::f32), y = builder.load(2, DType::f64);
  const ir::Value sum = sin(x) + cos(x * x) + exp(x) + log(x) + tanh(x);
  builder.store(0, builder.cast(sum, DType::f64) + y);
  result.push_back(mixed);
  return result;
}

class FloatParts : public ::testing::TestWithParam<Isa> {};

TEST_P(FloatParts, HaveTheInterpretersBitsByXbyak) {
  Random random(seed());
  for (const ir::Kernel& kernel : kernels()) {
    const ir::Kernel ready = scheduled(kernel, GetParam());
    const Comparison comparison(ready, GetParam());
    ASSERT_EQ(comparison.refusal(), "");
    for (const std::int64_t size : interesting_sizes(ready))
      for (int repeat = 0; repeat < 8; ++repeat)
        ASSERT_TRUE(comparison.agree({.extents = {size}}, random));
  }
}

/// Only rows: a kernel with a sine is not one that calls functions, so that no other tier is asked.
TEST_P(FloatParts, AreNoCalls) {
  const auto calls = [](Op op, DType dtype) {
    return xbyak_calls_functions(scheduled(op_kernel(op, dtype, dtype), GetParam()),
                                 target_for(GetParam()));
  };
  for (const Op op : {Op::exp,   Op::exp2,  Op::expm1, Op::log,       Op::log2,     Op::log10,
                      Op::log1p, Op::sin,   Op::cos,   Op::tan,       Op::asin,     Op::acos,
                      Op::atan,  Op::atan2, Op::sinh,  Op::tanh,      Op::erf,      Op::asinh,
                      Op::acosh, Op::atanh, Op::erfc,  Op::cbrt,      Op::sigmoid,  Op::pow,
                      Op::gelu,  Op::hypot, Op::fmod,  Op::remainder, Op::div_floor})
    for (const DType dtype : {DType::f32, DType::f64})
      EXPECT_FALSE(calls(op, dtype)) << name(op) << ' ' << name(dtype);
}

#if defined(WEFT_HAS_LLVM)
TEST_P(FloatParts, HaveTheInterpretersBitsByLlvm) {
  test::need_llvm();
  if (IsSkipped()) return;
  const std::vector<std::vector<std::int64_t>> extents(4, {100});
  for (const ir::Kernel& kernel : kernels())
    test::expect_same(scheduled(kernel, GetParam()), target_for(GetParam()), extents);
}
#endif

INSTANTIATE_TEST_SUITE_P(Targets, FloatParts, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
