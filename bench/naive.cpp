// What one writes without thinking: one loop over all elements, each index taken apart by division
// and multiplied with the strides of every operand.

#include "bench/support.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace weft::bench {
namespace {

constexpr int max_naive_dims = 6;
using Index = std::array<std::int64_t, max_naive_dims>;

/// An operand broadcast to the shape of the output.
template <class T>
struct Strided {
  T* data;
  Index strides{};

  Strided(const Tensor& tensor, IntSpan sizes) : data(tensor.data_as<T>()) {
    std::ranges::copy(tensor.expand(sizes).strides(), strides.begin());
  }
  T& at(const Index& index, int ndim) const {
    std::int64_t offset = 0;
    for (int dim = 0; dim < ndim; ++dim) offset += index[dim] * strides[dim];
    return data[offset];
  }
};

template <class Out, class... In, class Function>
Runner loop(const Case& work, Function function) {
  const IntSpan sizes = work.out.sizes();
  const auto in = [&]<std::size_t... k>(std::index_sequence<k...>) {
    return std::tuple{Strided<In>(work.inputs[k], sizes)...};
  }
  (std::index_sequence_for<In...>{});
  Index extents{};
  std::ranges::copy(sizes, extents.begin());
  return [out = Strided<Out>(work.out, sizes), in, extents, ndim = work.out.dim(),
          numel = work.out.numel(), function] {
    Index index{};
    for (std::int64_t i = 0; i < numel; ++i) {
      std::int64_t rest = i;
      for (int dim = ndim - 1; dim > 0; --dim) {
        index[dim] = rest % extents[dim];
        rest /= extents[dim];
      }
      index[0] = rest;
      out.at(index, ndim) = std::apply(
          [&](const auto&... x) { return static_cast<Out>(function(x.at(index, ndim)...)); }, in);
    }
  };
}

template <class Out, class... In, class Function>
Maker maker(Function function) {
  return [function](const Case& work) { return loop<Out, In...>(work, function); };
}

/// Copies move bits, whatever they mean.
Maker copy_maker() {
  return [](const Case& work) -> Runner {
    const auto same = [](auto x) { return x; };
    switch (itemsize_bytes(work.out.dtype())) {
      case 1: return loop<std::uint8_t, std::uint8_t>(work, same);
      case 4: return loop<float, float>(work, same);
      default: return loop<double, double>(work, same);
    }
  };
}

const std::map<std::string, Maker, std::less<>>& makers() {
  const auto add = [](auto x, auto y) { return x + y; };
  const auto same = [](auto x) { return x; };
  static const std::map<std::string, Maker, std::less<>> table = {
      {"copy", copy_maker()},
      {"nchw_to_nhwc", copy_maker()},
      {"nhwc_to_nchw", copy_maker()},
      {"transpose_u8", copy_maker()},
      {"transpose_f32", copy_maker()},
      {"transpose_f64", copy_maker()},
      {"batched_transpose", copy_maker()},
      {"perm_6d", copy_maker()},
      {"slice_2x2", copy_maker()},
      {"slice_2x3", copy_maker()},
      {"perm_0213", copy_maker()},
      {"perm_3210", copy_maker()},
      {"add", maker<float, float, float>(add)},
      {"add_t", maker<float, float, float>(add)},
      {"small_inner_3", maker<float, float, float>(add)},
      {"bcast_nchw", maker<float, float, float>(add)},
      {"bcast_nhwc", maker<float, float, float>(add)},
      {"conflict_add", maker<float, float, float>(add)},
      {"add_i8", maker<std::int8_t, std::int8_t, std::int8_t>(add)},
      {"add_i16", maker<std::int16_t, std::int16_t, std::int16_t>(add)},
      {"fma",
       maker<float, float, float, float>([](float x, float y, float z) { return x * y + z; })},
      {"gt_t", maker<bool, float, float>([](float x, float y) { return x > y; })},
      {"lt", maker<bool, float, float>([](float x, float y) { return x < y; })},
      {"where",
       maker<float, bool, float, float>([](bool x, float y, float z) { return x ? y : z; })},
      {"clamp", maker<float, float>([](float x) { return std::min(std::max(x, -1.0F), 1.0F); })},
      {"sqrt", maker<float, float>([](float x) { return std::sqrt(x); })},
      {"cast_u8_f32", maker<float, std::uint8_t>(same)},
      {"cast_i64_f32", maker<float, std::int64_t>(same)},
      {"cast_f64_f32", maker<float, double>(same)},
      {"cast_f32_i32", maker<std::int32_t, float>(same)},
      {"normalize",
       maker<float, std::uint8_t, float, float>([](std::uint8_t x, float mean, float std) {
         return (static_cast<float>(x) / 255.0F - mean) / std;
       })},
  };
  return table;
}

Maker find(std::string_view workload) {
  const auto row = makers().find(workload);
  return row == makers().end() ? Maker() : row->second;
}

}  // namespace

void add_naive_variant(std::vector<Variant>& variants) {
  variants.push_back({"naive", Check::bits, find});
}

}  // namespace weft::bench
