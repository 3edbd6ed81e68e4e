// Calls of a vector function over arrays, with the vectors of jit/fold/vectors.h.
#pragma once

#include "jit/fold/vectors.h"

#include <cstdint>

namespace weft::jit {
namespace {

/// Whole vectors, the last of which may begin within `count` and end behind.
inline void call_vectors(const void* function, double* out, const double* x, std::int64_t count) {
  using V = Vector<double, vector_bytes>;
  const auto of = reinterpret_cast<V (*)(V)>(reinterpret_cast<std::uintptr_t>(function));
  constexpr auto lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(double));
  for (std::int64_t i = 0; i < count; i += lanes) store(out + i, of(load<V>(x + i)));
}

}  // namespace
}  // namespace weft::jit
