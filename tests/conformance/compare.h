// How far results are from what was recorded.
#pragma once

#include "tests/conformance/tensors.h"

#include <map>
#include <set>
#include <string>

namespace weft::conformance {

/// Steps between neighbouring numbers from one element to the other.  Two NaN are the same; the two
/// zeros are too; a NaN is infinitely far from a number.   Requires: a real floating dtype.
double ulps_between(DType dtype, const std::byte* a, const std::byte* b);
/// The largest difference of a part of two complex elements, in steps of the larger part of `b`.
double complex_ulps_between(DType dtype, const std::byte* a, const std::byte* b);
/// The same bits, or both NaN.
bool same_bits(DType dtype, const std::byte* a, const std::byte* b);

/// The element as a double.   Requires: a real dtype.
double number_of(DType dtype, const std::byte* element);

/// The largest distance seen from correctly rounded results, an op and dtype.
class WorstUlps {
 public:
  void add(const std::string& op, DType dtype, double ulps);
  /// "exp f32 0.5, ..." for the op that is furthest off; empty if nothing was measured.
  std::string text() const;

 private:
  std::map<std::string, double> worst_;
};

/// What is accepted as an element of a result.
struct Accepted {
  DType dtype = DType::f32;
  std::vector<Bytes> exact;       ///< answers of which each is accepted bit for bit
  std::vector<Bytes> references;  ///< correctly rounded, or taken to be
  double ulps = 0;                ///< accepted distance from one of `references`
  std::set<std::size_t> skip;     ///< indices of elements that are implementation-defined
};

/// Compares a result element by element.
///
/// Errors: Mismatch that names the first element that is not accepted, and how many there are.
void expect_accepted(const std::string& op, const Bytes& result, const Accepted& accepted,
                     WorstUlps& worst);

}  // namespace weft::conformance
