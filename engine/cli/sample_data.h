// Operands to measure with, and the check that variants agree.
#pragma once

#include <weft/tensor.h>

#include <optional>
#include <string>

namespace weft::cli {

/// A tensor of this layout with values that most ops take without special cases: floats in [0.1,
/// 1), integers from 1 to 7, both bools.  The same layout always gets the same values.
///
/// Errors: ArgumentError on a layout that doesn't parse, DeviceError if there is no memory for it.
Tensor sample_tensor(const std::string& layout);

/// Where two dense tensors of one layout and dtype first differ, in words; any NaN equals any NaN.
std::optional<std::string> first_difference(const Tensor& actual, const Tensor& expected);

}  // namespace weft::cli
