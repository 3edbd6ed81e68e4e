// Every function with a reference, on a sample of its inputs; weft_ulp tests them all.
#include "tests/ulp/measure.h"
#include "tests/ulp/screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::ulp {
namespace {

constexpr double limit = 1;  // in units in the last place

TEST(Ulp, F32) {
  for (const Reference& reference : references()) {
    const Worst worst =
        measure(reference, DType::f32, {.stride = 262'147, .num_samples = 16'000, .seed = 7});
    EXPECT_LE(worst.ulps, limit) << name(reference.op) << '(' << worst.x << ", " << worst.y
                                 << ") = " << worst.actual;
    EXPECT_GE(worst.num_tested, 16'000u);
  }
}

TEST(Ulp, F64) {
  for (const Reference& reference : references()) {
    const Worst worst = measure(reference, DType::f64, {.num_samples = 10'000, .seed = 8});
    EXPECT_LE(worst.ulps, limit) << name(reference.op) << '(' << worst.x << ", " << worst.y
                                 << ") = " << worst.actual;
  }
}

/// The distance of `screened` from the exact result in units of f32; 0 where both are beyond it.
double screened_error(const Reference& reference, float x, double screened) {
  mpfr_t exact, input;
  mpfr_inits2(precision, exact, input, nullptr);
  mpfr_set_d(input, static_cast<double>(x), MPFR_RNDN);
  reference.function(exact, input, input);
  const double rounded = mpfr_get_d(exact, MPFR_RNDN);
  mpfr_sub_d(exact, exact, screened, MPFR_RNDN);
  const double error = std::abs(mpfr_get_d(exact, MPFR_RNDN));
  mpfr_clears(exact, input, nullptr);
  if (std::isnan(rounded) || std::isnan(screened))
    return std::isnan(rounded) && std::isnan(screened) ? 0 : 1;
  if (std::abs(rounded) > 0x1p129)
    return std::abs(screened) > 0x1p129 && (screened > 0) == (rounded > 0) ? 0 : 1;
  // What even doubles have as 0 is right where it can't be taken for the least number of f32.
  if (rounded == 0) return std::abs(screened) < 0x1p-159 ? 0 : 1;
  return error / std::ldexp(1, std::max(-149, std::ilogb(rounded) - 23));
}

TEST(Ulp, ScreensAreAsExactAsTheyPromise) {
  constexpr std::size_t count = 1024;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Reference& reference : references()) {
    const Screen screen = find_screen(reference.op);
    if (screen == nullptr) continue;
    std::vector<float> x(count);
    std::vector<double> screened(count);
    for (std::size_t i = 0; i < count; ++i) {
      // All bit patterns, and numbers of ordinary size.
      const auto word = static_cast<std::uint32_t>(i * 8'388'599);
      x[i] = i % 2 == 0 ? std::bit_cast<float>(word) : static_cast<float>(word) * 0x1p-28F - 8;
    }
    screen(x.data(), screened.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      // Two of PyTorch's values at the ends, x times 0, are limits here: the exact measure decides.
      const bool is_limit = static_cast<double>(x[i]) == -infinity;
      if (screened[i] == in_doubt || is_limit) continue;
      EXPECT_LT(screened_error(reference, x[i], screened[i]), screen_error)
          << name(reference.op) << '(' << x[i] << "): " << screened[i];
    }
  }
}

TEST(Ulp, CandidatesAreFoundAtTheLimit) {
  if (find_screen(Op::exp) == nullptr) GTEST_SKIP() << "this machine has no screens";
  const float one = 1;
  const double unit = 0x1p-23;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<double> expected = {1 + 0.49 * unit, 1 + 0.51 * unit, in_doubt, 0x1p140,
                                        std::nan(""),    0x1p-149,        0x1p140,  std::nan("")};
  const std::vector<float> actual = {one, one,       infinity,  infinity,
                                     one, 0x1p-149F, -infinity, std::nanf("")};
  std::vector<std::uint32_t> found(expected.size());
  found.resize(find_candidates(expected.data(), actual.data(), expected.size(), 0.5, found.data()));
  EXPECT_EQ(found, (std::vector<std::uint32_t>{1, 2, 4, 6}));
}

}  // namespace
}  // namespace weft::ulp
