// NumPy's .npy files: read, mapped into memory, written; and .npz archives of them.
#pragma once

#include <weft/tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

/// Reads an array into new memory.  Format versions 1 to 3, C and Fortran order: a Fortran-order
/// array becomes a tensor with the strides of one.
///
/// Dtype:  bool, u1..u8, i1..i8, f2, f4, f8, c8, c16, little endian.
///
/// Errors: ArgumentError for a file that there is not, that may not be read or is not as the format
///         says, UnsupportedError for a dtype or byte order that weft lacks, DeviceError if the
///         system fails while it reads; each begins with the file's name.
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
/// there stays.
///
/// Dtype:  as npy_read().
///
/// Errors: UnsupportedError for a dtype that .npy has no name for, DeviceError if the file can't be
///         written, ArgumentError for a tensor without bytes.
void npy_write(const std::string& path, const Tensor& tensor);
/// Throws what npy_write() would throw because of the tensor, the folder or its rights: before the
/// first of several is written.  Leaves the file as it is; one beside it comes and goes.
void check_npy_write(const std::string& path, const Tensor& tensor);

using NamedTensor = std::pair<std::string, Tensor>;

/// Reads the arrays of an .npz archive in the archive's order, under their names without ".npy";
/// members with other names are left out.  Stored and deflated members, checksums verified.
///
/// Errors: as npy_read(), and ArgumentError for an archive that is cut off, damaged or names an
///         array twice, UnsupportedError for encryption and other compression; each begins with
///         the file's name, and what is wrong with one array with that array's.
std::vector<NamedTensor> npz_read(const std::string& path);
/// Reads one of them.   Errors: also ArgumentError, with the names that there are.
Tensor npz_read(const std::string& path, std::string_view name);

enum class NpzCompression : std::uint8_t { stored, deflated };

/// Writes an archive as numpy.savez() and numpy.savez_compressed() do.  Names are only names: what
/// looks like a path is no path to anybody here.
///
/// Errors: as npy_write(); ArgumentError for names that are empty, given twice, longer than 65531
///         bytes, or contain a zero byte.
void npz_write(const std::string& path, std::span<const NamedTensor> tensors,
               NpzCompression compression = NpzCompression::stored);

}  // namespace weft
