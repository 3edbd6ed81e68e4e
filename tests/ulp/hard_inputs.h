// Arguments at which random numbers would hardly ever test a function: next to its roots and poles,
// and pairs whose terms cancel.
#pragma once

#include "tests/ulp/reference.h"

#include <cstdint>
#include <random>
#include <vector>

namespace weft::ulp {

class HardInputs {
 public:
  HardInputs(const Reference& reference, DType dtype);

  /// A number near one of the points, and one that is large; or a pair whose terms nearly cancel.
  void draw(std::mt19937_64& random, double& x, double& y);

 private:
  std::vector<double> points_;
  std::uint64_t num_drawn_ = 0;
  /// Terms don't cancel further than to 2^-this of the larger.
  int num_cancelled_bits_ = 0;
  double (*partner_)(double x) = nullptr;
};

}  // namespace weft::ulp
