#include "tests/ulp/reference.h"

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

/// Above 20 the argument itself.
void cut_softplus(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  if (mpfr_cmp_si(x, 20) > 0)
    mpfr_set(result, x, nearest);
  else
    softplus(result, x, y);
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

/// The cubic's constant is the f64 that PyTorch has.
void gelu_tanh(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  Scratch cube, angle;
  mpfr_sqr(cube, x, nearest);
  mpfr_mul(cube, cube, x, nearest);
  mpfr_mul_d(cube, cube, 0.044715, nearest);
  mpfr_add(cube, cube, x, nearest);
  mpfr_const_pi(angle, nearest);
  mpfr_ui_div(angle, 8, angle, nearest);
  mpfr_sqrt(angle, angle, nearest);
  mpfr_mul(angle, angle, cube, nearest);
  Scratch share;
  sigmoid(share, angle, y);
  mpfr_mul(result, share, x, nearest);
}

/// Newton's method from what f64 gives.
void erfinv(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  if (mpfr_nan_p(x) || mpfr_cmpabs_ui(x, 1) >= 0 || mpfr_zero_p(x)) {
    if (!mpfr_nan_p(x) && mpfr_cmpabs_ui(x, 1) == 0)
      mpfr_set_inf(result, mpfr_sgn(x));
    else if (mpfr_zero_p(x))
      mpfr_set(result, x, nearest);
    else
      mpfr_set_nan(result);
    return;
  }
  Scratch guess, error, slope, root_of_pi;
  mpfr_const_pi(root_of_pi, nearest);
  mpfr_sqrt(root_of_pi, root_of_pi, nearest);
  mpfr_set_d(guess, 0, nearest);
  mpfr_mul(guess, root_of_pi, x, nearest);
  mpfr_div_ui(guess, guess, 2, nearest);
  // From below the steps are monotonous: erf is concave there.
  for (int step = 0; step < 200; ++step) {
    mpfr_erf(error, guess, nearest);
    mpfr_sub(error, error, x, nearest);
    mpfr_sqr(slope, guess, nearest);
    mpfr_exp(slope, slope, nearest);
    mpfr_mul(error, error, slope, nearest);
    mpfr_mul(error, error, root_of_pi, nearest);
    mpfr_div_ui(error, error, 2, nearest);
    mpfr_sub(guess, guess, error, nearest);
    if (mpfr_zero_p(error) || mpfr_get_exp(error) < mpfr_get_exp(guess) - 200) break;
  }
  mpfr_set(result, guess, nearest);
}

/// PyTorch's values where the product has none.
void xlogy(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  if (mpfr_zero_p(x) && !mpfr_nan_p(y)) {
    mpfr_set_ui(result, 0, nearest);
    return;
  }
  Scratch power;
  mpfr_log(power, y, nearest);
  mpfr_mul(result, power, x, nearest);
}

/// log_of(exp_of(x) + exp_of(y)) from the larger, so that nothing overflows.
template <class ExpOf, class LogOf>
void log_of_sum(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, ExpOf exp_of, LogOf log_of) {
  const mpfr_srcptr larger = mpfr_cmp(x, y) < 0 ? y : x, smaller = larger == x ? y : x;
  Scratch apart;
  if (mpfr_nan_p(x) || mpfr_nan_p(y)) {
    mpfr_set_nan(result);
  } else if (mpfr_inf_p(larger)) {
    mpfr_set(result, larger, nearest);
  } else {
    mpfr_sub(apart, smaller, larger, nearest);
    if (mpfr_cmp_si(apart, -10000) < 0) {
      mpfr_set(result, larger, nearest);
      return;
    }
    exp_of(apart, apart);
    log_of(apart, apart);
    mpfr_add(result, apart, larger, nearest);
  }
}

void logaddexp(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  log_of_sum(
      result, x, y, [](mpfr_ptr to, mpfr_srcptr from) { mpfr_exp(to, from, nearest); },
      [](mpfr_ptr to, mpfr_srcptr from) { mpfr_log1p(to, from, nearest); });
}

void logaddexp2(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  log_of_sum(
      result, x, y, [](mpfr_ptr to, mpfr_srcptr from) { mpfr_exp2(to, from, nearest); },
      [](mpfr_ptr to, mpfr_srcptr from) {
        Scratch log_of_2;
        mpfr_const_log2(log_of_2, nearest);
        mpfr_log1p(to, from, nearest);
        mpfr_div(to, to, log_of_2, nearest);
      });
}

// docs/numerics.md has the measured maxima.
constexpr Reference table[] = {
    {Op::exp, WEFT_MPFR(exp)},
    {Op::exp2, WEFT_MPFR(exp2)},
    {Op::expm1, WEFT_MPFR(expm1)},
    {Op::log, WEFT_MPFR(log)},
    {Op::log2, WEFT_MPFR(log2)},
    {Op::log10, WEFT_MPFR(log10)},
    {Op::log1p, WEFT_MPFR(log1p)},
    {Op::cbrt, WEFT_MPFR(cbrt)},
    {Op::rsqrt, rsqrt},
    {Op::sin, WEFT_MPFR(sin)},
    {Op::cos, WEFT_MPFR(cos)},
    {Op::tan, WEFT_MPFR(tan)},
    {Op::asin, WEFT_MPFR(asin)},
    {Op::acos, WEFT_MPFR(acos)},
    {Op::atan, WEFT_MPFR(atan)},
    {Op::sinh, WEFT_MPFR(sinh)},
    {Op::cosh, WEFT_MPFR(cosh)},
    {Op::tanh, WEFT_MPFR(tanh)},
    {Op::asinh, WEFT_MPFR(asinh)},
    {Op::acosh, WEFT_MPFR(acosh)},
    {Op::atanh, WEFT_MPFR(atanh)},
    {Op::erf, WEFT_MPFR(erf)},
    {Op::erfc, WEFT_MPFR(erfc)},
    {Op::erfinv, erfinv},
    {Op::lgamma, lgamma},
    {Op::digamma, WEFT_MPFR(digamma)},
    {Op::sinc, sinc},
    {Op::sigmoid, sigmoid},
    {Op::silu, silu},
    {Op::gelu, gelu},
    {Op::gelu_tanh, gelu_tanh},
    {Op::softplus, cut_softplus},
    {Op::log_sigmoid, log_sigmoid},
    {Op::mish, mish},
    {Op::logit, logit},
    {Op::pow, WEFT_MPFR_2(pow)},
    {Op::atan2, WEFT_MPFR_2(atan2)},
    {Op::hypot, WEFT_MPFR_2(hypot)},
    {Op::xlogy, xlogy},
    {Op::logaddexp, logaddexp},
    {Op::logaddexp2, logaddexp2},
};

}  // namespace

std::span<const Reference> references() { return table; }

const Reference* find_reference(Op op) {
  for (const Reference& reference : table)
    if (reference.op == op) return &reference;
  return nullptr;
}

}  // namespace weft::ulp
