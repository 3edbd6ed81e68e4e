// A complex number as a vector of two doubles, which is what partial results of scans are kept in.
#pragma once

#include <weft/dtype.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace weft::jit {

using ComplexLanes [[gnu::vector_size(16)]] = double;

template <class T>
ComplexLanes load_complex(const std::byte* from) {
  using Parts [[gnu::vector_size(sizeof(T))]] = std::remove_cvref_t<decltype(T().real())>;
  Parts parts;
  std::memcpy(&parts, from, sizeof parts);
  return __builtin_convertvector(parts, ComplexLanes);
}
template <class T>
void store_complex(std::byte* to, ComplexLanes x) {
  using Parts [[gnu::vector_size(sizeof(T))]] = std::remove_cvref_t<decltype(T().real())>;
  const auto parts = __builtin_convertvector(x, Parts);
  std::memcpy(to, &parts, sizeof parts);
}

struct ComplexSum {
  static ComplexLanes of(ComplexLanes x, ComplexLanes y) { return x + y; }
};
/// The four products, as in all ops: the standard library's also recover infinities.
struct ComplexProduct {
  static ComplexLanes of(ComplexLanes x, ComplexLanes y) {
    const ComplexLanes swapped{x[1], x[0]}, real{y[0], y[0]}, imaginary{-y[1], y[1]};
    return x * real + swapped * imaginary;
  }
};

}  // namespace weft::jit
