// The library's functions as another library might have them: up to an ulp away, the same for the
// same argument.  What is exact for many arguments, 0, 1 and infinities, stays.
#pragma once

#include "tests/jit/nvrtc/cuda_shim.h"

namespace shim {
template <class T>
T nearly(T x) {
  if (x == 0 || x == 1 || !std::isfinite(x)) return x;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  const unsigned way = static_cast<unsigned>((bits * 0x9e3779b97f4a7c15u) >> 62u);
  return way == 3   ? x
         : way == 2 ? std::nextafter(x, T(0))
                    : std::nextafter(x, x < 0 ? -INFINITY : INFINITY);
}
}  // namespace shim
#define exp(...) shim::nearly(exp(__VA_ARGS__))
#define log(...) shim::nearly(log(__VA_ARGS__))
#define log1p(...) shim::nearly(log1p(__VA_ARGS__))
#define sin(...) shim::nearly(sin(__VA_ARGS__))
#define cos(...) shim::nearly(cos(__VA_ARGS__))
#define tan(...) shim::nearly(tan(__VA_ARGS__))
#define atan(...) shim::nearly(atan(__VA_ARGS__))
#define atan2(...) shim::nearly(atan2(__VA_ARGS__))
#define sinh(...) shim::nearly(sinh(__VA_ARGS__))
#define cosh(...) shim::nearly(cosh(__VA_ARGS__))
#define tanh(...) shim::nearly(tanh(__VA_ARGS__))
#define asinh(...) shim::nearly(asinh(__VA_ARGS__))
#define hypot(...) shim::nearly(hypot(__VA_ARGS__))
