#include "engine/fuzz/storage.h"

#include "engine/tensor/random_elements.h"

#include <weft/error.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <complex>
#include <cstring>

namespace weft::fuzzing {
namespace {

constexpr std::byte pattern{0xa5};

std::uint64_t seed_of(const CaseTensor& tensor, std::uint64_t seed) {
  std::uint64_t result = seed;
  for (const char c : tensor.name) result = result * 257 + static_cast<unsigned char>(c);
  return result;
}

Bits ordinary_element(DType dtype, std::uint64_t seed, std::int64_t place) {
  const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(place));
  if (is_integral(dtype) || bits % 4096 == 0)
    return random_element(dtype, seed, static_cast<std::uint64_t>(place));
  const auto number = [](std::uint64_t chosen) {
    return static_cast<double>(chosen % 2001) / 777 - 1.3;
  };
  if (!is_complex(dtype)) return Scalar(number(bits >> 12)).bits(dtype);
  return Scalar(std::complex<double>(number(bits >> 12), number(bits >> 32))).bits(dtype);
}

}  // namespace

Bits element_of(const CaseTensor& tensor, std::uint64_t seed, std::int64_t place) {
  const std::int64_t number = tensor.first_value + (tensor.is_uniform ? 0 : place);
  return random_element(tensor.dtype, seed_of(tensor, seed), static_cast<std::uint64_t>(number));
}

GuardedTensor::GuardedTensor(const CaseTensor& layout, std::uint64_t seed,
                             std::optional<std::int64_t> shared_elements, Values values) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t itemsize = itemsize_bytes(layout.dtype);
  const std::int64_t count = shared_elements.value_or(storage_elements(layout));
  const std::size_t used_bytes = static_cast<std::size_t>(count) * itemsize;
  num_bytes_ = (used_bytes / page + 1) * page;
  mapped_bytes_ = num_bytes_ + 2 * page;
  void* const mapped = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WEFT_CHECK(mapped != MAP_FAILED, DeviceError, "cannot map ", mapped_bytes_, " bytes");
  pages_ = static_cast<std::byte*>(mapped);
  accessible_ = pages_ + page;
  if (mprotect(accessible_, num_bytes_, PROT_READ | PROT_WRITE) != 0) {
    munmap(pages_, mapped_bytes_);
    throw DeviceError(detail::concat("cannot use ", num_bytes_, " bytes"));
  }
  std::fill_n(accessible_, num_bytes_, pattern);
  const bool at_end = random_bits(seed_of(layout, seed), 0x9a9e) % 4 != 0;
  std::byte* const storage = at_end ? accessible_ + num_bytes_ - used_bytes : accessible_;
  for (std::int64_t i = 0; i < count; ++i) {
    const Bits bits = values == Values::any
                          ? element_of(layout, seed, i)
                          : ordinary_element(layout.dtype, seed_of(layout, seed), i);
    std::memcpy(storage + static_cast<std::size_t>(i) * itemsize, &bits, itemsize);
  }
  initial_.assign(accessible_, accessible_ + num_bytes_);
  const std::vector<std::int64_t> all{count}, unit{1};
  tensor_ = shared_elements
                ? from_blob(storage, all, unit, layout.dtype)
                      .as_strided(layout.sizes, layout.strides, layout.offset)
                : from_blob(storage + static_cast<std::size_t>(layout.offset) * itemsize,
                            layout.sizes, layout.strides, layout.dtype);
  tensor_ = with_lazy_bits(tensor_, layout);
}

GuardedTensor::~GuardedTensor() { munmap(pages_, mapped_bytes_); }

void GuardedTensor::restore() { std::copy(initial_.begin(), initial_.end(), accessible_); }

bool GuardedTensor::is_intact(std::span<const Tensor> written) const {
  std::vector<std::byte> expected = initial_;
  for (const Tensor& view : written) {
    const std::size_t itemsize = itemsize_bytes(view.dtype());
    const std::byte* const first = view.data();
    std::vector<std::int64_t> index(static_cast<std::size_t>(view.dim()));
    for (std::int64_t i = 0; i < view.numel(); ++i) {
      std::int64_t place = 0;
      for (std::size_t dim = 0; dim < index.size(); ++dim)
        place += index[dim] * view.strides()[dim];
      const std::byte* const element = first + place * static_cast<std::int64_t>(itemsize);
      std::copy_n(element, itemsize, expected.begin() + (element - accessible_));
      for (std::size_t dim = index.size(); dim-- > 0;) {
        if (++index[dim] < view.sizes()[dim]) break;
        index[dim] = 0;
      }
    }
  }
  return std::equal(expected.begin(), expected.end(), accessible_);
}

}  // namespace weft::fuzzing
