// Every row of the xbyak backend against the interpreter.
#include "xbyak_harness.h"

#include <weft/dtype.h>
#include <weft/op.h>

#include <set>

namespace weft::jit::testing {
namespace {

const std::set<DType> numbers = {DType::u8,  DType::u16, DType::u32, DType::u64, DType::i8,
                                 DType::i16, DType::i32, DType::i64, DType::f32, DType::f64};

class XbyakRows : public ::testing::TestWithParam<Isa> {};

bool has_row(Op op, DType dtype) {
  static const std::set<Op> everywhere = {Op::add,     Op::sub,     Op::mul,  Op::neg,   Op::abs,
                                          Op::maximum, Op::minimum, Op::eq,   Op::ne,    Op::lt,
                                          Op::le,      Op::gt,      Op::ge,   Op::where, Op::floor,
                                          Op::ceil,    Op::trunc,   Op::round};
  static const std::set<Op> of_integers = {
      Op::bitwise_and,        Op::bitwise_or,          Op::bitwise_xor, Op::bitwise_not,
      Op::bitwise_left_shift, Op::bitwise_right_shift, Op::quotient};
  static const std::set<Op> of_floats = {Op::div, Op::sqrt, Op::fma};
  return everywhere.contains(op) || (is_integer(dtype) && of_integers.contains(op)) ||
         (is_floating(dtype) && of_floats.contains(op));
}

TEST_P(XbyakRows, AgreeWithTheInterpreter) {
  Random random(seed());
  int num_rows = 0;
  for (const Op op : all_ops()) {
    for (const DType dtype : all_dtypes) {
      if (info(op).form != Form::primitive || !accepts(info(op).domain, dtype)) continue;
      if (info(op).result == ResultRule::floating && !is_floating(dtype)) continue;
      const DType result = ir::result_dtype({.op = op, .dtype = dtype});
      const ir::Kernel kernel = scheduled(op_kernel(op, dtype, result), GetParam());
      const Comparison comparison(kernel, GetParam());
      const bool must_have = numbers.contains(dtype) && has_row(op, dtype);
      if (!comparison.refusal().empty()) {
        EXPECT_FALSE(must_have) << name(op) << " " << name(dtype) << ": " << comparison.refusal();
        continue;
      }
      ++num_rows;
      for (const std::int64_t size : interesting_sizes(kernel))
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          ASSERT_TRUE(comparison.agree({.extents = {size}, .placement = placement}, random))
              << name(op) << " " << name(dtype);
    }
  }
  EXPECT_GT(num_rows, 200);
}

TEST_P(XbyakRows, CompositesOfRowsAgree) {
  Random random(seed());
  for (const Op op : {Op::square, Op::clamp, Op::relu, Op::sign, Op::signbit, Op::copysign,
                      Op::isnan, Op::isinf, Op::isfinite, Op::fmax, Op::fmin, Op::logical_and,
                      Op::logical_xor, Op::logical_not, Op::heaviside, Op::lerp, Op::reciprocal}) {
    for (const DType dtype : all_dtypes) {
      if (!accepts(info(op).domain, dtype) || is_complex(dtype)) continue;
      if (info(op).result == ResultRule::floating && !is_floating(dtype)) continue;
      const DType result = ir::result_dtype({.op = op, .dtype = dtype});
      const ir::Kernel kernel = scheduled(op_kernel(op, dtype, result), GetParam());
      const Comparison comparison(kernel, GetParam());
      ASSERT_EQ(comparison.refusal(), "") << name(op) << " " << name(dtype);
      for (const std::int64_t size : interesting_sizes(kernel))
        ASSERT_TRUE(comparison.agree({.extents = {size}}, random))
            << name(op) << " " << name(dtype);
    }
  }
}

TEST_P(XbyakRows, CastsAgreeWithTheInterpreter) {
  Random random(seed());
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      if (is_complex(from) || is_complex(to)) continue;
      const ir::Kernel kernel = scheduled(cast_kernel(from, to), GetParam());
      const Comparison comparison(kernel, GetParam());
      ASSERT_EQ(comparison.refusal(), "") << name(from) << " to " << name(to);
      for (const std::int64_t size : interesting_sizes(kernel))
        ASSERT_TRUE(comparison.agree({.extents = {size}}, random))
            << name(from) << " to " << name(to);
    }
}

TEST_P(XbyakRows, CopiesOfAnyItemSizeUpToEightBytes) {
  Random random(seed());
  for (const DType dtype : all_dtypes) {
    const ir::Kernel kernel = scheduled(
        [&] {
          ir::Kernel copy = make_kernel({dtype, dtype}, 1);
          copy.body = {{.op = Op::load, .dtype = dtype, .operand = 1},
                       {.op = Op::store,
                        .dtype = dtype,
                        .operand = 0,
                        .args = {0, ir::no_value, ir::no_value, ir::no_value}}};
          return copy;
        }(),
        GetParam());
    const Comparison comparison(kernel, GetParam());
    EXPECT_EQ(comparison.refusal().empty(), itemsize_bytes(dtype) <= 8) << comparison.refusal();
    if (!comparison.refusal().empty()) continue;
    for (const std::int64_t size : interesting_sizes(kernel))
      ASSERT_TRUE(comparison.agree({.extents = {size}}, random)) << name(dtype);
  }
}

TEST_P(XbyakRows, RefusalNamesTheDtype) {
  const ir::Kernel kernel = scheduled(op_kernel(Op::add, DType::c128, DType::c128), GetParam());
  EXPECT_EQ(Comparison(kernel, GetParam()).refusal(), "items of c128 are too wide");
}

INSTANTIATE_TEST_SUITE_P(Targets, XbyakRows, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
