// DLPack: tensors exchanged with NumPy, PyTorch and others without copying a byte.
//
// The structs are those of any <dlpack/dlpack.h>; in Python they travel in capsules named
// "dltensor" (DLManagedTensor) and "dltensor_versioned" (DLManagedTensorVersioned).
#pragma once

#include <weft/tensor.h>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace [[gnu::visibility("default")]] weft {

/// A view of the memory that `managed` describes.
///
/// Ownership: taken over when the function returns: the struct's deleter (which may be null) is
///            called once, when the last view of the memory is gone, by the thread that lets go of
///            it.  Where the function throws, the struct is still the caller's to delete.
/// Shapes:    up to max_dims dimensions; null strides stand for contiguous ones; byte_offset is
///            added to the address.  Strides of 0 or below are taken as they are.
/// Dtype:     bool, int and uint of 8 to 64 bits, float of 16 to 64, bfloat of 16, complex of 32 to
///            128, float8_e4m3fn and float8_e5m2; one lane.  Bytes of bool are 0 or 1.
/// Layout:    the first element lies at a multiple of its C++ alignment.
/// Errors:    ArgumentError for a struct that describes no tensor (null with elements, no shape, a
///            negative size or number of dimensions, strides that leave the address space),
///            UnsupportedError for dtypes, devices other than CPU and CUDA, and alignments that
///            weft does not take.
/// Streams:   nothing waits for the work of the memory's owner on a device, see from_blob().
Tensor from_dlpack(DLManagedTensor* managed);
/// The same for the struct that says its version, which must be 1.x.  Memory flagged read-only
/// makes a tensor that is_read_only().
Tensor from_dlpack(DLManagedTensorVersioned* managed);

/// Lends `tensor` to others, with its strides in full and a byte_offset of 0.
///
/// Ownership: the struct keeps the storage alive, until whoever has it calls its deleter, once,
///            from any thread.
/// Aliasing:  who writes through the struct writes the tensor.  While the struct lives, the storage
///            is not resizable.
/// Errors:    ArgumentError for a tensor without bytes, with a lazy conjugate or
///            negative bit, or, in the unversioned struct, which can't say so, a read-only one.
DLManagedTensor* to_dlpack(const Tensor& tensor);
/// The same in version 1.1 of the struct, flagged read-only if the tensor is_read_only().
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

}  // namespace weft
