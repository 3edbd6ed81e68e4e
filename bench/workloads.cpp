// The table of workloads.  A new row is measured in every variant that knows its expression.

#include "bench/support.h"

namespace weft::bench {
namespace {

const std::vector<std::string> flat = {"1e2", "1e3", "1e4", "1e5", "1e6", "3e7"};
const std::vector<std::string> activations = {"1x4x5x5", "1x16x25x25", "4x64x64x64",
                                              "32x64x121x121"};
const std::vector<std::string> images = {"1x3x32x32", "32x3x224x224", "32x64x56x56", "8x256x14x14",
                                         "32x64x121x121"};
const std::vector<std::string> squares = {"64x64", "512x512", "4096x4096", "5477x5477"};
const std::vector<std::string> matrices = {"100x100", "1000x1000", "5477x5477"};
const std::vector<std::string> channels = {"1x64x12x13", "8x64x44x44", "32x64x121x121"};
const std::vector<std::string> mixed_squares = {"64x64",     "512x512",   "1000x1000",
                                                "2048x2048", "4096x4096", "5477x5477"};

/// An expression over contiguous vectors of one dtype.
Workload on_vectors(std::string name, std::string expression, int num_inputs,
                    const std::string& dtype, const std::string& out_dtype = "",
                    bool positive = false) {
  const std::string layout = dtype + "[#]";
  return {std::move(name),
          std::move(expression),
          std::vector<std::string>(num_inputs, layout),
          out_dtype.empty() ? layout : out_dtype + "[#]",
          flat,
          positive};
}

Workload with_sizes(Workload workload, const std::vector<std::string>& more) {
  workload.sizes.insert(workload.sizes.end(), more.begin(), more.end());
  return workload;
}

Workload cast_between(const std::string& from, const std::string& to) {
  return on_vectors("cast_" + from + "_" + to, "cast(a, " + to + ")", 1, from, to);
}

Workload transpose(const std::string& suffix, const std::string& dtype) {
  return {"transpose_" + suffix, "copy(a)", {dtype + "[#]{1,#0}"}, dtype + "[#]", squares};
}

/// chain_1 is one operation, chain_k a chain of k over the same operands: on large ones they cost
/// what the memory costs, until their arithmetic (`hand` on small ones) costs more.
Workload chain(int length) {
  std::string expression = "a + b";
  for (int i = 2; i <= length; ++i)
    expression = "(" + expression + (i % 2 == 0 ? ") * a" : ") - b");
  return on_vectors("chain_" + std::to_string(length), expression, 2, "f32");
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> table = {
      with_sizes(on_vectors("copy", "copy(a)", 1, "f32"), {"6.7e7"}),
      // Of more elements: what layouts that disagree are compared with.
      with_sizes(on_vectors("add", "a + b", 2, "f32"), {"3e6", "2048x2048"}),
      on_vectors("fma", "a*b + c", 3, "f32"),
      chain(1),
      chain(4),
      chain(8),
      chain(16),
      chain(24),
      chain(32),
      on_vectors("add_i8", "a + b", 2, "i8"),
      on_vectors("add_i16", "a + b", 2, "i16"),
      with_sizes(on_vectors("lt", "a < b", 2, "f32", "bool"), {"2048x2048"}),
      on_vectors("clamp", "clamp(a, -1, 1)", 1, "f32"),
      on_vectors("sqrt", "sqrt(a)", 1, "f32", "", true),
      on_vectors("exp", "exp(a)", 1, "f32"),
      on_vectors("exp_f64", "exp(a)", 1, "f64"),
      on_vectors("log", "log(a)", 1, "f32", "", true),
      on_vectors("sin", "sin(a)", 1, "f32"),
      on_vectors("tanh", "tanh(a)", 1, "f32"),
      on_vectors("erf", "erf(a)", 1, "f32"),
      on_vectors("sigmoid", "sigmoid(a)", 1, "f32"),
      on_vectors("silu_mul", "silu(a) * b", 2, "f32"),
      on_vectors("gelu_tanh", "gelu_tanh(a)", 1, "f32"),
      on_vectors("pow", "pow(a, b)", 2, "f32", "", true),
      {"where", "where(a, b, c)", {"bool[#]", "f32[#]", "f32[#]"}, "f32[#]", flat},
      cast_between("u8", "f32"),
      cast_between("f16", "f32"),
      cast_between("bf16", "f32"),
      cast_between("i64", "f32"),
      cast_between("f64", "f32"),
      cast_between("f32", "f16"),
      cast_between("f32", "bf16"),
      cast_between("f32", "i32"),
      {"normalize",
       "(a / 255 - b) / c",
       {"u8[#0,#3,#1,#2]:channels_last", "f32[#3,1,1]", "f32[#3,1,1]"},
       "f32[#0,#3,#1,#2]",
       {"1x224x224x3", "1x512x512x3", "32x224x224x3"},
       true},
      {"bcast_nchw", "a + b", {"f32[#]", "f32[#1,1,1]"}, "f32[#]", activations},
      {"bcast_nhwc",
       "a + b",
       {"f32[#]:channels_last", "f32[#1,1,1]"},
       "f32[#]:channels_last",
       activations},
      {"conflict_add",
       "a + b",
       {"f32[#]:channels_last", "f32[#]"},
       "f32[#]:channels_last",
       activations},
      {"nchw_to_nhwc", "copy(a)", {"f32[#]"}, "f32[#]:channels_last", images},
      {"nhwc_to_nchw", "copy(a)", {"f32[#]:channels_last"}, "f32[#]", images},
      transpose("u8", "u8"),
      transpose("u16", "u16"),
      transpose("f32", "f32"),
      transpose("f64", "f64"),
      transpose("c128", "c128"),
      {"transpose_cast_f32_bf16", "cast(a, bf16)", {"f32[#]{1,#0}"}, "bf16[#]", squares},
      {"batched_transpose", "copy(a)", {"f32[#]{#1*#2,1,#1}"}, "f32[#]", {"8x64x64", "8x512x1024"}},
      {"add_t", "a + b", {"f32[#]", "f32[#]{1,#0}"}, "f32[#]", mixed_squares},
      {"gt_t", "a > b", {"f32[#]{1,#0}", "f32[#]"}, "bool[#]", mixed_squares},
      {"slice_2x2", "copy(a)", {"f32[#]{#1*4,2}"}, "f32[#]", {"64x64", "2048x2048"}},
      {"slice_2x3", "copy(a)", {"f32[#]{#1*6,3}"}, "f32[#]", {"64x64", "2048x2048"}},
      {"perm_0213",
       "copy(a)",
       {"f32[#]{#1*#2*#3,#3,#1*#3,1}"},
       "f32[#]",
       {"2x16x4x64", "8x128x12x64", "32x512x12x64"}},
      {"perm_3210",
       "copy(a)",
       {"f32[#]{1,#0,#0*#1,#0*#1*#2}"},
       "f32[#]",
       {"10x10x10x10", "64x48x56x40"}},
      {"perm_6d",
       "copy(a)",
       {"f32[#]{#2*#4*#1*#5,#2*#4,1,#2*#4*#1*#5*#0,#2,#2*#4*#1}"},
       "f32[#]",
       {"4x5x6x7x8x9", "12x16x14x10x18x20"}},
      {"sum_all", "sum(a)", {"f32[#]"}, "f32[]", flat, true},
      {"sum_all_squares", "sum(square(a + b))", {"f32[#]", "f32[#]"}, "f32[]", flat, true},
      {"sum_inner", "sum(a, dims=[1])", {"f32[#]"}, "f32[#0]", matrices, true},
      {"sum_outer", "sum(a, dims=[0])", {"f32[#]"}, "f32[#1]", matrices, true},
      {"sum_inner_t", "sum(a, dims=[0])", {"f32[#]{1,#0}"}, "f32[#1]", matrices, true},
      {"sum_middle",
       "sum(a, dims=[1])",
       {"f32[#]"},
       "f32[#0,#2]",
       {"4x32x784", "64x256x3136"},
       true},
      {"sum_nhw_nchw", "sum(a, dims=[0,2,3])", {"f32[#]"}, "f32[#1]", channels, true},
      {"sum_nhw_nhwc", "sum(a, dims=[0,2,3])", {"f32[#]:channels_last"}, "f32[#1]", channels, true},
      {"amax_all", "amax(a)", {"f32[#]"}, "f32[]", flat},
      {"amax_inner", "amax(a, dims=[1])", {"f32[#]"}, "f32[#0]", matrices},
      {"amax_outer", "amax(a, dims=[0])", {"f32[#]"}, "f32[#1]", matrices},
      {"argmax_all", "argmax(a)", {"f32[#]"}, "i64[]", flat},
      {"argmax_inner", "argmax(a, dims=[1])", {"f32[#]"}, "i64[#0]", matrices},
      {"argmax_outer", "argmax(a, dims=[0])", {"f32[#]"}, "i64[#1]", matrices},
      {"range_all", "amax(a) - amin(a)", {"f32[#]"}, "f32[]", flat},
      {"range_outer", "amax(a, dims=[0]) - amin(a, dims=[0])", {"f32[#]"}, "f32[#1]", matrices},
      {"sum_and_squares", "sum(a) / sum(a * a)", {"f32[#]"}, "f32[]", flat, true},
      {"cumsum_inner", "cumsum(a, dim=1)", {"f32[#]"}, "f32[#]", matrices, true},
      {"cumsum_outer", "cumsum(a, dim=0)", {"f32[#]"}, "f32[#]", matrices, true},
      {"cumsum_product", "cumsum(a * b, dim=1)", {"f32[#]", "f32[#]"}, "f32[#]", matrices, true},
      {"softmax",
       "exp(a - amax(a, dims=[1], keepdim=true)) / sum(exp(a - amax(a, dims=[1], keepdim=true)), "
       "dims=[1], keepdim=true)",
       {"f32[#]"},
       "f32[#]",
       {"64x128", "2048x2048", "8192x5120"}},
      {"layer_norm",
       "(a - mean(a, dims=[1], keepdim=true)) / sqrt(mean(square(a - mean(a, dims=[1], "
       "keepdim=true)), dims=[1], keepdim=true) + 1e-5)",
       {"f32[#]"},
       "f32[#]",
       {"64x128", "4096x768", "8192x5120"}},
      {"small_inner_3", "a + b", {"f32[#,3]", "f32[3]"}, "f32[#,3]", {"1e4", "1e6"}},
  };
  return table;
}

}  // namespace weft::bench
