// Arguments at which random numbers would hardly ever test a function: next to its roots and poles,
// and pairs whose terms cancel.
#pragma once

#include "tests/ulp/reference.h"

#include <random>
#include <vector>

namespace weft::ulp {

class HardInputs {
 public:
  explicit HardInputs(const Reference& reference);

  bool empty() const { return points_.empty() && partner_ == nullptr; }
  /// A number near one of the points, and one near the number that cancels with it.
  void draw(std::mt19937_64& random, double& x, double& y) const;

 private:
  std::vector<double> points_;
  double (*partner_)(double x) = nullptr;
};

}  // namespace weft::ulp
