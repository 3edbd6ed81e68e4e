#include "engine/fuzz/compare.h"

#include "ir/evaluate.h"

#include <weft/convert.h>
#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

namespace weft::fuzzing {
namespace {

Bits applied(Op op, DType dtype, Bits element) {
  return ir::evaluate({.op = op, .dtype = dtype}, std::span(&element, 1), dtype);
}

Bits element_at(const Tensor& tensor, std::span<const std::int64_t> index) {
  std::int64_t place = 0;
  for (std::size_t dim = 0; dim < index.size(); ++dim) place += index[dim] * tensor.strides()[dim];
  const std::size_t itemsize = itemsize_bytes(tensor.dtype());
  Bits bits;
  std::memcpy(&bits, tensor.data() + place * static_cast<std::int64_t>(itemsize), itemsize);
  if (tensor.is_conj()) bits = applied(Op::conj, tensor.dtype(), bits);
  if (tensor.is_neg()) bits = applied(Op::neg, tensor.dtype(), bits);
  return bits;
}

/// A real element.
long double number(Bits bits, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) -> long double {
    if constexpr (is_floating(dtype_of<T>)) {
      T value;
      std::memcpy(&value, &bits, sizeof value);
      return convert<double>(value);
    } else {
      return 0;
    }
  });
}

/// The parts of a complex element, or a real one.
std::vector<Bits> parts_of(Bits bits, DType dtype) {
  if (!is_complex(dtype)) return {bits};
  if (dtype == DType::c128) return {{bits.lo, 0}, {bits.hi, 0}};
  const std::size_t num_bits = itemsize_bytes(dtype) * 4;
  const std::uint64_t mask = (std::uint64_t{1} << num_bits) - 1;
  return {{bits.lo & mask, 0}, {bits.lo >> num_bits & mask, 0}};
}

/// The same bits, any NaN equal to any NaN.
bool are_equal(Bits x, Bits y, DType part) {
  return x == y || (std::isnan(number(x, part)) && std::isnan(number(y, part)));
}

/// A number in place of what is infinite.  Where there is no infinity NaN is.
long double finite(long double x, DType part) {
  const bool is_beyond = std::isinf(x) || (part == DType::f8e4m3fn && std::isnan(x));
  return is_beyond ? std::copysign(places_of(part).beyond, x) : x;
}

bool is_within(Bits x, Bits y, long double larger, DType part, const Tolerance& tolerance) {
  const long double a = finite(number(x, part), part), b = finite(number(y, part), part);
  if (std::isnan(a) || std::isnan(b)) return false;
  if (a == b) return std::signbit(a) == std::signbit(b);
  const Places places = places_of(tolerance.unit);
  const long double size = std::max({std::fabs(a), std::fabs(b), larger});
  const int exponent = std::max(std::ilogb(size) - places.digits + 1, places.lowest);
  return std::fabs(a - b) <= std::ldexp(static_cast<long double>(tolerance.ulps), exponent);
}

std::string text(Bits bits, DType dtype) {
  char buffer[40];
  if (itemsize_bytes(dtype) == 16)
    std::snprintf(buffer, sizeof buffer, "0x%llx:0x%llx", static_cast<unsigned long long>(bits.lo),
                  static_cast<unsigned long long>(bits.hi));
  else
    std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(bits.lo));
  const Tensor one = empty({}, dtype);
  std::memcpy(one.data(), &bits, itemsize_bytes(dtype));
  return std::string(buffer) + " (" + one.item().text() + ")";
}

/// Calls `visit(index)` for each index of the sizes until it returns false.
template <class Visit>
void for_each_index(IntSpan sizes, const Visit& visit) {
  std::vector<std::int64_t> index(sizes.size());
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  while (visit(std::as_const(index))) {
    std::size_t dim = sizes.size();
    while (dim-- > 0) {
      if (++index[dim] < sizes[dim]) break;
      index[dim] = 0;
    }
    if (dim == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace

std::string list_text(std::span<const std::int64_t> numbers) {
  std::string result;
  for (const std::int64_t number : numbers)
    result.append(result.empty() ? "" : ", ").append(std::to_string(number));
  return "[" + result + "]";
}

Places places_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return {11, -24, 0x1p16L};
    case DType::bf16: return {8, -133, 0x1p128L};
    case DType::f8e4m3fn: return {4, -9, 480};
    case DType::f8e5m2: return {3, -16, 0x1p16L};
    case DType::f32: return {24, -149, 0x1p128L};
    default: return {53, -1074, 0x1p1024L};
  }
}

bool is_close(Bits actual, Bits expected, DType dtype, const Tolerance& tolerance) {
  if (actual == expected) return true;
  const DType part = real_dtype(dtype);
  const std::vector<Bits> x = parts_of(actual, dtype), y = parts_of(expected, dtype);
  long double larger = 0;
  for (const Bits bits : y)
    if (const long double size = std::fabs(number(bits, part)); std::isfinite(size))
      larger = std::max(larger, size);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (are_equal(x[i], y[i], part)) continue;
    if (tolerance.is_exact() || !is_within(x[i], y[i], larger, part, tolerance)) return false;
  }
  return true;
}

std::vector<Tensor> copies(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) {
    result.push_back(
        empty(tensor.sizes(), TensorOptions{tensor.dtype(), {}, MemoryFormat::contiguous}));
    std::byte* to = result.back().data();
    const std::size_t itemsize = itemsize_bytes(tensor.dtype());
    for_each_index(tensor.sizes(), [&](const auto& index) {
      const Bits bits = element_at(tensor, index);
      std::memcpy(to, &bits, itemsize);
      to += itemsize;
      return true;
    });
  }
  return result;
}

std::optional<Finding> compare(const std::vector<Tensor>& actual,
                               const std::vector<Tensor>& expected,
                               std::span<const Tolerance> tolerances, const std::string& backend) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Finding finding{Finding::Kind::value, backend, {}, {}};
    const Tensor& x = actual[i];
    const Tensor& y = expected[i];
    if (x.dtype() != y.dtype() || !std::ranges::equal(x.sizes(), y.sizes())) {
      finding.what =
          detail::concat("result ", i, " is ", layout_text(x), ", expected ", layout_text(y));
      return finding;
    }
    const Tolerance tolerance = tolerances.empty() ? Tolerance() : tolerances[i];
    if (tolerance.is_unknown()) continue;
    for_each_index(y.sizes(), [&](const auto& index) {
      const Bits left = element_at(x, index);
      const Bits right = element_at(y, index);
      if (is_close(left, right, y.dtype(), tolerance)) return true;
      finding.index = index;
      finding.what = detail::concat(
          "element ", list_text(index), " of result ", i, " is ", text(left, y.dtype()),
          ", expected ", text(right, y.dtype()),
          tolerance.is_exact()
              ? std::string()
              : detail::concat(", within ", tolerance.ulps, " ulp of ", name(tolerance.unit)));
      return false;
    });
    if (!finding.what.empty()) return finding;
  }
  return {};
}

}  // namespace weft::fuzzing
