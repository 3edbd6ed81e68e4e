#include "jit/fold/exact.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace weft::jit {
namespace {

__extension__ using Wide = unsigned __int128;

/// Divides by a number of up to 53 bits so that the result can still be rounded to f32: what is
/// inexact gets an odd last bit.
double divided_to_odd(double x, double by) {
  const double quotient = x / by;
  const double rest = std::fma(-quotient, by, x);
  auto bits = std::bit_cast<std::uint64_t>(quotient);
  if (rest == 0 || (bits & 1) != 0) return quotient;
  const bool is_below = (rest > 0) == (quotient > 0);
  return std::bit_cast<double>(is_below ? bits + 1 : bits - 1);
}

}  // namespace

ExactSum ExactSum::in_limbs() const {
  ExactSum result;
  result.one_ = one_;
  result.begin();
  return result;
}

void ExactSum::add(double x) {
  if (state_ == State::none) {
    one_ = x;
    state_ = State::one;
    return;
  }
  if (state_ == State::one) {
    const double sum = one_ + x, added = sum - one_;
    const double error = (one_ - (sum - added)) + (x - added);  // NaN if there is no such number
    if (error == 0) {
      one_ = sum;
      return;
    }
    begin();
  }
  add_to_limbs(x);
}

void ExactSum::clear() {
  state_ = State::none;
  has_nan_ = has_infinity_[0] = has_infinity_[1] = false;
  num_pending_ = 0;
}

void ExactSum::begin() {
  limbs_.fill(0);
  state_ = State::many;
  add_to_limbs(one_);
}

void ExactSum::add_to_limbs(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const bool is_negative = bits >> 63 != 0;
  if (exponent == 0x7ff) {
    (mantissa != 0 ? has_nan_ : has_infinity_[is_negative]) = true;
    return;
  }
  if (exponent != 0) mantissa |= std::uint64_t{1} << 52;
  const int position = std::max(exponent, 1) - 1075 + lowest_power;
  const Wide value = Wide{mantissa} << (position % 32);
  std::int64_t* const limb = &limbs_[static_cast<std::size_t>(position / 32)];
  const std::int64_t sign = is_negative ? -1 : 1;
  limb[0] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(value));
  limb[1] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(value >> 32));
  limb[2] += sign * static_cast<std::int64_t>(value >> 64);
  if (++num_pending_ < max_pending) return;
  pass_carries(limbs_);
  num_pending_ = 1;
}

void ExactSum::add(const ExactSum& other) {
  if (other.state_ == State::none) return;
  if (other.state_ == State::one) return add(other.one_);
  if (state_ == State::none) {
    *this = other;
    return;
  }
  if (state_ == State::one) begin();
  has_nan_ |= other.has_nan_;
  for (std::size_t i = 0; i < 2; ++i) has_infinity_[i] |= other.has_infinity_[i];
  for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] += other.limbs_[i];
  num_pending_ += other.num_pending_;
  if (num_pending_ < max_pending) return;
  pass_carries(limbs_);
  num_pending_ = 1;
}

/// The last limb keeps the sign; the others get 32 bits each.
void ExactSum::pass_carries(Limbs& limbs) {
  std::int64_t carry = 0;
  for (std::size_t i = 0; i + 1 < limbs.size(); ++i) {
    const std::int64_t value = limbs[i] + carry;
    carry = value >> 32;
    limbs[i] = value & 0xffffffff;
  }
  limbs.back() += carry;
}

template <class T>
T ExactSum::rounded(std::int64_t count) const {
  using Limits = std::numeric_limits<T>;
  if (has_nan_ || (has_infinity_[0] && has_infinity_[1])) return Limits::quiet_NaN();
  if (has_infinity_[0]) return Limits::infinity();
  if (has_infinity_[1]) return -Limits::infinity();
  Limbs limbs = limbs_;
  pass_carries(limbs);
  const bool is_negative = limbs.back() < 0;
  if (is_negative) {
    for (std::int64_t& limb : limbs) limb = -limb;
    pass_carries(limbs);
  }
  bool is_inexact = false;
  if (count > 1) {
    const auto divisor = static_cast<std::uint64_t>(count);
    std::uint64_t rest = 0;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      const Wide value = Wide{rest} << 32 | static_cast<std::uint64_t>(limbs[i]);
      limbs[i] = static_cast<std::int64_t>(value / divisor);
      rest = static_cast<std::uint64_t>(value % divisor);
    }
    is_inexact = rest != 0;
  }
  std::size_t top = limbs.size() - 1;
  while (top > 2 && limbs[top] == 0) --top;
  for (std::size_t i = 0; i + 2 < top; ++i) is_inexact |= limbs[i] != 0;
  // The lowest limbs are below the smallest double, so a sum has its bits above them.
  const Wide three = Wide{static_cast<std::uint64_t>(limbs[top])} << 64 |
                     Wide{static_cast<std::uint64_t>(limbs[top - 1])} << 32 |
                     static_cast<std::uint64_t>(limbs[top - 2]);
  if (three == 0) return T(is_negative ? -0.0 : 0.0);
  const auto high = static_cast<std::uint64_t>(three >> 64);
  const int width =
      high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(three));
  const std::uint64_t leading = width > 64 ? static_cast<std::uint64_t>(three >> (width - 64))
                                           : static_cast<std::uint64_t>(three) << (64 - width);
  if (width > 64) is_inexact |= (three & ((Wide{1} << (width - 64)) - 1)) != 0;
  const int exponent = static_cast<int>(top - 2) * 32 + width - 1 - lowest_power;

  const int kept = Limits::digits - std::max(Limits::min_exponent - 1 - exponent, 0);
  if (kept < 0) return T(is_negative ? -0.0 : 0.0);
  std::uint64_t mantissa = kept == 0 ? 0 : leading >> (64 - kept);
  const std::uint64_t dropped = kept == 0 ? leading : leading << kept;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  if (dropped > half || (dropped == half && (is_inexact || (mantissa & 1) != 0))) ++mantissa;
  const double size = std::ldexp(static_cast<double>(mantissa), exponent - kept + 1);
  return static_cast<T>(is_negative ? -size : size);
}

float ExactSum::as_float(std::int64_t count) const {
  if (state_ == State::many) return rounded<float>(count);
  if (state_ == State::none) return 0;
  const double sum = one_ + 0.0;
  if (count == 1 || !std::isfinite(sum)) return static_cast<float>(sum);
  if (count < std::int64_t{1} << 53)
    return static_cast<float>(divided_to_odd(sum, static_cast<double>(count)));
  return in_limbs().rounded<float>(count);
}

double ExactSum::as_double(std::int64_t count) const {
  if (state_ == State::many) return rounded<double>(count);
  if (state_ == State::none) return 0;
  const double sum = one_ + 0.0;
  if (count < std::int64_t{1} << 53) return sum / static_cast<double>(count);
  return in_limbs().rounded<double>(count);
}

ExactLoops exact_loops(DType dtype, Isa isa) {
  ExactLoops loops = *(isa == Isa::avx512 ? exact_loops_avx512(dtype)
                       : isa == Isa::avx2 ? exact_loops_avx2(dtype)
                                          : exact_loops_generic(dtype));
  loops.isa = isa;
  return loops;
}

}  // namespace weft::jit
