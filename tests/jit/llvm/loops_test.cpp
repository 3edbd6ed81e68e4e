// Loop nests, stride classes, ends of rows and hoisted values of the LLVM tier, against the
// interpreter.
#include "ir/pass.h"
#include "jit/llvm/backend.h"
#include "tests/jit/llvm/support.h"

#include <algorithm>

namespace weft::jit::test {
namespace {

constexpr ir::StrideClass classes[] = {-1, 0, 1, 2, 3, 4, ir::stride_any};

class LlvmLoops : public testing::Test {
 protected:
  void SetUp() override { need_llvm(); }

  /// Gives a kernel of one loop `num_loops`, whose outer strides are known at launch only.
  static void add_loops(ir::Kernel& kernel, std::size_t num_loops) {
    kernel.loops.resize(num_loops);
    for (ir::Operand& operand : kernel.operands)
      operand.strides.insert(operand.strides.begin(), num_loops - operand.strides.size(),
                             ir::stride_any);
  }
};

TEST_F(LlvmLoops, EveryLengthOfARow) {
  std::vector<std::vector<std::int64_t>> lengths;
  for (std::int64_t length = 1; length <= 280; ++length) lengths.push_back({length});
  for (Isa isa : isas())
    for (DType dtype : {DType::u8, DType::i16, DType::f32, DType::f64, DType::boolean}) {
      ir::Kernel kernel = kernel_of(Op::add, dtype, isa);
      ir::run_pipeline(kernel);
      expect_same(kernel, target_for(isa), lengths);
    }
}

TEST_F(LlvmLoops, EveryStrideOfAnInput) {
  for (Isa isa : isas())
    for (DType dtype : {DType::boolean, DType::u8, DType::bf16, DType::f16, DType::i32, DType::f64})
      for (ir::StrideClass stride : classes) {
        ir::Kernel kernel = kernel_of(Op::maximum, dtype, isa);
        kernel.operands[1].strides = {stride};
        ir::run_pipeline(kernel);
        expect_same(kernel, target_for(isa), {{1}, {2}, {15}, {16}, {63}, {64}, {129}});
      }
}

TEST_F(LlvmLoops, EveryStrideOfTheOutput) {
  for (Isa isa : isas())
    for (DType dtype : {DType::boolean, DType::u8, DType::u16, DType::i32, DType::f64})
      for (ir::StrideClass stride : classes) {
        ir::Kernel kernel = kernel_of(Op::add, dtype, isa);
        kernel.operands[0].strides = {stride};
        // All elements of an output of stride 0 are one, and the last stays.
        ir::run_pipeline(kernel);
        expect_same(kernel, target_for(isa), {{1}, {2}, {15}, {16}, {63}, {64}, {129}});
      }
}

TEST_F(LlvmLoops, MixedSizesInOneVector) {
  for (Isa isa : isas())
    for (ir::StrideClass stride : classes)
      for (const auto& [from, to] : {std::pair{DType::u8, DType::f64},
                                     {DType::f64, DType::i8},
                                     {DType::boolean, DType::i64}}) {
        ir::Kernel kernel = cast_kernel(from, to, isa);
        kernel.operands[1].strides = {stride};
        ir::run_pipeline(kernel);
        expect_same(kernel, target_for(isa), {{1}, {3}, {8}, {37}, {100}});
      }
}

TEST_F(LlvmLoops, NestsOfUpToFourLoops) {
  for (Isa isa : isas())
    for (std::size_t num_loops : {2, 3, 4})
      for (ir::StrideClass inner : {ir::StrideClass{1}, ir::StrideClass{0}, ir::stride_any}) {
        ir::Kernel kernel = kernel_of(Op::sub, DType::f32, isa);
        kernel.operands[1].strides = {inner};
        add_loops(kernel, num_loops);
        kernel.operands[2].strides[0] = 0;  // broadcast along the outermost loop
        ir::run_pipeline(kernel);
        std::vector<std::int64_t> ones(num_loops, 1), small(num_loops, 3), ragged(num_loops, 2);
        small.back() = 70;
        ragged[0] = 5;
        ragged.back() = 21;
        expect_same(kernel, target_for(isa), {ones, small, ragged});
      }
}

TEST_F(LlvmLoops, HoistedParametersAndConstants) {
  for (Isa isa : isas())
    for (DType dtype : {DType::boolean, DType::u8, DType::i64, DType::f32, DType::f16}) {
      ir::Kernel kernel = kernel_of(Op::mul, dtype, isa);
      kernel.params = {dtype};
      kernel.operands.pop_back();
      kernel.body[1] = {.op = Op::param, .dtype = dtype};
      add_loops(kernel, 2);
      ir::run_pipeline(kernel);
      EXPECT_GT(kernel.num_hoisted, 0u);
      expect_same(kernel, target_for(isa), {{1, 1}, {3, 5}, {2, 67}, {4, 130}});
    }
}

TEST_F(LlvmLoops, LongBodiesAndCalls) {
  for (Isa isa : isas())
    for (Op op : {Op::gelu, Op::div_floor, Op::logaddexp, Op::fmod, Op::nextafter, Op::log_sigmoid})
      for (DType dtype : {DType::f32, DType::bf16}) {
        ir::Kernel kernel = kernel_of(op, dtype, isa);
        ir::run_pipeline(kernel);
        expect_same(kernel, target_for(isa), {{1}, {19}, {64}, {150}});
      }
}

// Without masks for small items the rest of a row goes through a buffer if it is long enough.
TEST_F(LlvmLoops, RestsOfRowsOfSmallItems) {
  std::vector<std::vector<std::int64_t>> extents;
  for (std::int64_t size = 1; size <= 40; ++size) extents.push_back({3, size});
  for (Isa isa : isas())
    for (DType dtype : {DType::f16, DType::bf16, DType::f8e5m2}) {
      ir::Kernel unary = kernel_of(Op::tanh, dtype, isa);
      // An operand that stays the same along a row, and one of another size.
      ir::Kernel binary = kernel_of(Op::atan2, dtype, isa);
      binary.operands[2].strides = {0};
      binary.operands[0].dtype = DType::u8;
      binary.body.back() = {.op = Op::cast,
                            .dtype = DType::u8,
                            .args = {2, ir::no_value, ir::no_value, ir::no_value}};
      binary.body.push_back({.op = Op::store,
                             .dtype = DType::u8,
                             .args = {3, ir::no_value, ir::no_value, ir::no_value}});
      for (ir::Kernel* kernel : {&unary, &binary}) {
        add_loops(*kernel, 2);
        ir::run_pipeline(*kernel);
        expect_same(*kernel, target_for(isa), extents);
        expect_same_shapes(*kernel, target_for(isa), {{3, 5}, {2, 8}, {2, 15}, {1, 22}, {2, 1}});
      }
    }
}

TEST_F(LlvmLoops, RestsOfRowsInPlace) {
  for (Isa isa : isas()) {
    ir::Kernel kernel = kernel_of(Op::tanh, DType::bf16, isa);
    ir::run_pipeline(kernel);
    const auto code = llvm_backend().compile(kernel, target_for(isa));
    for (std::int64_t size = 1; size <= 24; ++size) {
      std::vector<std::uint16_t> x, result(static_cast<std::size_t>(size));
      for (int i = 0; i < size; ++i) x.push_back(static_cast<std::uint16_t>(0x3e00 + 16 * i));
      auto* const from = reinterpret_cast<std::byte*>(x.data());
      std::byte* const apart[] = {reinterpret_cast<std::byte*>(result.data()), from};
      std::byte* const in_place[] = {from, from};
      const std::int64_t strides[] = {2, 2};
      for (std::byte* const* base : {apart, in_place}) {
        const KernelArgs args{base, &size, strides, nullptr, nullptr};
        code->entry(&args);
      }
      EXPECT_EQ(x, result) << size;
    }
  }
}

TEST_F(LlvmLoops, CallsInVectorsOfOtherSizesThanTheLibrarys) {
  for (Isa isa : isas()) {
    // The f64 makes vectors so short that an f32 call fills only half of one.
    ir::Kernel kernel = kernel_of(Op::exp, DType::f32, isa);
    kernel.body.back() = {
        .op = Op::cast, .dtype = DType::f64, .args = {1, ir::no_value, ir::no_value, ir::no_value}};
    kernel.operands[0].dtype = DType::f64;
    kernel.body.push_back({.op = Op::store,
                           .dtype = DType::f64,
                           .args = {2, ir::no_value, ir::no_value, ir::no_value}});
    ir::run_pipeline(kernel);
    expect_same(kernel, target_for(isa), {{1}, {4}, {9}, {33}});
    kernel.loops.back().lanes *= 4;  // and a long vector takes several calls
    expect_same(kernel, target_for(isa), {{1}, {4}, {9}, {33}, {200}});
  }
}

TEST_F(LlvmLoops, ScalarSchedule) {
  for (Isa isa : isas())
    for (Op op : {Op::add, Op::pow, Op::floor, Op::library_tan}) {
      ir::Kernel kernel = kernel_of(op, DType::f64, isa);
      kernel.vector_bytes = 0;
      ir::run_pipeline(kernel);
      ASSERT_EQ(kernel.schedule, ir::Schedule::scalar);
      expect_same(kernel, target_for(isa), {{1}, {4}, {33}});
    }
}

TEST_F(LlvmLoops, InPlace) {
  for (Isa isa : isas()) {
    ir::Kernel kernel = kernel_of(Op::add, DType::f32, isa);
    ir::run_pipeline(kernel);
    const auto code = llvm_backend().compile(kernel, target_for(isa));
    std::vector<float> x(1000), y(1000);
    for (int i = 0; i < 1000; ++i) {
      x[static_cast<std::size_t>(i)] = static_cast<float>(i);
      y[static_cast<std::size_t>(i)] = static_cast<float>(3 * i);
    }
    auto* out = reinterpret_cast<std::byte*>(x.data());
    std::byte* const base[] = {out, out, reinterpret_cast<std::byte*>(y.data())};
    const std::int64_t extent = 1000, strides[] = {4, 4, 4};
    const KernelArgs args{base, &extent, strides, nullptr, nullptr};
    code->entry(&args);
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(x[static_cast<std::size_t>(i)], static_cast<float>(4 * i));
  }
}

TEST_F(LlvmLoops, FusesWhatTheKernelHasFused) {
  for (Isa isa : isas()) {
    Target target = target_for(isa);
    target.keep_texts = true;
    const auto fuses = [&](const ir::Kernel& kernel) {
      return llvm_backend().compile(kernel, target)->texts.at("asm").find("vfmadd") !=
             std::string::npos;
    };
    ir::Kernel rounded = kernel_of(Op::addcmul, DType::f32, isa);
    ir::Kernel fused = rounded;
    ir::run_pipeline(rounded);
    EXPECT_FALSE(fuses(rounded));
    rounded.numerics = Numerics::fast;  // after the passes: no compiler contracts by itself
    EXPECT_FALSE(fuses(rounded));
    fused.numerics = Numerics::fast;
    ir::run_pipeline(fused);
    EXPECT_TRUE(fuses(fused));
  }
}

}  // namespace
}  // namespace weft::jit::test
