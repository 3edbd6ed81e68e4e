// PyTorch's C++ API, eager, one thread, inference mode, results written into given outputs.

#include "bench/calls.h"
#include "bench/measure.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <benchmark/benchmark.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>

namespace weft::bench {
namespace {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return at::kBool;
    case DType::u8: return at::kByte;
    case DType::i8: return at::kChar;
    case DType::u16:
    case DType::i16: return at::kShort;  // a copy of u16 is one of i16
    case DType::i32: return at::kInt;
    case DType::i64: return at::kLong;
    case DType::f16: return at::kHalf;
    case DType::bf16: return at::kBFloat16;
    case DType::f64: return at::kDouble;
    case DType::c128: return at::kComplexDouble;
    default: return at::kFloat;
  }
}

/// The same bytes in the same layout.
at::Tensor as_torch(const Tensor& tensor) {
  const std::vector<std::int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const std::vector<std::int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  return at::from_blob(tensor.data(), sizes, strides, scalar_type(tensor.dtype()));
}

using Inputs = std::vector<at::Tensor>;
/// `kept` are tensors of the workload's own, made by its first call.
using Work = void (*)(at::Tensor& out, const Inputs& in, Inputs& kept);

/// The sum of (a + b)^2, whose terms lie in memory that is there already.
void sum_squares(at::Tensor& out, const Inputs& in, Inputs& kept) {
  if (kept.empty()) kept.push_back(at::empty_like(in[0]));
  at::add_out(kept[0], in[0], in[1]);
  kept[0].mul_(kept[0]);
  at::sum_out(out, kept[0], at::IntArrayRef{});
}

