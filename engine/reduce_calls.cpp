// The engine's calls that reduce.
#include "engine/engine_state.h"
#include "engine/fold_call.h"
#include "engine/operators.h"

#include <weft/error.h>

namespace weft {
namespace {

std::pair<Tensor, Tensor> eval_both(Engine& engine, const Expr& first, const Expr& second) {
  const Expr exprs[] = {first, second};
  std::vector<Tensor> results = engine.eval(exprs);
  return {std::move(results[0]), std::move(results[1])};
}

void check_input(const Tensor& a, std::string_view name) {
  WEFT_CHECK(a.defined(), ArgumentError, name, "(): input 0 is undefined");
}

}  // namespace

Tensor Engine::reduce(Reduction reduction, const Tensor& a, const ReduceOptions& options) {
  check_input(a, name(reduction));
  const auto& row = operators().find(reduction);
  if (!row.is_builtin(dispatch_keys_of(a))) [[unlikely]] {
    const CurrentCall current(*state_);
    return row.handle.call(a, options.dims, options.keepdim, options.dtype, options.p,
                           options.correction, options.reverse);
  }
  const Expr expr = weft::reduce(reduction, a, options);
  const Tensor given;
  return compute_exprs(*state_, std::span(&expr, 1), std::span(&given, 1))[0];
}

void Engine::reduce(Reduction reduction, const Tensor& a, const ReduceOptions& options,
                    const Tensor& out) {
  check_input(a, name(reduction));
  WEFT_CHECK(out.defined(), ArgumentError, name(reduction), "(): the given output is undefined");
  eval(weft::reduce(reduction, a, options), out);
}

std::pair<Tensor, Tensor> Engine::aminmax(const Tensor& a, const ReduceOptions& options) {
  check_input(a, "aminmax");
  return eval_both(*this, ops::amin(a, options), ops::amax(a, options));
}

std::pair<Tensor, Tensor> Engine::var_mean(const Tensor& a, const ReduceOptions& options) {
  check_input(a, "var_mean");
  return eval_both(*this, ops::var(a, options), ops::mean(a, options));
}

std::pair<Tensor, Tensor> Engine::max(const Tensor& a, std::int64_t dim, bool keepdim) {
  check_input(a, "max");
  const ReduceOptions options{.dims = {dim}, .keepdim = keepdim};
  return eval_both(*this, ops::max(a, options), ops::argmax(a, options));
}

std::pair<Tensor, Tensor> Engine::min(const Tensor& a, std::int64_t dim, bool keepdim) {
  check_input(a, "min");
  const ReduceOptions options{.dims = {dim}, .keepdim = keepdim};
  return eval_both(*this, ops::min(a, options), ops::argmin(a, options));
}

std::pair<Tensor, Tensor> Engine::cummax(const Tensor& a, std::int64_t dim) {
  check_input(a, "cummax");
  return eval_both(*this, ops::cummax(a, {.dims = {dim}}), scan_places(Op::maximum, a, dim));
}

std::pair<Tensor, Tensor> Engine::cummin(const Tensor& a, std::int64_t dim) {
  check_input(a, "cummin");
  return eval_both(*this, ops::cummin(a, {.dims = {dim}}), scan_places(Op::minimum, a, dim));
}

}  // namespace weft
