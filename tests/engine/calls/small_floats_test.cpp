// Operators of bf16 and f16 that round nothing, of every number there is: what f32 gives, rounded.
#include "tests/engine/support/elements.h"
#include "tests/engine/support/engines.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weft::testing {
namespace {

/// All 65536 numbers.
Tensor all_numbers(DType dtype) {
  const Tensor result = new_tensor({65536}, dtype);
  for (std::int64_t i = 0; i < result.numel(); ++i)
    put<std::uint16_t>(result, i, static_cast<std::uint16_t>(i));
  return result;
}

/// What is in place of a number: its bits, or that it is none.
std::vector<std::uint32_t> bits_of(Engine& engine, const Tensor& numbers) {
  const Tensor wide = engine.eval(cast(numbers, DType::f32));
  std::vector<std::uint32_t> bits;
  for (std::int64_t i = 0; i < numbers.numel(); ++i)
    bits.push_back(std::isnan(get<float>(wide, i)) ? 0x10000 : get<std::uint16_t>(numbers, i));
  return bits;
}

/// Operators of x and y; numbers in them are of bf16 and f16 as well.
std::vector<Expr> results(const Expr& x, const Expr& y) {
  const Expr low(-1.5), high(2.0);
  return {apply(Op::neg, {x}),
          apply(Op::abs, {x}),
          apply(Op::copysign, {x, y}),
          apply(Op::maximum, {x, y}),
          apply(Op::minimum, {x, y}),
          apply(Op::fmax, {x, y}),
          apply(Op::fmin, {x, y}),
          apply(Op::clamp, {x, low, high}),
          apply(Op::clamp_min, {x, low}),
          apply(Op::clamp_max, {x, high}),
          apply(Op::relu, {x}),
          apply(Op::relu6, {x}),
          apply(Op::floor, {x}),
          apply(Op::ceil, {x}),
          apply(Op::trunc, {x}),
          apply(Op::round, {x}),
          apply(Op::frac, {x}),
          apply(Op::sign, {x}),
          apply(Op::heaviside, {x, y}),
          apply(Op::hardshrink, {x, high}),
          apply(Op::threshold, {x, low, high}),
          apply(Op::hardtanh, {x, low, high}),
          apply(Op::nan_to_num, {x, low, high, low})};
}

TEST(small_floats, what_rounds_nothing_is_what_f32_gives) {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const auto& engine : engines({"xbyak", "llvm", "interp"})) {
      const Tensor x = all_numbers(dtype);
      const Tensor y = engine->eval(Expr(x.flip({0})));
      const std::vector<Expr> small = results(x, y);
      const std::vector<Expr> wide = results(cast(x, DType::f32), cast(y, DType::f32));
      for (std::size_t i = 0; i < small.size(); ++i) {
        const Tensor expected = engine->eval(cast(wide[i], dtype));
        EXPECT_EQ(bits_of(*engine, engine->eval(small[i])), bits_of(*engine, expected))
            << text(small[i]) << " of " << name(dtype);
      }
    }
}

/// A value that is wider than it will be is not taken for a rounded one.
TEST(small_floats, what_is_computed_before_is_rounded_after) {
  for (const auto& engine : engines({"xbyak", "llvm", "interp"})) {
    const Tensor x = all_numbers(DType::bf16), y = all_numbers(DType::bf16);
    for (std::int64_t j = 0; j < y.numel(); ++j)  // from 1 to 2
      put<std::uint16_t>(y, j, static_cast<std::uint16_t>(0x3f80 + j % 128));
    const Expr wide = cast(x, DType::f32) * cast(y, DType::f32) + Expr(0.25);
    const Expr small = Expr(x) * Expr(y) + Expr(0.25);
    for (const Op op : {Op::relu, Op::neg, Op::abs, Op::floor}) {
      const Tensor expected = engine->eval(cast(apply(op, {wide}), DType::bf16));
      EXPECT_EQ(bits_of(*engine, engine->eval(apply(op, {small}))), bits_of(*engine, expected))
          << name(op);
    }
  }
}

}  // namespace
}  // namespace weft::testing
