// Every op in every dtype it computes in, and every cast, as CUDA source that runs on the CPU,
// against the interpreter.  One kernel has many ops, each with an output of its own.
#include "ir/vector_math.h"
#include "jit/nvrtc/operators.h"
#include "runtime/cuda_libraries.h"
#include "tests/jit/nvrtc/batch.h"

#include <algorithm>

namespace weft::jit::test {
namespace {

constexpr std::int64_t num_items = 333;

ir::ValueId append(ir::Kernel& kernel, const ir::Inst& inst) {
  kernel.body.push_back(inst);
  return static_cast<ir::ValueId>(kernel.body.size() - 1);
}

/// Collects values into one kernel of several outputs.
class Collector {
 public:
  Collector(NvrtcBatch& batch, DType dtype, Tolerance tolerance,
            Numerics numerics = Numerics::standard)
      : batch_(batch), dtype_(dtype), tolerance_(tolerance), numerics_(numerics) {
    begin();
  }

  void add_op(Op op) {
    ir::Inst inst{.op = op, .dtype = dtype_};
    for (int i = 0; i < info(op).arity; ++i)
      inst.args[static_cast<std::size_t>(i)] = info(op).result == ResultRule::select
                                                   ? static_cast<ir::ValueId>(i == 0 ? 4 : i - 1)
                                                   : static_cast<ir::ValueId>(i);
    add(inst);
  }
  void add_cast(DType to) {
    ir::Inst inst{.op = Op::cast, .dtype = to};
    inst.args[0] = 0;
    add(inst);
  }
  void flush() {
    if (outputs_.empty()) return;
    std::vector<ir::Operand> operands;
    const auto num_outputs = static_cast<std::uint8_t>(outputs_.size());
    for (std::uint8_t i = 0; i < num_outputs; ++i) {
      const DType dtype = result_dtype(kernel_.body[outputs_[i]]);
      operands.push_back({dtype, ir::Role::output, {1}});
      ir::Inst store{.op = Op::store, .dtype = dtype, .operand = i};
      store.args[0] = outputs_[i];
      append(kernel_, store);
    }
    for (ir::Inst& inst : kernel_.body)
      if (inst.op == Op::load) inst.operand = static_cast<std::uint8_t>(inst.operand + num_outputs);
    operands.insert(operands.end(), kernel_.operands.begin(), kernel_.operands.end());
    kernel_.operands = std::move(operands);
    std::vector<std::vector<std::int64_t>> strides;
    for (const ir::Operand& operand : kernel_.operands)
      strides.push_back({static_cast<std::int64_t>(itemsize_bytes(operand.dtype))});
    batch_.add(kernel_, {num_items}, strides, tolerance_);
    begin();
  }

 private:
  static constexpr std::size_t max_outputs = 8;

  void begin() {
    kernel_ = {};
    kernel_.numerics = numerics_;
    kernel_.loops.resize(1);
    outputs_.clear();
    for (std::uint8_t k = 0; k < 5; ++k) {
      const DType dtype = k == 4 ? DType::boolean : dtype_;
      kernel_.operands.push_back({dtype, ir::Role::input, {1}});
      append(kernel_, {.op = Op::load, .dtype = dtype, .operand = k});
    }
  }
  void add(const ir::Inst& inst) {
    outputs_.push_back(append(kernel_, inst));
    if (outputs_.size() == max_outputs) flush();
  }

