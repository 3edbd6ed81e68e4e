// Seeing a layout with other sizes: what view() needs, and what reshape() asks before it copies.
// Mirrors aten/src/ATen/InferSize.h and TensorUtils.cpp (computeStride).
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>

#include <algorithm>

namespace weft {

Dims infer_view_sizes(IntSpan sizes, std::int64_t numel) {
  WEFT_CHECK(sizes.size() <= max_dims, ArgumentError, "only tensors with up to ", max_dims,
             " dims are supported, got ", sizes.size());
  Dims result(sizes);
  std::optional<std::size_t> inferred;
  std::int64_t product = 1;
  bool overflows = false;
  bool has_zero = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      WEFT_CHECK(!inferred, ArgumentError, "only one dimension can be inferred");
      inferred = i;
      continue;
    }
    WEFT_CHECK(sizes[i] >= 0, ArgumentError, "invalid shape dimension ", sizes[i]);
    has_zero |= sizes[i] == 0;
    overflows |= __builtin_mul_overflow(product, sizes[i], &product);
  }
  if (has_zero) product = 0;
  const bool fits = has_zero || !overflows;
  if (inferred && numel == 0 && product == 0)
    throw ArgumentError(detail::concat(
        "cannot reshape tensor of 0 elements into shape ", dims_text(sizes),
        " because the unspecified dimension size -1 ", "can be any value and is ambiguous"));
  const bool matches = inferred ? product != 0 && numel % product == 0 : product == numel;
  WEFT_CHECK(fits && matches, ArgumentError, "shape '", dims_text(sizes),
             "' is invalid for input of size ", numel);
  if (inferred) result[*inferred] = numel / product;
  return result;
}

std::optional<Dims> compute_view_strides(IntSpan sizes, IntSpan strides, IntSpan new_sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) {
    if (std::ranges::equal(sizes, new_sizes)) return Dims(strides);
    return contiguous_strides(new_sizes);
  }
  Dims new_strides(new_sizes.size(), 1);
  std::size_t next = new_sizes.size();  // the new dimensions from here on have their strides
  std::size_t end = sizes.size();       // the old dimensions from here on are used up
  while (end > 0) {
    // The longest run of old dimensions that ends here and is one evenly spaced row of elements.
    const std::int64_t spacing = strides[end - 1];
    std::int64_t length = sizes[--end];
    while (end > 0) {
      std::int64_t expected;
      const bool continues =
          sizes[end - 1] == 1 ||
          (!__builtin_mul_overflow(length, spacing, &expected) && strides[end - 1] == expected);
      if (!continues) break;
      length *= sizes[--end];
    }
    // New dimensions share out the row; those of size 1 next to it join it.
    std::int64_t covered = 1;
    while (next > 0 && (covered < length || new_sizes[next - 1] == 1)) {
      --next;
      // Only behind the last element can the stride overflow, and there nothing is ever reached.
      if (__builtin_mul_overflow(covered, spacing, &new_strides[next])) new_strides[next] = spacing;
      covered *= new_sizes[next];
    }
    if (covered != length) return std::nullopt;
  }
  if (next > 0 && !sizes.empty()) return std::nullopt;
  return new_strides;
}

}  // namespace weft
