// Division by what is the same along the innermost loop: the bits must be those of the division,
// for numbers of every size and with every last place.
#include "tests/jit/xbyak/harness.h"

#include <weft/dtype.h>

namespace weft::jit::testing {
namespace {

using ir::no_value;

class XbyakDivision : public ::testing::TestWithParam<Isa> {
 protected:
  Random random_{seed()};

  /// Each run has other data and, for divisors from memory, other divisors.  With the code of
  /// processors whose dividers are slow, and of those that divide floats themselves.
  void agree_often(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
                   int num_runs) {
    for (const int amd_family : {0, 26}) {
      Target target = target_for(GetParam());
      target.features.amd_family = amd_family;
      const Comparison comparison(kernel, target);
      for (int run = 0; run < num_runs; ++run)
        ASSERT_TRUE(comparison.agree({.extents = extents}, random_))
            << "run " << run << ", family " << amd_family;
    }
  }
};

/// out = x / c, with c a constant, a parameter or one element; x converted from `from` first.
enum class Divisor { constant, parameter, element };

ir::Kernel quotient_kernel(DType from, DType dtype, Divisor divisor, std::uint64_t bits = 0) {
  ir::Kernel kernel = make_kernel({dtype, from}, 1);
  kernel.body.push_back({.op = Op::load, .dtype = from, .operand = 1});
  if (from != dtype)
    kernel.body.push_back(
        {.op = Op::cast, .dtype = dtype, .args = {0, no_value, no_value, no_value}});
  const auto x = static_cast<ir::ValueId>(kernel.body.size() - 1);
  switch (divisor) {
    case Divisor::constant:
      kernel.body.push_back({.op = Op::constant, .dtype = dtype, .bits = {bits, 0}});
      break;
    case Divisor::parameter:
      kernel.params = {dtype};
      kernel.body.push_back({.op = Op::param, .dtype = dtype, .operand = 0});
      break;
    case Divisor::element:
      kernel.operands.push_back({dtype, ir::Role::input, {0}});
      kernel.body.push_back({.op = Op::load, .dtype = dtype, .operand = 2});
      break;
  }
  kernel.body.push_back({.op = Op::div, .dtype = dtype, .args = {x, x + 1, no_value, no_value}});
  kernel.body.push_back({.op = Op::store,
                         .dtype = dtype,
                         .operand = 0,
                         .args = {x + 2, no_value, no_value, no_value}});
  return kernel;
}

TEST_P(XbyakDivision, ByParametersAndElements) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Divisor divisor : {Divisor::parameter, Divisor::element})
      agree_often(scheduled(quotient_kernel(dtype, dtype, divisor), GetParam()), {1000}, 400);
}

TEST_P(XbyakDivision, OfIntegers) {
  for (const DType from : {DType::boolean, DType::u8, DType::i16, DType::i32, DType::u64})
    for (const DType dtype : {DType::f32, DType::f64})
      agree_often(scheduled(quotient_kernel(from, dtype, Divisor::parameter), GetParam()), {600},
                  60);
}

TEST_P(XbyakDivision, ByConstants) {
  // 6, 255, -3, 0, the largest, a subnormal, infinity, 1 and all ones after the point
  for (const std::uint64_t bits : {0x40c00000u, 0x437f0000u, 0xc0400000u, 0u, 0x7f7fffffu, 0x1u,
                                   0x7f800000u, 0x3f800000u, 0x3fffffffu})
    for (const DType from : {DType::f32, DType::u8})
      agree_often(scheduled(quotient_kernel(from, DType::f32, Divisor::constant, bits), GetParam()),
                  {700}, 20);
  for (const std::uint64_t bits : {0x4018000000000000u, 0x3fefffffffffffffu, 0x8000000000000000u})
    agree_often(
        scheduled(quotient_kernel(DType::f64, DType::f64, Divisor::constant, bits), GetParam()),
        {300}, 20);
}

// Sizes around those at which the main loop is entered, with a divisor a row.
TEST_P(XbyakDivision, RowsOfAllLengths) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    ir::Kernel kernel = quotient_kernel(dtype, dtype, Divisor::element);
    kernel.loops.resize(2);
    for (ir::Operand& operand : kernel.operands)
      operand.strides.insert(operand.strides.begin(), ir::stride_any);
    kernel = scheduled(kernel, GetParam());
    for (std::int64_t size = 1; size < 140; size += size < 20 ? 1 : 7)
      agree_often(kernel, {7, size}, 3);
  }
}

