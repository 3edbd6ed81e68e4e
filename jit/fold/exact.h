// Exact sums of floats: an accumulator that holds every sum of doubles, and loops that add many
// numbers at a time before it is needed.
//
// The loops split numbers at a power of two that is chosen by the largest of up to 4096 of them, so
// that the parts above it add up without any rounding in f64; what lies below is split once more,
// or, where numbers differ by too many powers of two, goes to the accumulator one by one.
#pragma once

#include "runtime/cpu_features.h"

#include <weft/dtype.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::jit {

/// A sum of doubles without any rounding; infinities and NaN are remembered.  Not more than 2^62
/// may be added.
class ExactSum {
 public:
  void add(double x);
  void add(const ExactSum& other);
  void clear();

  /// The sum divided by `count`, which is at least 1: rounded once, to nearest even.  No numbers
  /// add up to 0; so do numbers that cancel, and zeros of any sign.
  float as_float(std::int64_t count) const;
  double as_double(std::int64_t count) const;

 private:
  // Limb i counts multiples of 2^(32 i - lowest_power), far below the smallest double, so that
  // there is something left to round after a division.  64 bits hold many numbers of 32 before a
  // carry must be passed on.
  static constexpr int lowest_power = 36 * 32;
  static constexpr int num_limbs = 72;
  static constexpr std::int64_t max_pending = std::int64_t{1} << 29;
  using Limbs = std::array<std::int64_t, num_limbs>;
  enum class State : std::uint8_t { none, one, many };

  void begin();
  ExactSum in_limbs() const;
  void add_to_limbs(double x);
  static void pass_carries(Limbs& limbs);
  template <class T>
  T rounded(std::int64_t count) const;

  // Nothing is defined here that files with other instruction sets could share.
  State state_ = State::none;
  bool has_nan_ = false;
  bool has_infinity_[2] = {false, false};  ///< above, below
  double one_ = 0;                         ///< State::one: the sum, as long as f64 holds it
  std::int64_t num_pending_ = 0;           ///< numbers since carries were passed on
  Limbs limbs_;                            ///< of State::many only
};

/// The loops of one dtype.
struct ExactLoops {
  /// Elements that lie beside each other in a step; 0: no loops.
  std::int64_t step = 0;
  /// Adds `num_steps` steps of elements, `stride_bytes` from one to the next: element i of each to
  /// sums[i & mask].
  void (*add)(ExactSum* sums, std::size_t mask, const std::byte* data, std::int64_t stride_bytes,
              std::int64_t num_steps) = nullptr;
  Isa isa = Isa::generic;  ///< that they are compiled for
};

/// Requires: `dtype` is f32 or f64.
ExactLoops exact_loops(DType dtype, Isa isa);

/// The same on vectors of an instruction set.
const ExactLoops* exact_loops_generic(DType dtype);
#if defined(__x86_64__)
const ExactLoops* exact_loops_avx2(DType dtype);
const ExactLoops* exact_loops_avx512(DType dtype);
#else
inline constexpr auto exact_loops_avx2 = exact_loops_generic,
                      exact_loops_avx512 = exact_loops_generic;
#endif

}  // namespace weft::jit
