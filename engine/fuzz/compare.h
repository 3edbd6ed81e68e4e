// Whether two results are the same, or as close as they have to be.
#pragma once

#include "engine/fuzz/check.h"
#include "engine/fuzz/tolerance.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::fuzzing {

/// The binary places of a real floating dtype.
struct Places {
  int digits;          ///< of the significand
  int lowest;          ///< exponent of the smallest number
  long double beyond;  ///< the number behind the largest
};
Places places_of(DType dtype);

/// Whether an element of `dtype` is close enough to what is expected.  NaN is any NaN; infinity is
/// the number behind the largest.  Parts of complex numbers are apart in places of the larger one.
bool is_close(Bits actual, Bits expected, DType dtype, const Tolerance& tolerance);

/// "[0, 3]"
std::string list_text(std::span<const std::int64_t> numbers);

/// Contiguous copies of what the tensors show.
std::vector<Tensor> copies(const std::vector<Tensor>& tensors);

/// The first difference in dtypes, sizes or elements.  `tolerances`: one a tensor, or none.
std::optional<Finding> compare(const std::vector<Tensor>& actual,
                               const std::vector<Tensor>& expected,
                               std::span<const Tolerance> tolerances, const std::string& backend);

}  // namespace weft::fuzzing
