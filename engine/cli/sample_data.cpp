#include "engine/cli/sample_data.h"

#include <weft/error.h>
#include <weft/expr.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

namespace weft::cli {
namespace {

Scalar sample(DType dtype, std::mt19937& random) {
  std::uniform_real_distribution<double> real(0.1, 1.0);
  switch (category(dtype)) {
    case Category::boolean: return Scalar(random() % 2 == 1);
    case Category::integer: return Scalar(static_cast<std::int64_t>(random() % 7 + 1));
    case Category::floating: return Scalar(real(random));
    case Category::complex: {
      const double re = real(random);
      return Scalar(std::complex<double>(re, real(random)));
    }
  }
  return {};
}

/// Repeats a block of random elements: a number each would take longer than what is measured.
void fill(std::byte* bytes, std::size_t size_bytes, DType dtype) {
  constexpr std::size_t num_samples = 4099;  // a prime: no dimension repeats in step with it
  const std::size_t itemsize = itemsize_bytes(dtype);
  std::mt19937 random(1);
  std::vector<std::byte> block(num_samples * itemsize);
  for (std::size_t i = 0; i < num_samples; ++i) {
    const Bits bits = sample(dtype, random).bits(dtype);
    std::memcpy(block.data() + i * itemsize, &bits, itemsize);
  }
  for (std::size_t at = 0; at < size_bytes; at += block.size()) {
    std::memcpy(bytes + at, block.data(), std::min(block.size(), size_bytes - at));
  }
}

bool is_nan(Bits bits, DType dtype) {
  const Tensor one = empty({}, dtype);
  std::memcpy(one.data(), &bits, itemsize_bytes(dtype));
  const std::complex<double> value = one.item().as_complex();
  return value.real() != value.real() || value.imag() != value.imag();
}

}  // namespace

Tensor sample_tensor(const std::string& layout) {
  const Tensor plan = parse_layout(layout);
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(plan.dtype()));
  const auto size_bytes = static_cast<std::int64_t>(plan.storage()->size_bytes());
  const TensorOptions options{plan.dtype(), {}, MemoryFormat::contiguous};
  const Tensor storage = empty(std::array{size_bytes / itemsize}, options);
  fill(storage.data(), static_cast<std::size_t>(size_bytes), plan.dtype());
  return storage.as_strided(plan.sizes(), plan.strides(), plan.storage_offset());
}

std::optional<std::string> first_difference(const Tensor& actual, const Tensor& expected) {
  const std::size_t itemsize = itemsize_bytes(expected.dtype());
  const auto count = static_cast<std::size_t>(expected.numel());
  const std::byte* const x = actual.data();
  const std::byte* const y = expected.data();
  if (count == 0 || std::memcmp(x, y, count * itemsize) == 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    Bits left;
    Bits right;
    std::memcpy(&left, x + i * itemsize, itemsize);
    std::memcpy(&right, y + i * itemsize, itemsize);
    if (left == right) continue;
    if (is_nan(left, expected.dtype()) && is_nan(right, expected.dtype())) continue;
    return "element " + std::to_string(i);
  }
  return {};
}

}  // namespace weft::cli
