// Eigen array expressions, compiled for this machine: all types and contiguity known to the
// compiler.

#include "bench/support.h"

#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include <tuple>
#include <utility>

namespace weft::bench {
namespace {

template <class T>
auto vector(const Tensor& tensor) {
  return Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(
      static_cast<T*>(static_cast<void*>(tensor.data())), tensor.numel());
}

/// `function(out, in...)` assigns an expression of the inputs' arrays to out.
template <class Out, class... In, class Function>
Maker on_vectors(Function function) {
  return [function](const Case& work) -> Runner {
    return [function, out = work.out, inputs = work.inputs] {
      auto to = vector<Out>(out);
      const auto from = [&]<std::size_t... k>(std::index_sequence<k...>) {
        return std::tuple{vector<In>(inputs[k])...};
      }
      (std::index_sequence_for<In...>{});
      std::apply([&](const auto&... x) { function(to, x...); }, from);
    };
  };
}

template <class Out, class In>
Maker cast_maker() {
  return on_vectors<Out, In>([](auto& out, const auto& x) { out = x.template cast<Out>(); });
}

/// `function(out, matrix)` assigns what it makes of the input's rows or columns to out.
template <class Function>
Maker on_matrix(Function function) {
  return [function](const Case& work) -> Runner {
    return [function, out = work.out, input = work.inputs[0]] {
      using Matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      auto to = vector<float>(out);
      function(to, Eigen::Map<Matrix>(input.data_as<float>(), input.size(0), input.size(1)));
    };
  };
}

const std::map<std::string, Maker, std::less<>>& makers() {
  static const std::map<std::string, Maker, std::less<>> table = {
      {"copy", on_vectors<float, float>([](auto& out, const auto& x) { out = x; })},
      {"add", on_vectors<float, float, float>(
                  [](auto& out, const auto& x, const auto& y) { out = x + y; })},
      {"fma", on_vectors<float, float, float, float>(
                  [](auto& out, const auto& x, const auto& y, const auto& z) { out = x * y + z; })},
      {"clamp",
       on_vectors<float, float>([](auto& out, const auto& x) { out = x.max(-1.0F).min(1.0F); })},
      {"sqrt", on_vectors<float, float>([](auto& out, const auto& x) { out = x.sqrt(); })},
      {"exp", on_vectors<float, float>([](auto& out, const auto& x) { out = x.exp(); })},
      {"exp_f64", on_vectors<double, double>([](auto& out, const auto& x) { out = x.exp(); })},
      {"log", on_vectors<float, float>([](auto& out, const auto& x) { out = x.log(); })},
      {"sin", on_vectors<float, float>([](auto& out, const auto& x) { out = x.sin(); })},
      {"tanh", on_vectors<float, float>([](auto& out, const auto& x) { out = x.tanh(); })},
      {"erf", on_vectors<float, float>([](auto& out, const auto& x) { out = x.erf(); })},
      {"sigmoid", on_vectors<float, float>([](auto& out, const auto& x) { out = x.logistic(); })},
      {"silu_mul", on_vectors<float, float, float>([](auto& out, const auto& x, const auto& y) {
         out = x / (1.0F + (-x).exp()) * y;  // logistic() is further off than what is checked
       })},
      {"gelu_tanh", on_vectors<float, float>([](auto& out, const auto& x) {
         out = 0.5F * x * (1.0F + (0.79788456F * (x + 0.044715F * x * x * x)).tanh());
       })},
      {"pow", on_vectors<float, float, float>(
                  [](auto& out, const auto& x, const auto& y) { out = x.pow(y); })},
      {"lt", on_vectors<bool, float, float>(
                 [](auto& out, const auto& x, const auto& y) { out = x < y; })},
      {"where", on_vectors<float, bool, float, float>([](auto& out, const auto& x, const auto& y,
                                                         const auto& z) { out = x.select(y, z); })},
      {"sum_all", on_vectors<float, float>([](auto& out, const auto& x) { out[0] = x.sum(); })},
      {"amax_all",
       on_vectors<float, float>([](auto& out, const auto& x) { out[0] = x.maxCoeff(); })},
      {"sum_all_squares",
       on_vectors<float, float, float>(
           [](auto& out, const auto& x, const auto& y) { out[0] = (x + y).square().sum(); })},
      {"sum_inner", on_matrix([](auto& out, const auto& x) { out = x.rowwise().sum(); })},
      {"sum_outer", on_matrix([](auto& out, const auto& x) { out = x.colwise().sum(); })},
      {"amax_inner", on_matrix([](auto& out, const auto& x) { out = x.rowwise().maxCoeff(); })},
      {"amax_outer", on_matrix([](auto& out, const auto& x) { out = x.colwise().maxCoeff(); })},
      {"cast_u8_f32", cast_maker<float, std::uint8_t>()},
      {"cast_i64_f32", cast_maker<float, std::int64_t>()},
      {"cast_f64_f32", cast_maker<float, double>()},
      {"cast_f32_i32", cast_maker<std::int32_t, float>()},
      {"cast_f16_f32", cast_maker<float, Eigen::half>()},
      {"cast_bf16_f32", cast_maker<float, Eigen::bfloat16>()},
      {"cast_f32_f16", cast_maker<Eigen::half, float>()},
      {"cast_f32_bf16", cast_maker<Eigen::bfloat16, float>()},
  };
  return table;
}

Maker find(std::string_view workload) {
  const auto row = makers().find(workload);
  return row == makers().end() ? Maker() : row->second;
}

}  // namespace

void add_eigen_variant(std::vector<Variant>& variants) {
  variants.push_back({"eigen", Check::close, find});
}

}  // namespace weft::bench
