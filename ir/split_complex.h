// Complex numbers as pairs of real ones: for backends that have no complex values.
#pragma once

#include "ir/kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::ir {

/// What an operand or a parameter of a split kernel is in the kernel that it was made of.
struct PartOf {
  std::uint8_t source = 0;        ///< the operand or parameter there
  std::uint8_t offset_bytes = 0;  ///< into each of its elements: 0 unless it is the imaginary part
};

struct SplitKernel {
  Kernel kernel;  ///< after the passes; empty if `reason` is not
  std::vector<PartOf> operands;
  std::vector<PartOf> params;
  /// The operands are those of the kernel that it was made of, and its loop goes over both parts of
  /// an element, which is twice as many iterations at half the distance.
  bool is_interleaved = false;
  bool has_functions = false;  ///< computes functions of complex numbers twice, once for each part
  std::string reason;          ///< why there is no such kernel; empty if there is
};

/// A kernel without complex arithmetic that does the same: every complex operand and parameter
/// becomes two real ones, its parts, with strides of the same bytes.  Arithmetic, comparison,
/// choice, casts and the parts themselves have expressions in parts, of the interpreter's bits;
/// functions become two, of weft/complex_functions.def, each of which computes all of it.
///
/// What accumulates complex numbers stays: it combines pairs, and its output has whole elements.
///
/// Requires: a kernel after the passes.
SplitKernel split_complex(const Kernel& kernel);

/// Whether the kernel is one loop over sums, differences, negatives and casts of complex numbers
/// that lie next to each other: the same of real numbers, of which there are twice as many.  Rows
/// of several loops would end with more elements that fill no vector.
bool treats_parts_alike(const Kernel& kernel);
/// These real numbers' kernel, with is_interleaved.  Requires: treats_parts_alike(kernel).
SplitKernel interleave_parts(const Kernel& kernel);

/// Whether a value of the kernel is complex.
bool has_complex(const Kernel& kernel);

}  // namespace weft::ir
