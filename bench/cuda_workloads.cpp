#include "bench/cuda_workloads.h"

#include <weft/expr.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::bench {
namespace {

/// The layout of a dense tensor of `sizes` whose dimensions are taken in another order.
std::string permuted(const char* dtype, const std::vector<std::int64_t>& sizes,
                     const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t dim = sizes.size() - 1; dim-- > 0;)
    strides[dim] = strides[dim + 1] * sizes[dim + 1];
  std::string shape, steps;
  for (const std::size_t dim : order) {
    shape += (shape.empty() ? "" : ",") + std::to_string(sizes[dim]);
    steps += (steps.empty() ? "" : ",") + std::to_string(strides[dim]);
  }
  return dtype + ("[" + shape + "]{" + steps + "}");
}

std::string without_strides(const std::string& layout) {
  return layout.substr(0, layout.find('{'));
}

/// Sides of squares, and lengths, that are several times the caches of a device.  `quick` ones are
/// for trying the program out.
struct Sizes {
  explicit Sizes(bool quick)
      : is_quick(quick),
        n(quick ? "4096" : "100000000"),
        s(quick ? "64" : "8192"),
        image(quick ? "8,7,7" : "64,56,56"),
        bias(quick ? "8,1,1" : "64,1,1"),
        batch(quick ? "4,16,32" : "64,512,1024"),
        batch_strides(quick ? "{512,1,16}" : "{524288,1,512}"),
        photos(quick ? "1,3,16,16" : "64,3,512,512"),
        pixels(quick ? "1000,3" : "33333333,3") {}

  std::string flat(const std::string& dtype) const { return dtype + "[" + n + "]"; }
  /// Of narrow items more, so that caches hold no more of them.
  std::string side(const std::string& dtype) const {
    return !is_quick && itemsize(dtype) < 4 ? "16384" : s;
  }
  std::string square(const std::string& dtype) const {
    return dtype + "[" + side(dtype) + "," + side(dtype) + "]";
  }
  std::string turned(const std::string& dtype) const {
    return square(dtype) + "{1," + side(dtype) + "}";
  }
  std::string images(const std::string& dtype) const {
    const std::size_t count = is_quick ? 2 : 1024 / itemsize(dtype);
    return dtype + "[" + std::to_string(count) + "," + image + "]";
  }
  static std::size_t itemsize(const std::string& dtype) {
    return itemsize_bytes(parse_layout(dtype + "[1]").dtype());
  }

  bool is_quick;
  std::string n, s, image, bias, batch, batch_strides, photos, pixels;
};

std::vector<CudaWorkload> pointwise(const Sizes& sizes) {
  const auto flat = [&](const char* dtype) { return sizes.flat(dtype); };
  const std::string image = sizes.images("f32"), bias = "f32[" + sizes.bias + "]";
  return {
      {"copy", "copy(a)", {flat("f32"), flat("f32")}},
      {"add", "a + b", {flat("f32"), flat("f32"), flat("f32")}},
      {"fma", "a*b + c", {flat("f32"), flat("f32"), flat("f32"), flat("f32")}},
      {"where", "where(a > 0.5, b, c)", {flat("f32"), flat("f32"), flat("f32"), flat("f32")}},
      {"clamp", "clamp(a, 0.2, 0.8)", {flat("f32"), flat("f32")}},
      {"exp", "exp(a)", {flat("f32"), flat("f32")}, false},
      {"tanh", "tanh(a)", {flat("f32"), flat("f32")}, false},
      {"sigmoid", "sigmoid(a)", {flat("f32"), flat("f32")}, false},
      {"silu_mul", "silu(a) * b", {flat("f32"), flat("f32"), flat("f32")}, false},
      {"slice_2x2", "copy(a)", {"f32[" + sizes.n + "]{2}", flat("f32")}},
      {"cast_f32_bf16", "cast(a, bf16)", {flat("f32"), flat("bf16")}},
      {"cast_bf16_f32", "cast(a, f32)", {flat("bf16"), flat("f32")}},
      {"cast_u8_f32", "cast(a, f32)", {flat("u8"), flat("f32")}},
      {"add_bf16", "a + b", {flat("bf16"), flat("bf16"), flat("bf16")}},
      {"add_i8", "a + b", {flat("i8"), flat("i8"), flat("i8")}},
      {"bcast_nchw", "a + b", {image, bias, image}},
      {"bcast_nhwc", "a + b", {image + ":channels_last", bias, image + ":channels_last"}},
      {"small_inner_3",
       "a + b",
       {"f32[" + sizes.pixels + "]", "f32[3]", "f32[" + sizes.pixels + "]"}},
  };
}

