// The functions of one argument in f64 and in vectors: which of many f32 results may be off by more
// than so many units, so that only those are measured exactly.
#pragma once

#include <weft/op.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::ulp {

/// Writes the function of each of `count` inputs, a multiple of four, with an error below
/// `screen_error` units of f32; `in_doubt` where it can't promise that.
using Screen = void (*)(const float* x, double* expected, std::size_t count);

inline constexpr double screen_error = 1e-5;
inline constexpr double in_doubt = 0x1p900;

/// Null if `op` has none, or the machine no AVX2: then every input is to be measured exactly.
Screen find_screen(Op op);

/// Writes the places where the error of `actual` may exceed `ulps`, and returns how many they are.
std::size_t find_candidates(const double* expected, const float* actual, std::size_t count,
                            double ulps, std::uint32_t* candidates);

}  // namespace weft::ulp
