// Reading and writing 8-bit RGB photos with libpng.
#pragma once

#include <weft/tensor.h>

#include <string>

namespace example {

/// The photo as u8 [height, width, 3].
/// Errors: weft::ArgumentError that names the file and says what libpng said.
weft::Tensor read_png(const std::string& path);

/// Writes u8 [height, width, 3], contiguous.
/// Errors: weft::DeviceError, likewise.
void write_png(const std::string& path, const weft::Tensor& photo);

}  // namespace example