/// Gives the calls of one workload the memory that its first call was given, in the same order:
/// for what has no form with a given output.
class KeptMemory : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size_bytes) const override {
    if (next_ == kept_.size()) kept_.push_back(system_->allocate(size_bytes));
    return {kept_[next_++].get(), c10::Device(c10::kCPU)};
  }

  /// Calls `call` with it, which leaves nothing behind.
  template <class Call>
  void with(const Call& call) {
    const Scope scope(*this);
    call();
  }

 private:
  /// Also where the call throws, PyTorch is left with its own allocator.
  class Scope {
   public:
    explicit Scope(KeptMemory& memory) : memory_(memory) {
      memory.next_ = 0;
      c10::SetCPUAllocator(&memory);
    }
    ~Scope() { c10::SetCPUAllocator(memory_.system_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    KeptMemory& memory_;
  };

  c10::Allocator* system_ = c10::GetCPUAllocator();
  mutable std::vector<c10::DataPtr> kept_;
  mutable std::size_t next_ = 0;
};

const std::map<std::string, Work, std::less<>>& works() {
  static constexpr Work copy = [](at::Tensor& out, const Inputs& in, Inputs&) { out.copy_(in[0]); };
  static constexpr Work add = [](at::Tensor& out, const Inputs& in, Inputs&) {
    at::add_out(out, in[0], in[1]);
  };
  static constexpr Work sum_all = [](at::Tensor& out, const Inputs& in, Inputs&) {
    at::sum_out(out, in[0], at::IntArrayRef{});
  };
  static constexpr Work sum_rows = [](at::Tensor& out, const Inputs& in, Inputs&) {
    at::sum_out(out, in[0], {1});
  };
  static constexpr Work sum_columns = [](at::Tensor& out, const Inputs& in, Inputs&) {
    at::sum_out(out, in[0], {0});
  };
  static constexpr Work sum_channels = [](at::Tensor& out, const Inputs& in, Inputs&) {
    at::sum_out(out, in[0], {0, 2, 3});
  };
  static const std::map<std::string, Work, std::less<>> table = {
      {"sum_all", sum_all},
      {"softmax",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::softmax_out(out, in[0], 1); }},
      {"sum_inner", sum_rows},
      {"sum_middle", sum_rows},
      {"sum_outer", sum_columns},
      {"sum_inner_t", sum_columns},
      {"sum_nhw_nchw", sum_channels},
      {"sum_nhw_nhwc", sum_channels},
      {"sum_all_squares", sum_squares},
      {"amax_all", [](at::Tensor& out, const Inputs& in,
                      Inputs&) { at::amax_out(out, in[0], at::IntArrayRef{}); }},
      {"amax_inner",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::amax_out(out, in[0], {1}); }},
      {"amax_outer",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::amax_out(out, in[0], {0}); }},
      {"argmax_all",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::argmax_out(out, in[0]); }},
      {"argmax_inner",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::argmax_out(out, in[0], 1); }},
      {"argmax_outer",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::argmax_out(out, in[0], 0); }},
      {"cumsum_inner",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::cumsum_out(out, in[0], 1); }},
      {"cumsum_outer",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::cumsum_out(out, in[0], 0); }},
      {"copy", copy},
      {"cast_u8_f32", copy},
      {"cast_f16_f32", copy},
      {"cast_bf16_f32", copy},
      {"cast_i64_f32", copy},
      {"cast_f64_f32", copy},
      {"cast_f32_f16", copy},
      {"cast_f32_bf16", copy},
      {"cast_f32_i32", copy},
      {"nchw_to_nhwc", copy},
      {"nhwc_to_nchw", copy},
      {"transpose_u8", copy},
      {"transpose_u16", copy},
      {"transpose_f32", copy},
      {"transpose_f64", copy},
      {"transpose_c128", copy},
      {"transpose_cast_f32_bf16", copy},
      {"batched_transpose", copy},
      {"perm_6d", copy},
      {"slice_2x2", copy},
      {"slice_2x3", copy},
      {"perm_0213", copy},
      {"perm_3210", copy},
      {"add", add},
      {"add_i8", add},
      {"add_i16", add},
      {"add_t", add},
      {"bcast_nchw", add},
      {"bcast_nhwc", add},
      {"conflict_add", add},
      {"small_inner_3", add},
      {"fma", [](at::Tensor& out, const Inputs& in,
                 Inputs&) { at::addcmul_out(out, in[2], in[0], in[1]); }},
      {"exp", [](at::Tensor& out, const Inputs& in, Inputs&) { at::exp_out(out, in[0]); }},
      {"exp_f64", [](at::Tensor& out, const Inputs& in, Inputs&) { at::exp_out(out, in[0]); }},
      {"log", [](at::Tensor& out, const Inputs& in, Inputs&) { at::log_out(out, in[0]); }},
      {"sin", [](at::Tensor& out, const Inputs& in, Inputs&) { at::sin_out(out, in[0]); }},
      {"tanh", [](at::Tensor& out, const Inputs& in, Inputs&) { at::tanh_out(out, in[0]); }},
      {"erf", [](at::Tensor& out, const Inputs& in, Inputs&) { at::erf_out(out, in[0]); }},
      {"sigmoid", [](at::Tensor& out, const Inputs& in, Inputs&) { at::sigmoid_out(out, in[0]); }},
      {"silu_mul",
       [](at::Tensor& out, const Inputs& in, Inputs&) {
         at::silu_out(out, in[0]);
         out.mul_(in[1]);
       }},
      {"gelu_tanh",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::gelu_out(out, in[0], "tanh"); }},
      {"pow", [](at::Tensor& out, const Inputs& in, Inputs&) { at::pow_out(out, in[0], in[1]); }},
      {"gt_t", [](at::Tensor& out, const Inputs& in, Inputs&) { at::gt_out(out, in[0], in[1]); }},
      {"lt", [](at::Tensor& out, const Inputs& in, Inputs&) { at::lt_out(out, in[0], in[1]); }},
      {"clamp",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::clamp_out(out, in[0], -1, 1); }},
      {"sqrt", [](at::Tensor& out, const Inputs& in, Inputs&) { at::sqrt_out(out, in[0]); }},
      {"where",
       [](at::Tensor& out, const Inputs& in, Inputs&) { at::where_out(out, in[0], in[1], in[2]); }},
      {"normalize",
       [](at::Tensor& out, const Inputs& in, Inputs&) {
         out.copy_(in[0]);
         out.div_(255).sub_(in[1]).div_(in[2]);
       }},
  };
  return table;
}

