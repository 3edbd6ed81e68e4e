// xtensor expressions over adapted buffers, shapes known at run time.

#include "bench/support.h"

#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include <array>

namespace weft::bench {
namespace {

auto vector(const Tensor& tensor) {
  const std::array<std::size_t, 1> shape{static_cast<std::size_t>(tensor.numel())};
  return xt::adapt(tensor.data_as<float>(), shape[0], xt::no_ownership(), shape);
}

Maker find(std::string_view workload) {
  if (workload == "copy")
    return [](const Case& work) -> Runner {
      return [out = work.out, x = work.inputs[0]] { xt::noalias(vector(out)) = vector(x); };
    };
  if (workload == "add")
    return [](const Case& work) -> Runner {
      return [out = work.out, x = work.inputs[0], y = work.inputs[1]] {
        xt::noalias(vector(out)) = vector(x) + vector(y);
      };
    };
  if (workload == "fma")
    return [](const Case& work) -> Runner {
      return [out = work.out, x = work.inputs[0], y = work.inputs[1], z = work.inputs[2]] {
        xt::noalias(vector(out)) = vector(x) * vector(y) + vector(z);
      };
    };
  return {};
}

}  // namespace

void add_xtensor_variant(std::vector<Variant>& variants) {
  variants.push_back({"xtensor", Check::close, find});
}

}  // namespace weft::bench