  NvrtcBatch& batch_;
  DType dtype_;
  Tolerance tolerance_;
  Numerics numerics_;
  ir::Kernel kernel_;
  std::vector<ir::ValueId> outputs_;
};

bool calls_functions(const ir::Kernel& kernel) {
  return std::ranges::any_of(kernel.body, [](const ir::Inst& inst) {
    return nvrtc::ulps_apart(inst.op, inst.dtype) != 0;
  });
}

/// All ops that compute in `dtype` with the interpreter's bits, a kernel for each few of them.
void collect_exact(NvrtcBatch& batch, DType dtype) {
  Collector collector(batch, dtype, {});
  for (const Op op : all_ops()) {
    if (!computes_in(info(op).domain, info(op).result, dtype)) continue;
    const nvrtc::Prepared prepared = nvrtc::prepare(cuda_kernel(op, dtype));
    ASSERT_EQ(prepared.refusal, "") << name(op) << " " << name(dtype);
    if (!calls_functions(prepared.kernel)) collector.add_op(op);
  }
  collector.flush();
}

class NvrtcOps : public testing::TestWithParam<DType> {};

TEST_P(NvrtcOps, GiveTheInterpretersBits) {
  NvrtcBatch batch;
  collect_exact(batch, GetParam());
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  EXPECT_GT(batch.size(), 0u);
  batch.run();
  // The others compute in these; what they are converted by is in NvrtcCasts.
  if (!is_small_float(GetParam()) && GetParam() != DType::c32) batch.compile_with_nvrtc("sm_90");
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcOps, testing::ValuesIn(all_dtypes),
                         [](const auto& info) { return std::string(name(info.param)); });

/// What is left of CUDA's functions: those of angles that are too large to take off the turns.
TEST(NvrtcFunctions, AreWithinUlpsOfTheInterpreters) {
  NvrtcBatch batch;
  for (const DType dtype : {DType::f32, DType::f64}) {
    // Either library is within 1 ulp, or nearly; in f32 ours is within 0.5.
    Collector collector(batch, dtype, {.compares_nans = false, .ulp = 3});
    for (const Op op : {Op::sin_beyond, Op::cos_beyond, Op::tan_beyond}) collector.add_op(op);
    collector.flush();
  }
  EXPECT_GT(batch.size(), 0u);
  batch.run();
  // They keep the digits of pi for huge arguments there.
  batch.compile_with_nvrtc("sm_90", 40);
}

TEST(NvrtcCasts, GiveTheInterpretersBits) {
  NvrtcBatch batch;
  for (const DType from : all_dtypes) {
    // Between complex numbers a NaN is one of another width on the way, or is not.
    Collector collector(batch, from, {.compares_nans = !is_complex(from), .ulp = 0});
    for (const DType to : all_dtypes)
      if (to != from && is_complex(to) == is_complex(from)) collector.add_cast(to);
    collector.flush();
    Collector other(batch, from, {});
    for (const DType to : all_dtypes)
      if (is_complex(to) != is_complex(from)) other.add_cast(to);
    other.flush();
  }
  batch.run();
  batch.compile_with_nvrtc("sm_90");
}

TEST(NvrtcCasts, KeepNaNsBetweenF32AndF64) {
  // The CPU's own conversions would keep them, too; so that they are not used, here are the names.
  EXPECT_EQ(nvrtc::cast_text("x", DType::f64, DType::f32), "double_to_float(x)");
  EXPECT_EQ(nvrtc::cast_text("x", DType::f32, DType::f64), "float_to_double(x)");
  for (const DType to : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::f32}) {
    const nvrtc::Prepared prepared = nvrtc::prepare(cuda_copy(DType::f64, to, {1}, {1}));
    EXPECT_NE(nvrtc::emit_source(prepared.kernel, {}).find("double_to_float(v"), std::string::npos)
        << name(to);
  }
}

TEST(NvrtcParameters, AreArgumentsOfTheKernel) {
  NvrtcBatch batch;
  for (const DType dtype : all_dtypes) {
    ir::Kernel kernel = cuda_kernel(Op::mul, dtype);
    kernel.params = {dtype};
    kernel.operands.pop_back();
    kernel.body[1] = {.op = Op::param, .dtype = dtype};
    const auto size = static_cast<std::int64_t>(itemsize_bytes(dtype));
    batch.add(kernel, {1000}, {{size}, {size}});
  }
  batch.run();
  batch.compile_with_nvrtc("sm_80");
}

}  // namespace
}  // namespace weft::jit::test
