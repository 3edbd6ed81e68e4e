// Quotients as two products: that the one dividend which is tried decides, and that generated code
// divides otherwise where it fails.
#include "ir/builder.h"
#include "ir/pass.h"
#include "jit/backend.h"
#include "jit/exact_quotients.h"
#include "jit/interp/backend.h"
#include "tests/jit/calls.h"
#include "tests/required_backends.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit::test {
namespace {

constexpr std::uint32_t num_significands = 1u << 23;

float number_of(std::uint32_t significand) {
  return std::bit_cast<float>(0x3f800000u + significand % num_significands);
}

/// Integers of 24 bits, as dividends, whose two products are wrong.
std::vector<std::int32_t> failing_dividends(float divisor) {
  const float high = 1 / divisor, low = low_factor(divisor);
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
    if (divides_in_two_products(divisor) == divide) divisors.push_back(divisor);
  }
  return divisors;
}

TEST(TwoProducts, AreRightForAllDividendsOfThoseThatPass) {
  std::vector<float> divisors = divisors_that(true, 12);
  for (const float special : {255.0f, 0.229f, 0.224f, 0.225f, 1.0f, 3.0f}) {
    EXPECT_TRUE(divides_in_two_products(special)) << special;
    divisors.push_back(special);
  }
  divisors.push_back(number_of(num_significands - 1));
  divisors.push_back(number_of(1));
  for (const float divisor : divisors)
    EXPECT_EQ(failing_dividends(divisor).empty(), divides_in_two_products(divisor)) << divisor;
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
void expect_right(std::string_view backend_name, const Target& target, Divisor kind, float divisor,
                  const std::vector<std::int32_t>& dividends) {
  const ir::Kernel kernel = quotients(target, kind, divisor);
  std::mt19937_64 random(3);
  Call call = make_call(kernel, {std::ssize(dividends)}, random);
  std::memcpy(call.operands[1].bytes.data(), dividends.data(), 4 * dividends.size());
  if (kind == Divisor::parameter) call.params = {{std::bit_cast<std::uint32_t>(divisor), 0}};
  if (kind == Divisor::element) std::memcpy(call.operands[2].bytes.data(), &divisor, 4);
  const auto expected =
      run(*interp_backend().compile(kernel, target), call, GuardedBytes::Side::upper);
  const Backend* const backend = find_backend(backend_name);
  ASSERT_NE(backend, nullptr);
  ASSERT_EQ(backend->refuses(kernel, target), "");
  EXPECT_EQ(run(*backend->compile(kernel, target), call, GuardedBytes::Side::upper), expected)
      << divisor;
}

class TwoProductsOf : public ::testing::TestWithParam<std::string_view> {
  void SetUp() override {
    const std::string reason = unavailable_reason(GetParam());
    if (!reason.empty()) leave_out_without(GetParam(), reason);
  }
};

TEST_P(TwoProductsOf, AreNotTakenWhereTheyAreWrong) {
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
          expect_right(GetParam(), target, kind, divisor, dividends);
      }
  }
}

/// out = (f32(in) / inner - term) / outer, or with the term first.
ir::Kernel normalised(const Target& target, bool term_first) {
  ir::Kernel kernel;
  kernel.loops.resize(1);
  kernel.vector_bytes = target.vector_bytes();
  kernel.operands = {{DType::f32, ir::Role::output, {1}}, {DType::u8, ir::Role::input, {1}}};
  for (int i = 0; i < 3; ++i) kernel.operands.push_back({DType::f32, ir::Role::input, {0}});
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.cast(builder.load(1, DType::u8), DType::f32);
  const ir::Value quotient = x / builder.load(2, DType::f32);
  const ir::Value term = builder.load(3, DType::f32);
  const ir::Value sum = term_first ? term - quotient : quotient - term;
  builder.store(0, sum / builder.load(4, DType::f32));
  ir::run_pipeline(kernel);
  return kernel;
}

/// Whatever divisors and terms are, among them those of which nothing is known to be exact.
TEST_P(TwoProductsOf, LeaveTheBitsOfNormalisedIntegers) {
  const float tiny = std::ldexp(1.0f, -120);
  const std::vector<float> numbers{255.0f, 0.485f, 0.229f,  -0.0f,
                                   0.0f,   1.0f,   -0.225f, tiny,
                                   1e38f,  3.0f,   1e-9f,   1e9f,
                                   -1.0f,  4e-13f, 1e12f,   std::numeric_limits<float>::infinity()};
  std::mt19937_64 random(5);
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (host_features().isa < isa) continue;
    const Target target{.features = target_features(isa)};
    for (const bool term_first : {false, true}) {
      const ir::Kernel kernel = normalised(target, term_first);
      const auto expected = interp_backend().compile(kernel, target);
      const auto code = find_backend(GetParam())->compile(kernel, target);
      for (int round = 0; round < 400; ++round) {
        Call call = make_call(kernel, {600}, random);
        float given[3];
        for (std::size_t i = 0; i < 3; ++i) {
          given[i] = numbers[random() % numbers.size()];
          std::memcpy(call.operands[i + 2].bytes.data(), &given[i], 4);
        }
        const auto output = run(*code, call, GuardedBytes::Side::upper)[0];
        const auto wanted = run(*expected, call, GuardedBytes::Side::upper)[0];
        EXPECT_TRUE(same_elements(output, wanted, DType::f32))
            << given[0] << ' ' << given[1] << ' ' << given[2];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, TwoProductsOf, ::testing::Values("xbyak", "llvm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::jit::test
