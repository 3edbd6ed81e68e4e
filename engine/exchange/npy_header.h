// The header of a .npy file: a Python dictionary as text.  Knows nothing of files.
#pragma once

#include "engine/tensor/dims.h"

#include <weft/dtype.h>

#include <string>
#include <string_view>

namespace weft {

struct NpyHeader {
  DType dtype = DType::f32;
  bool is_fortran_order = false;
  Dims sizes;
};

/// Reads "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".
///
/// Errors: ArgumentError for text that is no such dictionary or a shape that can't be,
///         UnsupportedError for a dtype or byte order that weft lacks.
NpyHeader parse_npy_header(std::string_view text);

/// The dictionary as parse_npy_header() and NumPy read it.   Errors: UnsupportedError if .npy lacks
/// the dtype.
std::string npy_header_text(const NpyHeader& header);

}  // namespace weft
