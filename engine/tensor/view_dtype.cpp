// Views that change what the bytes mean: another dtype, parts of complex numbers, the lazy bits.
// Mirrors aten/src/ATen/native/{ComplexHelper.h,TensorConversions.cpp,UnaryOps.cpp}.
#include "engine/messages/torch_names.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>

#include <utility>

namespace weft {
namespace {

/// Real and imaginary parts side by side, whatever the lazy bits say.
std::shared_ptr<TensorImpl> parts_of(const Tensor& tensor) {
  auto view = copy_view(tensor);
  WEFT_CHECK(view->ndim() < max_dims, ArgumentError, "only tensors with up to ", max_dims,
             " dims are supported");
  view->dtype = real_dtype(view->dtype);
  view->is_conj = false;
  view->storage_offset = checked_multiply(view->storage_offset, 2);
  for (std::int64_t& stride : view->strides) stride = checked_multiply(stride, 2);
  view->sizes.push_back(2);
  view->strides.push_back(1);
  return view;
}

Tensor part_of(const Tensor& tensor, int index) {
  auto view = parts_of(tensor);
  view->sizes.pop_back();
  view->strides.pop_back();
  view->storage_offset += index;
  return finish_view(std::move(view));
}

DType complex_dtype(DType dtype) {
  switch (dtype) {
    case DType::f16: return DType::c32;
    case DType::f32: return DType::c64;
    case DType::f64: return DType::c128;
    default:
      throw ArgumentError(detail::concat(
          "view_as_complex is only supported for half, float and double tensors, but "
          "got a tensor of scalar type: ",
          name(dtype)));
  }
}

/// Bytes of `view` seen as smaller elements: the last dimension grows by `ratio`.
void split_elements(TensorImpl& view, std::int64_t ratio) {
  view.storage_offset = checked_multiply(view.storage_offset, ratio);
  for (std::size_t dim = 0; dim + 1 < view.strides.size(); ++dim)
    view.strides[dim] = checked_multiply(view.strides[dim], ratio);
  view.sizes.back() = checked_multiply(view.sizes.back(), ratio);
}

/// Bytes of `view` seen as larger elements: the last dimension shrinks by `ratio`.
void join_elements(TensorImpl& view, std::int64_t ratio, const std::string& purpose) {
  WEFT_CHECK(view.sizes.back() % ratio == 0, ArgumentError, "self.size(-1) must be divisible by ",
             ratio, purpose, ", but got ", view.sizes.back());
  WEFT_CHECK(view.storage_offset % ratio == 0, ArgumentError,
             "self.storage_offset() must be divisible by ", ratio, purpose, ", but got ",
             view.storage_offset);
  for (std::size_t dim = 0; dim + 1 < view.strides.size(); ++dim) {
    WEFT_CHECK(view.strides[dim] % ratio == 0, ArgumentError, "self.stride(", dim,
               ") must be divisible by ", ratio, purpose, ", but got ", view.strides[dim]);
    view.strides[dim] /= ratio;
  }
  view.storage_offset /= ratio;
  view.sizes.back() /= ratio;
}

}  // namespace

Tensor Tensor::view(DType dtype) const {
  checked(dtype);
  auto view = copy_view(*this);
  if (dtype == view->dtype) return Tensor(std::move(view));
  WEFT_CHECK(!view->is_conj, ArgumentError,
             "view() is not supported for conjugate view tensors when converting to a "
             "different dtype.");
  WEFT_CHECK(!view->is_neg, ArgumentError,
             "view() is not supported for tensors with negative bit set when converting "
             "to a different dtype.");
  const auto from = static_cast<std::int64_t>(itemsize_bytes(view->dtype));
  const auto to = static_cast<std::int64_t>(itemsize_bytes(dtype));
  if (from != to) {
    const std::string purpose = detail::concat(" to view ", name(view->dtype), " as ", name(dtype),
                                               " (different element sizes)");
    WEFT_CHECK(view->ndim() > 0, ArgumentError, "self.dim() cannot be 0", purpose);
    WEFT_CHECK(view->strides.back() == 1, ArgumentError, "self.stride(-1) must be 1", purpose,
               ", but got ", view->strides.back());
    if (from > to)
      split_elements(*view, from / to);
    else
      join_elements(*view, to / from, purpose);
  }
  view->dtype = dtype;
  return finish_view(std::move(view));
}

Tensor Tensor::real() const { return is_complex(dtype()) ? part_of(*this, 0) : *this; }

Tensor Tensor::imag() const {
  WEFT_CHECK(is_complex(dtype()), ArgumentError,
             "imag is not implemented for tensors with non-complex dtypes.");
  Tensor part = part_of(*this, 1);
  part.impl_->is_neg = impl_->is_neg != impl_->is_conj;
  return part;
}

Tensor Tensor::view_as_real() const {
  WEFT_CHECK(is_complex(dtype()), ArgumentError,
             "view_as_real is only supported for complex tensors");
  WEFT_CHECK(
      !is_conj(), ArgumentError,
      "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
      "tensor so you can view it as real, use clone(); the result will not alias the "
      "original.");
  return finish_view(parts_of(*this));
}

Tensor Tensor::view_as_complex() const {
  auto view = copy_view(*this);
  const DType dtype = complex_dtype(view->dtype);
  WEFT_CHECK(view->ndim() > 0, ArgumentError, "Input tensor must have one or more dimensions");
  WEFT_CHECK(view->sizes.back() == 2, ArgumentError, "Tensor must have a last dimension of size 2");
  WEFT_CHECK(view->strides.back() == 1, ArgumentError,
             "Tensor must have a last dimension with stride 1");
  view->sizes.pop_back();
  view->strides.pop_back();
  for (std::int64_t& stride : view->strides) {
    WEFT_CHECK(stride % 2 == 0, ArgumentError,
               "Tensor must have a stride divisible by 2 for all but last dimension");
    stride /= 2;
  }
  WEFT_CHECK(view->storage_offset % 2 == 0, ArgumentError,
             "Tensor must have a storage_offset divisible by 2");
  view->storage_offset /= 2;
  view->dtype = dtype;
  return finish_view(std::move(view));
}

Tensor Tensor::conj() const {
  if (!is_complex(dtype())) return *this;
  auto view = copy_view(*this);
  view->is_conj = !view->is_conj;
  return Tensor(std::move(view));
}

Tensor Tensor::neg_view() const {
  WEFT_CHECK(!is_boolean(dtype()), ArgumentError, bool_negation);
  auto view = copy_view(*this);
  view->is_neg = !view->is_neg;
  return Tensor(std::move(view));
}

}  // namespace weft
