#include "tests/conformance/compare.h"

#include <weft/convert.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft::conformance {
namespace {

template <class T>
T element_of(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Numbers a float's bits so that neighbours differ by one, and both zeros are 0.
template <class Unsigned>
std::int64_t place(Unsigned bits) {
  constexpr Unsigned sign = Unsigned{1} << (8 * sizeof(Unsigned) - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Unsigned>(~sign));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::int64_t place_of(DType dtype, const std::byte* element) {
  switch (itemsize_bytes(dtype)) {
    case 1: return place(element_of<std::uint8_t>(element));
    case 2: return place(element_of<std::uint16_t>(element));
    case 4: return place(element_of<std::uint32_t>(element));
    default: return place(element_of<std::uint64_t>(element));
  }
}

bool is_nan(DType dtype, const std::byte* element) {
  if (is_floating(dtype)) return std::isnan(number_of(dtype, element));
  return false;
}

/// The distance from `value` to the next larger number of a real dtype.
double step_at(DType dtype, double value) {
  if (dtype == DType::f64)
    return std::nextafter(value, std::numeric_limits<double>::infinity()) - value;
  const int digits = dtype == DType::f32 ? 24 : 11;
  const int smallest = dtype == DType::f32 ? -149 : -24;
  return std::ldexp(1.0, std::max(std::ilogb(value) - digits + 1, smallest));
}

}  // namespace

double number_of(DType dtype, const std::byte* element) {
  return visit_dtype(dtype, [&](auto type) -> double {
    using T = typename decltype(type)::type;
    if constexpr (is_complex(dtype_of<T>)) {
      throw Mismatch("a complex element is no real number");
    } else {
      return convert<double>(element_of<T>(element));
    }
  });
}

double ulps_between(DType dtype, const std::byte* a, const std::byte* b) {
  const bool a_nan = is_nan(dtype, a), b_nan = is_nan(dtype, b);
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : std::numeric_limits<double>::infinity();
  const std::int64_t x = place_of(dtype, a), y = place_of(dtype, b);
  // The difference of two places may leave int64, and doubles have not all of them.
  const std::uint64_t low = static_cast<std::uint64_t>(std::min(x, y)),
                      high = static_cast<std::uint64_t>(std::max(x, y));
  return static_cast<double>(high - low);
}

double complex_ulps_between(DType dtype, const std::byte* a, const std::byte* b) {
  const DType part = real_dtype(dtype);
  const std::size_t size = itemsize_bytes(part);
  const double larger = std::max(std::abs(number_of(part, b)), std::abs(number_of(part, b + size)));
  double worst = 0;
  for (const std::size_t offset : {std::size_t{0}, size}) {
    const double x = number_of(part, a + offset), y = number_of(part, b + offset);
    if (same_bits(part, a + offset, b + offset) || x == y) continue;
    const double ulps = std::abs(x - y) / step_at(part, larger);
    worst = std::isnan(ulps) ? std::numeric_limits<double>::infinity() : std::max(worst, ulps);
  }
  return worst;
}

bool same_bits(DType dtype, const std::byte* a, const std::byte* b) {
  if (is_complex(dtype)) {
    const DType part = real_dtype(dtype);
    const std::size_t size = itemsize_bytes(part);
    return same_bits(part, a, b) && same_bits(part, a + size, b + size);
  }
  return std::memcmp(a, b, itemsize_bytes(dtype)) == 0 || (is_nan(dtype, a) && is_nan(dtype, b));
}

void WorstUlps::add(const std::string& op, DType dtype, double ulps) {
  double& worst = worst_[op + " " + std::string(name(dtype))];
  worst = std::max(worst, ulps);
}

std::string WorstUlps::text() const {
  const auto furthest =
      std::max_element(worst_.begin(), worst_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (furthest == worst_.end()) return {};
  return furthest->first + ", " + json(furthest->second).dump() + " ulp";
}

void expect_accepted(const std::string& op, const Bytes& result, const Accepted& accepted,
                     WorstUlps& worst) {
  const DType dtype = accepted.dtype;
  const std::size_t itemsize = itemsize_bytes(dtype);
  const auto check_length = [&](const Bytes& bytes) {
    expect_equal("length of the result in bytes", result.size(), bytes.size());
  };
  for (const Bytes& exact : accepted.exact) check_length(exact);
  for (const Bytes& reference : accepted.references) check_length(reference);

  std::size_t num_wrong = 0;
  std::string first_wrong;
  for (std::size_t i = 0; i * itemsize < result.size(); ++i) {
    if (accepted.skip.contains(i)) continue;
    const std::byte* element = &result[i * itemsize];
    const bool is_exact = std::any_of(
        accepted.exact.begin(), accepted.exact.end(),
        [&](const Bytes& exact) { return same_bits(dtype, element, &exact[i * itemsize]); });
    double ulps = std::numeric_limits<double>::infinity();
    for (const Bytes& bytes : accepted.references) {
      const std::byte* reference = &bytes[i * itemsize];
      ulps = std::min(ulps, is_complex(dtype) ? complex_ulps_between(dtype, element, reference)
                                              : ulps_between(dtype, element, reference));
    }
    if (ulps <= accepted.ulps) worst.add(op, dtype, ulps);
    if (is_exact || ulps <= accepted.ulps) continue;
    if (num_wrong++ > 0) continue;
    const auto hex = [&](const Bytes& bytes) {
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i * itemsize);
      return hex_of(Bytes(begin, begin + static_cast<std::ptrdiff_t>(itemsize)));
    };
    first_wrong = "element " + std::to_string(i) + " is " + hex(result) + ", recorded";
    for (const Bytes& exact : accepted.exact) first_wrong.append(" ").append(hex(exact));
    for (const Bytes& reference : accepted.references)
      first_wrong += ", correctly rounded " + hex(reference);
    if (!accepted.references.empty()) first_wrong += " (" + std::to_string(ulps) + " ulp away)";
  }
  if (num_wrong > 0)
    throw Mismatch(first_wrong + "; " + std::to_string(num_wrong) + " elements are wrong");
}

}  // namespace weft::conformance