std::vector<CudaWorkload> layouts(const Sizes& sizes) {
  const std::string image = sizes.images("f32"), photos = "[" + sizes.photos + "]";
  std::vector<CudaWorkload> all = {
      {"conflict_add", "a + b", {image + ":channels_last", image, image + ":channels_last"}},
      {"normalize",
       "(cast(a, f32) / 255 - 0.45) / 0.225",
       {"u8" + photos + ":channels_last", "f32" + photos}},
      {"add_t", "a + b", {sizes.square("f32"), sizes.turned("f32"), sizes.square("f32")}},
      {"transpose_cast_f32_bf16",
       "cast(a, bf16)",
       {sizes.turned("f32"), sizes.square("f32").replace(0, 3, "bf16")}},
      {"batched_transpose",
       "copy(a)",
       {"f32[" + sizes.batch + "]" + sizes.batch_strides, "f32[" + sizes.batch + "]"}},
  };
  for (const char* dtype : {"f32", "bf16", "u8"}) {
    const std::string plain = sizes.images(dtype), last = plain + ":channels_last";
    all.push_back({std::string("nchw_to_nhwc_") + dtype, "copy(a)", {plain, last}});
    all.push_back({std::string("nhwc_to_nchw_") + dtype, "copy(a)", {last, plain}});
  }
  for (const char* dtype : {"u8", "u16", "f32", "f64", "c128"})
    all.push_back(
        {std::string("transpose_") + dtype, "copy(a)", {sizes.turned(dtype), sizes.square(dtype)}});
  using Shape = std::vector<std::int64_t>;
  const std::pair<const char*, std::string> permutations[] = {
      {"perm_0213", permuted("f32", sizes.is_quick ? Shape{2, 4, 16, 64} : Shape{256, 12, 512, 64},
                             {0, 2, 1, 3})},
      {"perm_3210",
       permuted("f32", sizes.is_quick ? Shape{5, 6, 7, 8} : Shape{80, 112, 96, 128}, {3, 2, 1, 0})},
      {"perm_6d",
       permuted("f32", sizes.is_quick ? Shape{7, 4, 9, 5, 8, 6} : Shape{20, 12, 20, 32, 18, 28},
                {1, 3, 5, 0, 4, 2})},
  };
  for (const auto& [name, layout] : permutations)
    all.push_back({name, "copy(a)", {layout, without_strides(layout)}});
  return all;
}

std::vector<CudaWorkload> folds(const Sizes& sizes) {
  const std::string flat = sizes.flat("f32"), square = sizes.square("f32");
  const std::string row = "f32[" + sizes.s + "]";
  return {
      {"sum_all", "sum(a)", {flat, "f32[]"}},
      {"sum_inner", "sum(a, dims=[1])", {square, row}},
      {"sum_outer", "sum(a, dims=[0])", {square, row}},
      {"argmax_inner", "argmax(a, dims=[1])", {square, "i64[" + sizes.s + "]"}},
      {"cumsum_inner", "cumsum(a, dim=1)", {square, square}},
      {"cumsum_outer", "cumsum(a, dim=0)", {square, square}},
      {"softmax",
       "exp(a - amax(a, dims=[1], keepdim=true)) / sum(exp(a - amax(a, dims=[1], keepdim=true)), "
       "dims=[1], keepdim=true)",
       {square, square},
       false},
      {"layer_norm",
       "(a - mean(a, dims=[1], keepdim=true)) / sqrt(mean(square(a - mean(a, dims=[1], "
       "keepdim=true)), dims=[1], keepdim=true) + 1e-5)",
       {square, square}},
  };
}

/// More elements than 32 bits count: what takes launches of several parts, or 64-bit indices.
std::vector<CudaWorkload> beyond_32_bits() {
  const std::string flat = "u8[2200000000]";
  return {
      {"add_u8_large", "a + b", {flat, flat, flat}},
      {"transpose_u8_large", "copy(a)", {"u8[40000,56000]{1,40000}", "u8[40000,56000]"}},
  };
}

}  // namespace

std::vector<CudaWorkload> cuda_workloads(bool quick) {
  const Sizes sizes(quick);
  std::vector<CudaWorkload> all = pointwise(sizes);
  for (std::vector<CudaWorkload> more :
       {layouts(sizes), folds(sizes), quick ? std::vector<CudaWorkload>() : beyond_32_bits()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace weft::bench
