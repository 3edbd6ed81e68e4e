#include "tests/ulp/reference.h"

#include <cmath>

namespace weft::ulp {
namespace {

constexpr mpfr_rnd_t nearest = MPFR_RNDN;
constexpr mpfr_prec_t guard_precision = 400;  // exp(-x) next to 1 for the widest range of f64

/// A number of many bits for intermediate results.
class Scratch {
 public:
  Scratch() { mpfr_init2(value_, guard_precision); }
  ~Scratch() { mpfr_clear(value_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

#define WEFT_MPFR(name) \
  [](mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) { mpfr_##name(result, x, nearest); }
#define WEFT_MPFR_2(name) \
  [](mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) { mpfr_##name(result, x, y, nearest); }

#define WEFT_SCREEN(name) [](double x) { return std::name(x); }

/// 1 / (1 + exp(-x)).
void sigmoid(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  Scratch power;
  mpfr_neg(power, x, nearest);
  mpfr_exp(power, power, nearest);
  mpfr_add_ui(power, power, 1, nearest);
  mpfr_ui_div(result, 1, power, nearest);
}

/// NaN at minus infinity, as x * 0 is.
void silu(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  sigmoid(result, x, y);
  mpfr_mul(result, result, x, nearest);
}

void log_of_exponential(mpfr_ptr result, mpfr_ptr power) {
  mpfr_exp(power, power, nearest);
  mpfr_log1p(result, power, nearest);
}

void softplus(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  if (mpfr_cmp_si(x, 10000) > 0) {
    mpfr_set(result, x, nearest);
    return;
  }
  Scratch power;
  mpfr_set(power, x, nearest);
  log_of_exponential(result, power);
}

void log_sigmoid(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  Scratch minus;
  mpfr_neg(minus, x, nearest);
  softplus(result, minus, y);
  mpfr_neg(result, result, nearest);
}

void gelu(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  Scratch argument, root;
  mpfr_sqrt_ui(root, 2, nearest);
  mpfr_div(argument, x, root, nearest);
  mpfr_neg(argument, argument, nearest);
  mpfr_erfc(result, argument, nearest);
  mpfr_mul(result, result, x, nearest);
  mpfr_div_ui(result, result, 2, nearest);
}

void mish(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  Scratch inner;
  softplus(inner, x, y);
  mpfr_tanh(result, inner, nearest);
  mpfr_mul(result, result, x, nearest);
}

void logit(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  Scratch rest;
  mpfr_ui_sub(rest, 1, x, nearest);
  mpfr_div(rest, x, rest, nearest);
  mpfr_log(result, rest, nearest);
}

void sinc(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  if (mpfr_zero_p(x)) {
    mpfr_set_ui(result, 1, nearest);
    return;
  }
  Scratch angle;
  mpfr_const_pi(angle, nearest);
  mpfr_mul(angle, angle, x, nearest);
  mpfr_sinpi(result, x, nearest);
  mpfr_div(result, result, angle, nearest);
}

void lgamma(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  int sign = 0;
  mpfr_lgamma(result, &sign, x, nearest);
}

void rsqrt(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) { mpfr_rec_sqrt(result, x, nearest); }

// Bounds: 1 where the issue of accuracy is ours; what the vector library or a composite of it gives
// elsewhere in f64 (docs/numerics.md has the measured maxima).
constexpr Reference table[] = {
    {Op::exp, WEFT_MPFR(exp), 1, 1, WEFT_SCREEN(exp)},
    {Op::exp2, WEFT_MPFR(exp2), 1, 1, WEFT_SCREEN(exp2)},
    {Op::expm1, WEFT_MPFR(expm1), 1, 1, WEFT_SCREEN(expm1)},
    {Op::log, WEFT_MPFR(log), 1, 1, WEFT_SCREEN(log)},
    {Op::log2, WEFT_MPFR(log2), 1, 1, WEFT_SCREEN(log2)},
    {Op::log10, WEFT_MPFR(log10), 1, 1, WEFT_SCREEN(log10)},
    {Op::log1p, WEFT_MPFR(log1p), 1, 1.01, WEFT_SCREEN(log1p)},
    {Op::cbrt, WEFT_MPFR(cbrt), 1, 1, WEFT_SCREEN(cbrt)},
    {Op::rsqrt, rsqrt, 1.5, 1.5},
    {Op::sin, WEFT_MPFR(sin), 1, 1, WEFT_SCREEN(sin)},
    {Op::cos, WEFT_MPFR(cos), 1, 1, WEFT_SCREEN(cos)},
    {Op::tan, WEFT_MPFR(tan), 1, 1.01, WEFT_SCREEN(tan)},
    {Op::asin, WEFT_MPFR(asin), 1, 1, WEFT_SCREEN(asin)},
    {Op::acos, WEFT_MPFR(acos), 1, 1, WEFT_SCREEN(acos)},
    {Op::atan, WEFT_MPFR(atan), 1, 1, WEFT_SCREEN(atan)},
    {Op::sinh, WEFT_MPFR(sinh), 1, 1.5, WEFT_SCREEN(sinh)},
    {Op::cosh, WEFT_MPFR(cosh), 1, 1.5, WEFT_SCREEN(cosh)},
    {Op::tanh, WEFT_MPFR(tanh), 1, 1.01, WEFT_SCREEN(tanh)},
    {Op::asinh, WEFT_MPFR(asinh), 1, 1.01, WEFT_SCREEN(asinh)},
    {Op::acosh, WEFT_MPFR(acosh), 1, 1.01, WEFT_SCREEN(acosh)},
    {Op::atanh, WEFT_MPFR(atanh), 1, 1.01, WEFT_SCREEN(atanh)},
    {Op::erf, WEFT_MPFR(erf), 1, 1, WEFT_SCREEN(erf)},
    {Op::erfc, WEFT_MPFR(erfc), 1, 1.01, WEFT_SCREEN(erfc)},
    {Op::lgamma, lgamma, 1, 1e3},
    {Op::digamma, WEFT_MPFR(digamma), 1, 1e6},
    {Op::sinc, sinc, 1, 3},
    {Op::sigmoid, sigmoid, 1, 1, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {Op::silu, silu, 1, 5, [](double x) { return x / (1 + std::exp(-x)); }},
    {Op::gelu, gelu, 1, 20, [](double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); }},
    {Op::softplus, softplus, 1, 2},
    {Op::log_sigmoid, log_sigmoid, 1, 2},
    {Op::mish, mish, 1, 6},
    {Op::logit, logit, 1, 2},
    {Op::pow, WEFT_MPFR_2(pow), 1, 1},
    {Op::atan2, WEFT_MPFR_2(atan2), 1, 1},
    {Op::hypot, WEFT_MPFR_2(hypot), 1, 1},
};

}  // namespace

std::span<const Reference> references() { return table; }

const Reference* find_reference(Op op) {
  for (const Reference& reference : table)
    if (reference.op == op) return &reference;
  return nullptr;
}

}  // namespace weft::ulp
