// Tensors and plain C++ memory: std::span both ways, and elements by index.
#pragma once

#include <weft/error.h>
#include <weft/tensor.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace [[gnu::visibility("default")]] weft {

/// A contiguous tensor of these sizes on memory that the caller keeps alive; of `const T` it is
/// read-only.
///
/// Errors: ArgumentError if there are more or fewer values than the sizes say.
template <class T>
Tensor from_span(std::span<T> values, IntSpan sizes) {
  auto* const data = const_cast<std::remove_const_t<T>*>(values.data());
  const Tensor tensor = from_blob(data, sizes, dtype_of<T>);
  WEFT_CHECK(tensor.numel() == static_cast<std::int64_t>(values.size()), ArgumentError,
             "expected as many values as ", layout_text(tensor), " has elements, got ",
             values.size());
  return std::is_const_v<T> ? tensor.as_read_only() : tensor;
}
template <class T>
Tensor from_span(std::span<T> values) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(values.size())};
  return from_span(values, sizes);
}

namespace detail {
/// Where the elements of a tensor are counted from.   Errors: ArgumentError, as as_span() has them.
template <class T>
T* elements_of(const Tensor& tensor) {
  WEFT_CHECK(std::is_const_v<T> || !tensor.is_read_only(), ArgumentError,
             "expected a tensor that may be written, got memory lent for reading only: ",
             describe(tensor));
  T* const data = tensor.data_as<std::remove_const_t<T>>();
  WEFT_CHECK(data != nullptr || tensor.numel() == 0, ArgumentError,
             "expected a tensor with bytes, got ", describe(tensor));
  return data;
}
}  // namespace detail

/// The elements of a contiguous tensor in order, valid as long as its storage.
///
/// Errors: ArgumentError if `T` does not store the dtype, if the tensor is not contiguous, has no
///         bytes or lazy bits, or is read-only and `T` not const.
template <class T>
std::span<T> as_span(const Tensor& tensor) {
  WEFT_CHECK(tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg(), ArgumentError,
             "expected a contiguous tensor without lazy bits, got ", describe(tensor));
  return {detail::elements_of<T>(tensor), static_cast<std::size_t>(tensor.numel())};
}

/// Elements by their indices, for any strides: what std::mdspan with layout_stride is.  Indices are
/// not checked.  Valid as long as the tensor's storage.
template <class T, int rank>
class ElementView {
 public:
  /// Errors: ArgumentError as as_span() has them, and for another number of dimensions.
  explicit ElementView(const Tensor& tensor)
      : data_(detail::elements_of<T>(tensor)), sizes_{}, strides_{} {
    WEFT_CHECK(tensor.dim() == rank && !tensor.is_conj() && !tensor.is_neg(), ArgumentError,
               "expected a tensor of ", rank, " dimensions without lazy bits, got ",
               describe(tensor));
    for (int dim = 0; dim < rank; ++dim) {
      sizes_[dim] = tensor.sizes()[dim];
      strides_[dim] = tensor.strides()[dim];
    }
  }

  template <std::convertible_to<std::int64_t>... Index>
  requires(sizeof...(Index) == rank) T& operator()(Index... index) const {
    return at(std::make_index_sequence<num_dims>(), index...);
  }
  std::int64_t size(int dim) const { return sizes_[static_cast<std::size_t>(dim)]; }
  /// In elements.
  std::int64_t stride(int dim) const { return strides_[static_cast<std::size_t>(dim)]; }
  T* data() const { return data_; }

 private:
  static constexpr auto num_dims = static_cast<std::size_t>(rank);

  template <std::size_t... dim, class... Index>
  T& at(std::index_sequence<dim...>, Index... index) const {
    return data_[(std::int64_t{0} + ... + (static_cast<std::int64_t>(index) * strides_[dim]))];
  }

  T* data_;
  std::array<std::int64_t, num_dims> sizes_;
  std::array<std::int64_t, num_dims> strides_;
};

}  // namespace weft
