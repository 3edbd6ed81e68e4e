// The engine's calls that reduce or have two results.
#include "engine/dispatch/operators.h"
#include "engine/engine_state.h"
#include "engine/fold/fold_call.h"

#include <weft/error.h>

namespace weft {
namespace {

void check_input(const Tensor& a, std::string_view name) {
  WEFT_CHECK(a.defined(), ArgumentError, name, "(): input 0 is undefined");
}

/// As a schema has it.
std::optional<std::string_view> numerics_name(const ReduceOptions& options) {
  if (!options.numerics) return {};
  return name(*options.numerics);
}

std::pair<Tensor, Tensor> call_pair(Engine::State& state, Pair pair, const Tensor& a,
                                    const ReduceOptions& options) {
  constexpr std::string_view names[] = {"aminmax", "var_mean", "max", "min", "cummax", "cummin"};
  check_input(a, names[static_cast<std::size_t>(pair)]);
  const CurrentCall current(state);
  auto [first, second] = operators().find(pair).handle.call(
      a, options.dims, options.keepdim, options.dtype, options.p, options.correction,
      options.reverse, numerics_name(options));
  return {std::move(first), std::move(second)};
}

}  // namespace

Tensor Engine::reduce(Reduction reduction, const Tensor& a, const ReduceOptions& options) {
  check_input(a, name(reduction));
  const auto& row = operators().find(reduction);
  if (!row.is_builtin(dispatch_keys_of(a))) [[unlikely]] {
    const CurrentCall current(*state_);
    return row.handle.call(a, options.dims, options.keepdim, options.dtype, options.p,
                           options.correction, options.reverse, numerics_name(options));
  }
  const Expr expr = weft::reduce(reduction, a, options);
  const Tensor given;
  return compute_exprs(*state_, std::span(&expr, 1), std::span(&given, 1))[0];
}

void Engine::reduce(Reduction reduction, const Tensor& a, const ReduceOptions& options,
                    const Tensor& out) {
  check_input(a, name(reduction));
  WEFT_CHECK(out.defined(), ArgumentError, name(reduction), "(): the given output is undefined");
  const CurrentCall current(*state_);
  operators().find_out(reduction).handle.call(a, options.dims, options.keepdim, options.dtype,
                                              options.p, options.correction, options.reverse,
                                              numerics_name(options), out);
}

std::pair<Tensor, Tensor> Engine::frexp(const Tensor& a) {
  check_input(a, "frexp");
  WEFT_CHECK(is_floating(a.dtype()), ArgumentError, "frexp() does not take ", name(a.dtype()),
             "; it takes ", describe(Domain::real_floating));
  std::vector<Tensor> results = eval(ops::frexp(a));
  return {std::move(results[0]), std::move(results[1])};
}

std::pair<Tensor, Tensor> Engine::aminmax(const Tensor& a, const ReduceOptions& options) {
  return call_pair(*state_, Pair::aminmax, a, options);
}

std::pair<Tensor, Tensor> Engine::var_mean(const Tensor& a, const ReduceOptions& options) {
  return call_pair(*state_, Pair::var_mean, a, options);
}

std::pair<Tensor, Tensor> Engine::max(const Tensor& a, std::int64_t dim, bool keepdim) {
  return call_pair(*state_, Pair::max, a, {.dims = {dim}, .keepdim = keepdim});
}

std::pair<Tensor, Tensor> Engine::min(const Tensor& a, std::int64_t dim, bool keepdim) {
  return call_pair(*state_, Pair::min, a, {.dims = {dim}, .keepdim = keepdim});
}

std::pair<Tensor, Tensor> Engine::cummax(const Tensor& a, std::int64_t dim, bool reverse) {
  return call_pair(*state_, Pair::cummax, a, {.dims = {dim}, .reverse = reverse});
}

std::pair<Tensor, Tensor> Engine::cummin(const Tensor& a, std::int64_t dim, bool reverse) {
  return call_pair(*state_, Pair::cummin, a, {.dims = {dim}, .reverse = reverse});
}

}  // namespace weft
