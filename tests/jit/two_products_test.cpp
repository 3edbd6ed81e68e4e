// Quotients as two products: that the one dividend which is tried decides, and that generated code
// divides otherwise where it fails.
#include "jit/xbyak/two_products.h"
#include "ir/builder.h"
#include "ir/pass.h"
#include "jit/interp/backend.h"
#include "jit/xbyak/backend.h"
#include "tests/jit/calls.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace weft::jit::test {
namespace {

constexpr std::uint32_t num_significands = 1u << 23;

float number_of(std::uint32_t significand) {
  return std::bit_cast<float>(0x3f800000u + significand % num_significands);
}

/// Integers of 24 bits, as dividends, whose two products are wrong.
std::vector<std::int32_t> failing_dividends(float divisor) {
  const float high = 1 / divisor, low = xbyak::low_factor(divisor);
  std::vector<std::int32_t> failing;
  for (std::uint32_t i = 0; i < num_significands; ++i) {
    const auto x = static_cast<float>(num_significands + i);
    if (std::fma(x, high, x * low) != x / divisor)
      failing.push_back(static_cast<std::int32_t>(num_significands + i));
  }
  return failing;
}

/// `count` divisors that the function says yes or no of.
std::vector<float> divisors_that(bool divide, int count) {
  std::mt19937 random(11);
  std::vector<float> divisors;
  while (std::ssize(divisors) < count) {
    const float divisor = std::ldexp(number_of(static_cast<std::uint32_t>(random())),
                                     static_cast<int>(random() % 50) - 25);
    if (xbyak::divides_in_two_products(divisor) == divide) divisors.push_back(divisor);
  }
  return divisors;
}

TEST(TwoProducts, AreRightForAllDividendsOfThoseThatPass) {
  std::vector<float> divisors = divisors_that(true, 12);
  for (const float special : {255.0f, 0.229f, 0.224f, 0.225f, 1.0f, 3.0f}) {
    EXPECT_TRUE(xbyak::divides_in_two_products(special)) << special;
    divisors.push_back(special);
  }
  divisors.push_back(number_of(num_significands - 1));
  divisors.push_back(number_of(1));
  for (const float divisor : divisors)
    EXPECT_EQ(failing_dividends(divisor).empty(), xbyak::divides_in_two_products(divisor))
        << divisor;
}

TEST(TwoProducts, AreWrongForOneDividendOfOthers) {
  for (const float divisor : divisors_that(false, 12))
    EXPECT_EQ(failing_dividends(divisor).size(), 1u) << divisor;
}

enum class Divisor { constant, parameter, element };

/// out = f32(in) / divisor
ir::Kernel quotients(const Target& target, Divisor kind, float divisor) {
  ir::Kernel kernel;
  kernel.loops.resize(1);
  kernel.vector_bytes = target.vector_bytes();
  kernel.operands = {{DType::f32, ir::Role::output, {1}}, {DType::i32, ir::Role::input, {1}}};
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.cast(builder.load(1, DType::i32), DType::f32);
  const Bits bits{std::bit_cast<std::uint32_t>(divisor), 0};
  ir::Value by = builder.constant(DType::f32, bits);
  if (kind == Divisor::parameter) {
    kernel.params = {DType::f32};
    by = builder.append({.op = Op::param, .dtype = DType::f32});
  } else if (kind == Divisor::element) {
    kernel.operands.push_back({DType::f32, ir::Role::input, {0}});
    by = builder.load(2, DType::f32);
  }
  builder.store(0, x / by);
  ir::run_pipeline(kernel);
  return kernel;
}

/// Whether the quotients of these dividends have the bits that the interpreter gives.
void expect_right(const Target& target, Divisor kind, float divisor,
                  const std::vector<std::int32_t>& dividends) {
  const ir::Kernel kernel = quotients(target, kind, divisor);
  std::mt19937_64 random(3);
  Call call = make_call(kernel, {std::ssize(dividends)}, random);
  std::memcpy(call.operands[1].bytes.data(), dividends.data(), 4 * dividends.size());
  if (kind == Divisor::parameter) call.params = {{std::bit_cast<std::uint32_t>(divisor), 0}};
  if (kind == Divisor::element) std::memcpy(call.operands[2].bytes.data(), &divisor, 4);
  const auto expected =
      run(*interp_backend().compile(kernel, target), call, GuardedBytes::Side::upper);
  ASSERT_EQ(xbyak_backend().refuses(kernel, target), "");
  EXPECT_EQ(run(*xbyak_backend().compile(kernel, target), call, GuardedBytes::Side::upper),
            expected)
      << divisor;
}

TEST(TwoProducts, AreNotTakenWhereTheyAreWrong) {
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (host_features().isa < isa) continue;
    const Target target{.features = target_features(isa)};
    for (const bool divide : {false, true})
      for (const float divisor : divisors_that(divide, 8)) {
        std::vector<std::int32_t> dividends = failing_dividends(divisor);
        dividends.resize(700, 0);
        for (std::size_t i = 1; i < dividends.size(); ++i)
          dividends[i] = i % 4 == 0   ? dividends[0]
                         : i % 4 == 1 ? -dividends[0]
                                      : dividends[0] + static_cast<std::int32_t>(i) - 350;
        for (const Divisor kind : {Divisor::constant, Divisor::parameter, Divisor::element})
          expect_right(target, kind, divisor, dividends);
      }
  }
}

}  // namespace
}  // namespace weft::jit::test
