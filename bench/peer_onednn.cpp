// oneDNN primitives, built beforehand: reorder for copies and casts, binary for sums, eltwise for
// functions, softmax and layer normalisation.

#include "bench/support.h"

#include <omp.h>
#include <dnnl.hpp>

#include <map>
#include <optional>
#include <set>

namespace weft::bench {
namespace {

using dnnl::memory;

std::optional<memory::data_type> data_type(DType dtype) {
  switch (dtype) {
    case DType::u8: return memory::data_type::u8;
    case DType::i8: return memory::data_type::s8;
    case DType::i32: return memory::data_type::s32;
    case DType::f16: return memory::data_type::f16;
    case DType::bf16: return memory::data_type::bf16;
    case DType::f32: return memory::data_type::f32;
    default: return {};
  }
}

memory as_memory(const Tensor& tensor, int ndim, const dnnl::engine& engine) {
  // A dimension of size 1 in front for each that is missing: oneDNN broadcasts only equal ranks.
  memory::dims sizes(ndim - tensor.dim(), 1), strides(ndim - tensor.dim(), tensor.numel());
  sizes.insert(sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
  strides.insert(strides.end(), tensor.strides().begin(), tensor.strides().end());
  return {{sizes, *data_type(tensor.dtype()), strides}, engine, tensor.data()};
}

Runner make_reorder(const Case& work) {
  omp_set_num_threads(1);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  memory from = as_memory(work.inputs[0], work.out.dim(), engine),
         to = as_memory(work.out, work.out.dim(), engine);
  return [primitive = dnnl::reorder(from, to), stream, from, to]() mutable {
    primitive.execute(stream, from, to);
  };
}

Runner make_add(const Case& work) {
  omp_set_num_threads(1);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const int ndim = work.out.dim();
  const memory a = as_memory(work.inputs[0], ndim, engine),
               b = as_memory(work.inputs[1], ndim, engine), out = as_memory(work.out, ndim, engine);
  const dnnl::binary::desc description(dnnl::algorithm::binary_add, a.get_desc(), b.get_desc(),
                                       out.get_desc());
  const dnnl::binary primitive({description, engine});
  return [primitive, stream, a, b, out]() mutable {
    primitive.execute(stream, {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, out}});
  };
}

/// A primitive from one tensor to the other.
template <class Primitive, class MakeDescription>
Runner make_from_to(const Case& work, const MakeDescription& make_description) {
  omp_set_num_threads(1);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory from = as_memory(work.inputs[0], work.inputs[0].dim(), engine),
               to = as_memory(work.out, work.out.dim(), engine);
  const Primitive primitive({make_description(from.get_desc(), to.get_desc()), engine});
  return [primitive, stream, from, to]() mutable {
    primitive.execute(stream, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  };
}

template <dnnl::algorithm algorithm>
Runner make_eltwise(const Case& work) {
  return make_from_to<dnnl::eltwise_forward>(
      work, [](const memory::desc& from, const memory::desc&) -> dnnl::eltwise_forward::desc {
        return {dnnl::prop_kind::forward_inference, algorithm, from, -1, 1};  // -1, 1: of clip
      });
}

Runner make_softmax(const Case& work) {
  return make_from_to<dnnl::softmax_forward>(
      work, [](const memory::desc& from, const memory::desc&) -> dnnl::softmax_forward::desc {
        return {dnnl::prop_kind::forward_inference, from, 1};
      });
}

Runner make_layer_norm(const Case& work) {
  using Normalisation = dnnl::layer_normalization_forward;
  return make_from_to<Normalisation>(
      work, [](const memory::desc& from, const memory::desc&) -> Normalisation::desc {
        return {dnnl::prop_kind::forward_inference, from, 1e-5F, dnnl::normalization_flags::none};
      });
}

Maker find_function(std::string_view workload) {
  using dnnl::algorithm;
  static const std::map<std::string, Maker, std::less<>> functions = {
      {"clamp", make_eltwise<algorithm::eltwise_clip_v2>},
      {"exp", make_eltwise<algorithm::eltwise_exp>},
      {"gelu_tanh", make_eltwise<algorithm::eltwise_gelu_tanh>},
      {"layer_norm", make_layer_norm},
      {"log", make_eltwise<algorithm::eltwise_log>},
      {"sigmoid", make_eltwise<algorithm::eltwise_logistic>},
      {"softmax", make_softmax},
      {"sqrt", make_eltwise<algorithm::eltwise_sqrt>},
      {"tanh", make_eltwise<algorithm::eltwise_tanh>},
  };
  const auto row = functions.find(workload);
  return row == functions.end() ? Maker() : row->second;
}

Maker find(std::string_view workload) {
  static const std::set<std::string, std::less<>> reorders = {
      "copy",          "nchw_to_nhwc",      "nhwc_to_nchw",  "transpose_u8",
      "transpose_f32", "batched_transpose", "perm_6d",       "transpose_cast_f32_bf16",
      "perm_0213",     "perm_3210",         "slice_2x2",     "slice_2x3",
      "cast_u8_f32",   "cast_bf16_f32",     "cast_f32_bf16", "cast_f32_f16",
      "cast_f16_f32"};
  static const std::set<std::string, std::less<>> sums = {"add", "bcast_nchw", "bcast_nhwc",
                                                          "conflict_add", "add_t"};
  if (reorders.contains(workload)) return make_reorder;
  if (sums.contains(workload)) return make_add;
  return find_function(workload);
}

}  // namespace

void add_onednn_variant(std::vector<Variant>& variants) {
  variants.push_back({"onednn", Check::close, find});
}

}  // namespace weft::bench
