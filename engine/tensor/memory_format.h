// Memory formats: which strides a format gives, which layouts look like it, and which layout the
// results of empty_like(), clone(), contiguous() and to() have.  Mirrors c10/core/MemoryFormat.h
// and TensorImpl.h.
#pragma once

#include "engine/tensor/tensor_impl.h"

namespace weft {

/// Row-major strides; a size of 0 counts as 1.   Errors: ArgumentError if one overflows.
Dims contiguous_strides(IntSpan sizes);
/// The strides of a new tensor in `format`; a size of 0 counts as 0 in the channels_last formats.
///
/// Errors: ArgumentError: "required rank 4 tensor to use channels_last format", or `preserve`.
Dims format_strides(IntSpan sizes, MemoryFormat format);
/// Dense strides that keep the order of dimensions of a layout which is not dense itself; broadcast
/// dimensions don't take part in the order.  Strides count by their absolute value.
Dims infer_dense_strides(IntSpan sizes, IntSpan strides);
/// The strides of empty_like(tensor, format), which are also those of clone(), of to(dtype), and of
/// contiguous() where it copies.
Dims empty_like_strides(const TensorImpl& tensor, MemoryFormat format);

/// True if contiguous(tensor, format) is the tensor itself.
///
/// Errors: ArgumentError "preserve memory format is unsupported by the contiguous operator".
bool contiguous_is_self(const Tensor& tensor, MemoryFormat format);
/// True if to(tensor, dtype, format) is the tensor itself.  Unlike contiguous(), to() looks at
/// suggest_memory_format(), so it gives an ambiguous tensor new strides.
bool to_is_self(const Tensor& tensor, DType dtype, MemoryFormat format = MemoryFormat::preserve);

/// is_channels_last_strides() / _3d of PyTorch, for strides of any tensor.
bool looks_like(IntSpan sizes, IntSpan strides, MemoryFormat format);

}  // namespace weft
