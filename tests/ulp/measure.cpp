#include "tests/ulp/measure.h"

#include "tests/ulp/hard_inputs.h"
#include "tests/ulp/screen.h"

#include <weft/engine.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace weft::ulp {
namespace {

constexpr std::size_t block = 8192;

/// Holds the numbers of MPFR for one comparison after another.
class Comparison {
 public:
  explicit Comparison(const Reference& reference) : reference_(reference) {
    for (mpfr_ptr number : {x_, y_, exact_, error_}) mpfr_init2(number, precision);
  }
  ~Comparison() {
    for (mpfr_ptr number : {x_, y_, exact_, error_}) mpfr_clear(number);
  }
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  template <class T>
  double ulps(T x, T y, T actual) {
    mpfr_set_d(x_, static_cast<double>(x), MPFR_RNDN);
    mpfr_set_d(y_, static_cast<double>(y), MPFR_RNDN);
    reference_.function(exact_, x_, y_);
    if (mpfr_nan_p(exact_) != 0 || std::isnan(actual))
      return mpfr_nan_p(exact_) != 0 && std::isnan(actual) ? 0 : infinity;
    return distance(actual);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// Numbers beyond the largest count as the infinity that rounding makes of them.
  template <class T>
  double distance(T actual) {
    const T rounded = nearest(T{});
    if (actual == rounded) {
      if (std::isinf(rounded)) return 0;
    } else if (std::isinf(rounded)) {
      return std::abs(actual) == std::numeric_limits<T>::max() &&
                     std::signbit(actual) == std::signbit(rounded)
                 ? 1
                 : infinity;
    } else if (std::isinf(actual)) {
      return std::abs(rounded) == std::numeric_limits<T>::max() ? 1 : infinity;
    }
    mpfr_set_d(error_, static_cast<double>(actual), MPFR_RNDN);
    mpfr_sub(error_, error_, exact_, MPFR_RNDN);
    const T size = std::max(std::abs(rounded), std::numeric_limits<T>::min());
    const int unit = std::ilogb(size) + 1 - std::numeric_limits<T>::digits;
    mpfr_mul_2si(error_, error_, -unit, MPFR_RNDN);
    return std::abs(mpfr_get_d(error_, MPFR_RNDN));
  }

  float nearest(float) { return mpfr_get_flt(exact_, MPFR_RNDN); }
  double nearest(double) { return mpfr_get_d(exact_, MPFR_RNDN); }

  const Reference& reference_;
  mpfr_t x_, y_, exact_, error_;
};

/// An op on blocks of numbers, compiled: every backend gives the same bits.
template <class T>
class Block {
 public:
  explicit Block(Op op)
      : plan_(info(op).arity == 2 ? engine_.prepare(apply(op, {Expr(x_), Expr(y_)}), out_)
                                  : engine_.prepare(apply(op, {Expr(x_)}), out_)) {}

  void run() { plan_.run(); }
  T* x() { return x_.data_as<T>(); }
  T* y() { return y_.data_as<T>(); }
  const T* out() { return out_.data_as<T>(); }

 private:
  static Tensor numbers() { return empty({static_cast<std::int64_t>(block)}, dtype_of<T>); }

  Engine engine_{EngineOptions{.num_threads = 1}};
  Tensor x_ = numbers(), y_ = numbers(), out_ = numbers();
  PreparedPlan plan_;
};

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Half of them are any bits, half of ordinary size, where functions are not constant.
template <class T>
T random_number(std::mt19937_64& random) {
  const std::uint64_t word = random();
  if ((word & 1) != 0) return std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
  const double fraction = static_cast<double>(random()) * 0x1p-63 - 1;
  return static_cast<T>(std::ldexp(fraction, static_cast<int>(word >> 1 & 31) - 21));
}

/// A quarter of the numbers are hard.
template <class T>
void random_numbers(std::mt19937_64& random, HardInputs& hard, T& x, T& y) {
  x = random_number<T>(random);
  y = random_number<T>(random);
  if (random() % 4 != 0) return;
  double hard_x = 0, hard_y = 0;
  hard.draw(random, hard_x, hard_y);
  x = static_cast<T>(hard_x);
  y = static_cast<T>(hard_y);
}

template <class T>
Worst measure_as(const Reference& reference, const Sampling& sampling) {
  Block<T> numbers(reference.op);
  const bool is_binary = info(reference.op).arity == 2;
  const bool is_random = is_binary || sizeof(T) == 8;
  Comparison comparison(reference);
  std::mt19937_64 random(sampling.seed);
  T* const x = numbers.x();
  T* const y = numbers.y();
  const T* const out = numbers.out();
  HardInputs hard(reference, dtype_of<T>);
  const Screen screen = is_random ? nullptr : find_screen(reference.op);
  std::vector<double> expected(block);
  std::vector<std::uint32_t> candidates(block);
  Worst worst;
  std::uint64_t next = is_random ? 0 : sampling.seed % sampling.stride;
  const std::uint64_t end = is_random ? sampling.num_samples : std::uint64_t{1} << 32;
  const std::uint64_t step = is_random ? 1 : sampling.stride;
  while (next < end) {
    std::size_t count = 0;
    for (; count < block && next < end; ++count, next += step) {
      x[count] = std::bit_cast<T>(static_cast<BitsOf<T>>(next));
      if (is_random) random_numbers(random, hard, x[count], y[count]);
    }
    numbers.run();
    const auto measure_at = [&](std::size_t i) {
      const double ulps = comparison.ulps(x[i], y[i], out[i]);
      if (ulps > worst.ulps)
        worst = {ulps, static_cast<double>(x[i]), static_cast<double>(y[i]),
                 static_cast<double>(out[i]), worst.num_tested};
    };
    if constexpr (sizeof(T) == 4) {
      if (screen != nullptr) {
        screen(x, expected.data(), block);
        // Less than this is no news: a correctly rounded function reaches one half, and those whose
        // slope at 0 is a fraction of 5 have 0.4 very often.
        const double limit = std::max(worst.ulps, 0.45);
        const std::size_t found =
            find_candidates(expected.data(), out, block, limit, candidates.data());
        for (std::size_t k = 0; k < found && candidates[k] < count; ++k) measure_at(candidates[k]);
        worst.num_tested += count;
        continue;
      }
    }
    for (std::size_t i = 0; i < count; ++i) measure_at(i);
    worst.num_tested += count;
  }
  return worst;
}

}  // namespace

Worst measure(const Reference& reference, DType dtype, const Sampling& sampling) {
  return dtype == DType::f64 ? measure_as<double>(reference, sampling)
                             : measure_as<float>(reference, sampling);
}

}  // namespace weft::ulp
