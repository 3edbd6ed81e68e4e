// NumPy's .npy files: read, mapped into memory, written.
#pragma once

#include <weft/tensor.h>

#include <string>

namespace weft {

/// Reads an array into new memory.  Format versions 1 to 3, C and Fortran order: a Fortran-order
/// array becomes a tensor with the strides of one.
///
/// Dtype:  bool, u1..u8, i1..i8, f2, f4, f8, c8, c16, little endian.
/// Errors: ArgumentError for a file that is not as the format says, UnsupportedError for a dtype or
/// byte order
///         that weft lacks, DeviceError if the system refuses; each begins with the file's name.
Tensor npy_read(const std::string& path);

/// Maps an array instead of reading it: pages are loaded when touched.  Writing to the tensor
/// changes this process's copy of the pages and never the file.  Whoever truncates the file
/// meanwhile makes the process that touches what is gone die of SIGBUS, as with every mapping.
///
/// Aliasing: the tensor borrows the mapping, which lives as long as any view of it.
/// Errors:   as npy_read().
Tensor npy_map(const std::string& path);

/// Writes a tensor.  One that is contiguous in Fortran order and not in C order is written in
/// Fortran order, any other layout in C order; lazy conjugate and negative bits are applied.
///
/// The file appears under its name when it is complete: until then, and after an error, what was
/// there stays. Dtype:  as npy_read(). Errors: UnsupportedError for a dtype that .npy has no name
/// for, DeviceError if the file can't be written,
///         ArgumentError for a tensor without bytes.
void npy_write(const std::string& path, const Tensor& tensor);

}  // namespace weft
