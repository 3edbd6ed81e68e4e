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
#define expf(...) shim::nearly(expf(__VA_ARGS__))
#define exp2(...) shim::nearly(exp2(__VA_ARGS__))
#define exp2f(...) shim::nearly(exp2f(__VA_ARGS__))
#define expm1(...) shim::nearly(expm1(__VA_ARGS__))
#define expm1f(...) shim::nearly(expm1f(__VA_ARGS__))
#define log(...) shim::nearly(log(__VA_ARGS__))
#define logf(...) shim::nearly(logf(__VA_ARGS__))
#define log2(...) shim::nearly(log2(__VA_ARGS__))
#define log2f(...) shim::nearly(log2f(__VA_ARGS__))
#define log10(...) shim::nearly(log10(__VA_ARGS__))
#define log10f(...) shim::nearly(log10f(__VA_ARGS__))
#define log1p(...) shim::nearly(log1p(__VA_ARGS__))
#define log1pf(...) shim::nearly(log1pf(__VA_ARGS__))
#define sin(...) shim::nearly(sin(__VA_ARGS__))
#define sinf(...) shim::nearly(sinf(__VA_ARGS__))
#define cos(...) shim::nearly(cos(__VA_ARGS__))
#define cosf(...) shim::nearly(cosf(__VA_ARGS__))
#define tan(...) shim::nearly(tan(__VA_ARGS__))
#define tanf(...) shim::nearly(tanf(__VA_ARGS__))
#define asin(...) shim::nearly(asin(__VA_ARGS__))
#define asinf(...) shim::nearly(asinf(__VA_ARGS__))
#define acos(...) shim::nearly(acos(__VA_ARGS__))
#define acosf(...) shim::nearly(acosf(__VA_ARGS__))
#define atan(...) shim::nearly(atan(__VA_ARGS__))
#define atanf(...) shim::nearly(atanf(__VA_ARGS__))
#define atan2(...) shim::nearly(atan2(__VA_ARGS__))
#define atan2f(...) shim::nearly(atan2f(__VA_ARGS__))
#define sinh(...) shim::nearly(sinh(__VA_ARGS__))
#define sinhf(...) shim::nearly(sinhf(__VA_ARGS__))
#define cosh(...) shim::nearly(cosh(__VA_ARGS__))
#define coshf(...) shim::nearly(coshf(__VA_ARGS__))
#define tanh(...) shim::nearly(tanh(__VA_ARGS__))
#define tanhf(...) shim::nearly(tanhf(__VA_ARGS__))
#define asinh(...) shim::nearly(asinh(__VA_ARGS__))
#define asinhf(...) shim::nearly(asinhf(__VA_ARGS__))
#define acosh(...) shim::nearly(acosh(__VA_ARGS__))
#define acoshf(...) shim::nearly(acoshf(__VA_ARGS__))
#define atanh(...) shim::nearly(atanh(__VA_ARGS__))
#define atanhf(...) shim::nearly(atanhf(__VA_ARGS__))
#define pow(...) shim::nearly(pow(__VA_ARGS__))
#define powf(...) shim::nearly(powf(__VA_ARGS__))
#define cbrt(...) shim::nearly(cbrt(__VA_ARGS__))
#define cbrtf(...) shim::nearly(cbrtf(__VA_ARGS__))
#define hypot(...) shim::nearly(hypot(__VA_ARGS__))
#define hypotf(...) shim::nearly(hypotf(__VA_ARGS__))
#define erf(...) shim::nearly(erf(__VA_ARGS__))
#define erff(...) shim::nearly(erff(__VA_ARGS__))
#define erfc(...) shim::nearly(erfc(__VA_ARGS__))
#define erfcf(...) shim::nearly(erfcf(__VA_ARGS__))
#define tgamma(...) shim::nearly(tgamma(__VA_ARGS__))
#define tgammaf(...) shim::nearly(tgammaf(__VA_ARGS__))
#define lgamma(...) shim::nearly(lgamma(__VA_ARGS__))
#define lgammaf(...) shim::nearly(lgammaf(__VA_ARGS__))
