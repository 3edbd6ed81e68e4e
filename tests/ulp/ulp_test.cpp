// Every function with a reference, on a sample of its inputs; weft_ulp tests them all.
#include "tests/ulp/measure.h"

#include <gtest/gtest.h>

namespace weft::ulp {
namespace {

TEST(Ulp, F32) {
  for (const Reference& reference : references()) {
    const Worst worst =
        measure(reference, DType::f32, {.stride = 262'147, .num_samples = 16'000, .seed = 7});
    EXPECT_LE(worst.ulps, reference.bound_f32)
        << name(reference.op) << '(' << worst.x << ", " << worst.y << ") = " << worst.actual;
    EXPECT_GE(worst.num_tested, 16'000u);
  }
}

TEST(Ulp, F64) {
  for (const Reference& reference : references()) {
    const Worst worst = measure(reference, DType::f64, {.num_samples = 10'000, .seed = 8});
    EXPECT_LE(worst.ulps, reference.bound_f64)
        << name(reference.op) << '(' << worst.x << ", " << worst.y << ") = " << worst.actual;
  }
}

}  // namespace
}  // namespace weft::ulp