// Two divisors, one of them used twice, and more values than stay in registers.
TEST_P(XbyakDivision, SeveralDivisors) {
  ir::Kernel kernel = make_kernel({DType::f32, DType::f32, DType::f32, DType::f64}, 1);
  kernel.operands[2].strides = {0};
  kernel.operands[3].role = ir::Role::input;
  kernel.params = {DType::f32};
  const auto div = [](ir::ValueId x, ir::ValueId y) {
    return ir::Inst{.op = Op::div, .dtype = DType::f32, .args = {x, y, no_value, no_value}};
  };
  kernel.body = {{.op = Op::load, .dtype = DType::f32, .operand = 1},
                 {.op = Op::load, .dtype = DType::f32, .operand = 2},
                 {.op = Op::load, .dtype = DType::f64, .operand = 3},
                 {.op = Op::cast, .dtype = DType::f32, .args = {2, no_value, no_value, no_value}},
                 {.op = Op::param, .dtype = DType::f32, .operand = 0},
                 div(0, 1),
                 div(3, 1),
                 div(5, 4),
                 {.op = Op::add, .dtype = DType::f32, .args = {6, 7, no_value, no_value}},
                 {.op = Op::store,
                  .dtype = DType::f32,
                  .operand = 0,
                  .args = {8, no_value, no_value, no_value}}};
  agree_often(scheduled(kernel, GetParam()), {300}, 100);
}

/// out = (x / a - b) / c, a being 255 or any number: whether the difference is of ordinary size is
/// known from b.
ir::Kernel normalise_kernel(DType dtype, Op op, bool is_swapped, bool is_constant) {
  ir::Kernel kernel = make_kernel({dtype, DType::u8, dtype, dtype}, 1);
  kernel.operands[2].strides = kernel.operands[3].strides = {0};
  for (const std::size_t i : {2, 3}) kernel.operands[i].role = ir::Role::input;
  const std::uint64_t bits_255 = dtype == DType::f32 ? 0x437f0000u : 0x406fe00000000000u;
  const ir::Inst constant{.op = Op::constant, .dtype = dtype, .bits = {bits_255, 0}};
  if (!is_constant) kernel.params = {dtype};
  const auto two = [&](Op name, ir::ValueId x, ir::ValueId y) {
    return ir::Inst{.op = name, .dtype = dtype, .args = {x, y, no_value, no_value}};
  };
  kernel.body = {
      {.op = Op::load, .dtype = DType::u8, .operand = 1},
      {.op = Op::cast, .dtype = dtype, .args = {0, no_value, no_value, no_value}},
      is_constant ? constant : ir::Inst{.op = Op::param, .dtype = dtype, .operand = 0},
      two(Op::div, 1, 2),
      {.op = Op::load, .dtype = dtype, .operand = 2},
      is_swapped ? two(op, 4, 3) : two(op, 3, 4),
      {.op = Op::load, .dtype = dtype, .operand = 3},
      two(Op::div, 5, 6),
      {.op = Op::store, .dtype = dtype, .operand = 0, .args = {7, no_value, no_value, no_value}}};
  return kernel;
}

TEST_P(XbyakDivision, OfSumsWithWhatStandsStill) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Op op : {Op::add, Op::sub})
      for (const bool is_swapped : {false, true})
        for (const bool is_constant : {false, true})
          agree_often(scheduled(normalise_kernel(dtype, op, is_swapped, is_constant), GetParam()),
                      {700}, 150);
}

// The sizes at which differences begin to need a test, with divisors of ordinary size.
TEST_P(XbyakDivision, OfSumsWithNumbersOfAnySize) {
  ir::Kernel kernel = normalise_kernel(DType::f32, Op::sub, false, true);
  for (ir::Inst& inst : kernel.body)
    if (inst.op == Op::load && inst.operand == 3)
      inst = {.op = Op::constant, .dtype = DType::f32, .bits = {0x3e6a7efau, 0}};  // 0.229
  // 0, -0, subnormals, powers of two around 2^-40, 2^-90, 2^40 and 2^90, infinity and NaN
  for (const std::uint64_t bits : {0u, 0x80000000u, 0x1u, 0x007fffffu, 0x2b800000u, 0x2b000000u,
                                   0xab7fffffu, 0x12800000u, 0x127fffffu, 0x53800000u, 0x53800001u,
                                   0x6c800000u, 0xff000000u, 0x7f800000u, 0x7fc00000u}) {
    ir::Kernel with_term = kernel;
    for (ir::Inst& inst : with_term.body)
      if (inst.op == Op::load && inst.operand == 2)
        inst = {.op = Op::constant, .dtype = DType::f32, .bits = {bits, 0}};
    agree_often(scheduled(with_term, GetParam()), {700}, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, XbyakDivision, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
