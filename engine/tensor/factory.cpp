// New tensors with contents: full, arange, zero_tensor.
#include "engine/tensor/beyond_i64.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/cuda_memory.h"

#include <weft/convert.h>
#include <weft/error.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace weft {
namespace {

bool is_integral_scalar(const Scalar& value) {
  return value.kind() == Scalar::Kind::integer || value.kind() == Scalar::Kind::boolean;
}

/// Elements of [start, end) in steps.   Mirrors: at::native::arange_out (RangeFactories.cpp).
std::int64_t arange_size(const Scalar& start, const Scalar& end, const Scalar& step,
                         bool is_exact) {
  double count = 0;
  if (is_exact) {
    // Integers beyond 2^53 would lose their last bits in double.
    using Wide = __int128;
    const auto wide = [](const Scalar& number) {
      const std::int64_t low = number.as_integer();
      return is_beyond_i64(number) ? Wide{static_cast<std::uint64_t>(low)} : Wide{low};
    };
    const Wide span = wide(end) - wide(start);
    const Wide pace = wide(step);
    const Wide exact = (span + pace - (pace > 0 ? 1 : -1)) / pace;
    WEFT_CHECK(exact <= std::numeric_limits<std::int64_t>::max(), ArgumentError,
               "invalid size, possible overflow?");
    return static_cast<std::int64_t>(exact);
  }
  count = std::ceil((end.as_double() - start.as_double()) / step.as_double());
  WEFT_CHECK(count >= 0 && count < 9.2e18, ArgumentError, "invalid size, possible overflow?");
  return static_cast<std::int64_t>(count);
}

/// The number without what is behind its point, in which ranges of integers count: as i64, but for
/// integers that only u64 holds and that go to it.
Scalar whole_part(const Scalar& value, DType type) {
  const bool is_whole = is_integral_scalar(value);
  const double whole = std::trunc(value.as_double());
  WEFT_CHECK(is_whole ? type == DType::u64 || !is_beyond_i64(value) : std::fabs(whole) < 0x1p63,
             ArgumentError, "value cannot be converted to type ", name(DType::i64),
             " without overflow: ", value.text());
  return is_whole ? value : static_cast<std::int64_t>(whole);
}

/// Integers wrap on the way to what fits: from the least to the greatest is further than i64 goes.
template <class Number>
Number nth_of_range(Number start, Number step, std::int64_t n) {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<Number>(static_cast<std::uint64_t>(start) +
                               static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(step));
  else
    return start + static_cast<Number>(n) * step;
}

template <class T, class Number>
void write_range(const Tensor& tensor, Number start, Number step) {
  auto* element = reinterpret_cast<T*>(tensor.data());
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    element[i] = convert<T>(nth_of_range(start, step, i));
}

}  // namespace

Tensor full(IntSpan sizes, const Scalar& value, TensorOptions options) {
  Tensor result = empty(sizes, options);
  const std::size_t itemsize = itemsize_bytes(options.dtype);
  const Bits bits = value.bits(options.dtype);
  std::byte* data = result.storage()->data();
  if (data == nullptr) return result;
  const std::size_t size_bytes = result.storage()->size_bytes() / itemsize * itemsize;
  if (options.device.type == DeviceType::cuda) {
    fill_bytes(data, options.device, &bits, itemsize, size_bytes / itemsize);
    return result;
  }
  for (std::size_t offset = 0; offset < size_bytes; offset += itemsize)
    std::memcpy(data + offset, &bits, itemsize);
  return result;
}

Tensor full(IntSpan sizes, const Scalar& value) {
  WEFT_CHECK(!is_beyond_i64(value), ArgumentError, "full(): ", value.text(), " does not fit in ",
             name(value.dtype()), ": ask for a dtype that holds it");
  return full(sizes, value, {.dtype = value.dtype()});
}

Tensor arange(const Scalar& given_start, const Scalar& given_end, const Scalar& given_step,
              std::optional<DType> dtype) {
  for (const Scalar* bound : {&given_start, &given_end, &given_step}) {
    WEFT_CHECK(bound->kind() != Scalar::Kind::complex, ArgumentError,
               "arange(): complex bounds are not supported");
    WEFT_CHECK(std::isfinite(bound->as_double()), ArgumentError,
               "unsupported range: ", given_start.text(), " -> ", given_end.text(), " in steps of ",
               given_step.text());
  }
  const bool is_exact = is_integral_scalar(given_start) && is_integral_scalar(given_end) &&
                        is_integral_scalar(given_step);
  const DType type = dtype.value_or(is_exact ? DType::i64 : DType::f32);
  const bool counts = is_exact || is_integral(type);
  const auto bound = [&](const Scalar& given) { return counts ? whole_part(given, type) : given; };
  const Scalar start = bound(given_start), end = bound(given_end), step = bound(given_step);
  WEFT_CHECK(step.as_double() != 0, ArgumentError, "step must be nonzero");
  const bool goes_up = step.as_double() > 0;
  WEFT_CHECK(goes_up ? end.as_double() >= start.as_double() : end.as_double() <= start.as_double(),
             ArgumentError, "upper bound and larger bound inconsistent with step sign");
  // Of integers only i64 counts its elements in integers.
  const bool is_counted = is_exact || type == DType::i64;
  const std::int64_t sizes[] = {is_counted
                                    ? arange_size(start, end, step, true)
                                    : arange_size(given_start, given_end, given_step, false)};
  Tensor result = empty(sizes, {type, {}, MemoryFormat::contiguous});
  visit_dtype(type, [&]<class T>(std::type_identity<T>) {
    if (counts)
      write_range<T>(result, start.as_integer(), step.as_integer());
    else
      write_range<T>(result, start.as_double(), step.as_double());
  });
  return result;
}

Tensor arange(const Scalar& end) { return arange(Scalar(0), end); }

Tensor zero_tensor(IntSpan sizes, DType dtype) {
  check_sizes(sizes);
  const std::int64_t one[] = {1};
  const Tensor element = zeros(one, {dtype, {}, MemoryFormat::contiguous});
  Tensor result = make_tensor(element.storage(), Dims(sizes), Dims(sizes.size(), 0), 0, dtype);
  result.impl()->access = Access::zeros;
  return result;
}

}  // namespace weft