/// The result is copied where it is looked at.
Runner layer_norm(const Case& benched) {
  at::set_num_threads(1);
  return [in = as_torch(benched.inputs[0]), out = as_torch(benched.out),
          kept = std::make_shared<KeptMemory>()]() mutable {
    const c10::InferenceMode guard;
    kept->with([&] {
      const at::Tensor result = at::layer_norm(in, {in.size(1)});
      if (*out.data_ptr<float>() != *result.data_ptr<float>()) out.copy_(result);
    });
  };
}

Maker find(std::string_view workload) {
  if (workload == "layer_norm") return layer_norm;
  const auto row = works().find(workload);
  if (row == works().end()) return {};
  return [work = row->second](const Case& benched) -> Runner {
    at::set_num_threads(1);
    Inputs inputs;
    for (const Tensor& input : benched.inputs) inputs.push_back(as_torch(input));
    return [work, inputs, out = as_torch(benched.out), kept = Inputs()]() mutable {
      const c10::InferenceMode guard;
      work(out, inputs, kept);
    };
  };
}

void call_out(benchmark::State& state, const AddOperands& operands) {
  const c10::InferenceMode guard;
  const at::Tensor a = as_torch(operands.a), b = as_torch(operands.b);
  at::Tensor out = as_torch(operands.out);
  if (!adds(operands, [&] { at::add_out(out, a, b); })) return state.SkipWithError("wrong result");
  measure(state, [&] { at::add_out(out, a, b); });
}

void call_new(benchmark::State& state, const AddOperands& operands) {
  const c10::InferenceMode guard;
  const at::Tensor a = as_torch(operands.a), b = as_torch(operands.b);
  at::Tensor out = as_torch(operands.out);
  if (!adds(operands, [&] { out.copy_(at::add(a, b)); }))
    return state.SkipWithError("wrong result");
  measure(state, [&] {
    at::Tensor result = at::add(a, b);
    benchmark::DoNotOptimize(result);
  });
}

/// The iterator alone, with the options of PyTorch's binary_op.
void plan(benchmark::State& state, const AddOperands& operands) {
  const c10::InferenceMode guard;
  const at::Tensor a = as_torch(operands.a), b = as_torch(operands.b);
  const at::Tensor out = as_torch(operands.out);
  measure(state, [&] {
    at::TensorIterator iterator = at::TensorIteratorConfig()
                                      .set_check_mem_overlap(true)
                                      .add_output(out)
                                      .add_input(a)
                                      .add_input(b)
                                      .allow_cpu_scalars(true)
                                      .promote_inputs_to_common_dtype(true)
                                      .cast_common_dtype_to_outputs(true)
                                      .enforce_safe_casting_to_output(true)
                                      .build();
    benchmark::DoNotOptimize(iterator);
  });
}

}  // namespace

void add_torch_variant(std::vector<Variant>& variants) {
  variants.push_back({"torch", Check::close, find});
}

void register_torch_call_benchmarks() {
  using benchmark::RegisterBenchmark, benchmark::State;
  RegisterBenchmark("call_add8_out/torch/8", [](State& state) { call_out(state, add8()); });
  RegisterBenchmark("call_add8_new/torch/8", [](State& state) { call_new(state, add8()); });
  RegisterBenchmark("call_add4d_out/torch/2x3x4x5", [](State& state) { call_out(state, add4d()); });
  RegisterBenchmark("call_add4d_new/torch/2x3x4x5", [](State& state) { call_new(state, add4d()); });
  RegisterBenchmark("plan_1d/torch/8", [](State& state) { plan(state, add8()); });
  RegisterBenchmark("plan_4d_contiguous/torch/2x3x4x5",
                    [](State& state) { plan(state, add4d_contiguous()); });
  RegisterBenchmark("plan_4d_permuted/torch/2x3x4x5", [](State& state) { plan(state, add4d()); });
  RegisterBenchmark("fresh_output/torch/3e7", [](State& state) {
    at::set_num_threads(1);
    call_new(state, add_large());
  })->Repetitions(num_large_repetitions);
}

}  // namespace weft::bench
