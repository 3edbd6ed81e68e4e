// f32 rounded to bf16, by integer arithmetic and by AVX512_BF16's instruction where there is one.
#include "ir/builder.h"
#include "ir/pass.h"
#include "jit/backend.h"
#include "jit/interp/backend.h"
#include "tests/jit/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace weft::jit::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t ordinary = 0x3fc08000;  ///< half way between two numbers of bf16
constexpr std::array<std::uint32_t, 8> rare{0x00000001, 0x007fffff, 0x80008000, 0x80404040,
                                            0x7f800001, 0x7fffffff, 0xff800001, 0xffc12345};

class Bf16 : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    backend_ = find_backend(GetParam());
    if (backend_ == nullptr) GTEST_SKIP() << unavailable_reason(GetParam());
  }

  static CpuFeatures features(bool has_bf16) {
    CpuFeatures features = target_features(Isa::avx512);
    features.avx512_bf16 = has_bf16;
    return features;
  }
  /// Of this machine: without the instruction, and with it.
  static std::vector<Target> runnable() {
    std::vector<Target> targets;
    if (host_features().isa < Isa::avx512) return targets;
    for (const bool has_bf16 : {false, true})
      if (host_features().avx512_bf16 || !has_bf16)
        targets.push_back({.features = features(has_bf16)});
    return targets;
  }
  std::shared_ptr<const CodeObject> compile(const ir::Kernel& kernel, const Target& target) const {
    EXPECT_EQ(backend_->refuses(kernel, target), "");
    return backend_->compile(kernel, target);
  }

  const Backend* backend_ = nullptr;
};

/// Whether code makes the bits of `inputs` that the interpreter makes.
void expect_same(const CodeObject& code, const ir::Kernel& kernel,
                 const std::vector<std::uint32_t>& inputs) {
  std::mt19937_64 random(7);
  Call call = make_call(kernel, {static_cast<std::int64_t>(inputs.size())}, random);
  OperandData& input = call.operands.back();
  ASSERT_EQ(input.bytes.size(), 4 * inputs.size());
  std::memcpy(input.bytes.data(), inputs.data(), input.bytes.size());
  const auto interpreted = interp_backend().compile(kernel, {});
  const auto expected = run(*interpreted, call, GuardedBytes::Side::upper);
  for (const GuardedBytes::Side side : both_sides) ASSERT_EQ(run(code, call, side), expected);
}

/// out = bf16(in); with `and_back`, also out1 = the same as f32.
ir::Kernel rounding(bool and_back) {
  ir::Kernel kernel;
  kernel.loops.resize(1);
  kernel.vector_bytes = 64;
  kernel.operands = {{DType::bf16, ir::Role::output, {1}}};
  if (and_back) kernel.operands.push_back({DType::f32, ir::Role::output, {1}});
  kernel.operands.push_back({DType::f32, ir::Role::input, {1}});
  ir::Builder builder(kernel.body);
  const ir::Value x = builder.load(kernel.operands.size() - 1, DType::f32);
  const ir::Value rounded = builder.cast(x, DType::bf16);
  builder.store(0, rounded);
  if (and_back) builder.store(1, builder.cast(rounded, DType::f32) * x);
  ir::run_pipeline(kernel);
  return kernel;
}

TEST_P(Bf16, RoundsAllUpperHalves) {
  std::vector<std::uint32_t> inputs;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const std::uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      inputs.push_back(upper << 16 | lower);
  const ir::Kernel kernel = rounding(false);
  for (const Target& target : runnable()) expect_same(*compile(kernel, target), kernel, inputs);
}

// The vectors that share a test are both right when one of them has a rare number.
TEST_P(Bf16, RoundsARareNumberAmongOrdinaryOnes) {
  for (const Target& target : runnable())
    for (const bool and_back : {false, true}) {
      const ir::Kernel kernel = rounding(and_back);
      const auto code = compile(kernel, target);
      for (std::size_t at = 0; at < 150; ++at) {
        std::vector<std::uint32_t> inputs(151);
        for (std::size_t i = 0; i < inputs.size(); ++i)
          inputs[i] = ordinary + static_cast<std::uint32_t>(i << 16);
        inputs[at] = rare[at % rare.size()];
        expect_same(*code, kernel, inputs);
        if (HasFatalFailure()) return;
      }
    }
}

TEST_P(Bf16, UsesTheInstructionWhereThereIsOne) {
  const auto text = [&](bool has_bf16) {
    Target target;
    target.features = features(has_bf16);
    target.keep_texts = true;
    target.run = false;
    return backend_->compile(rounding(true), target)->texts.at("asm");
  };
  EXPECT_NE(text(false), text(true));
  if (text(true).find("; no disassembler") != std::string::npos) return;  // the texts are bytes
  EXPECT_THAT(text(false), Not(HasSubstr("vcvtneps2bf16")));
  EXPECT_THAT(text(true), HasSubstr("vcvtneps2bf16"));
}

INSTANTIATE_TEST_SUITE_P(Backends, Bf16, ::testing::Values("xbyak", "llvm"),
                         [](const auto& param) { return std::string(param.param); });

// Both orders of what commutes, and values that others use too.
TEST(RestoreBf16Casts, LeavesOneCastOfEach) {
  for (const bool and_back : {false, true}) {
    ir::Kernel kernel = rounding(and_back);
    for (ir::Inst& inst : kernel.body)
      if (and_back && info(inst.op).arity == 2 &&
          (inst.op == Op::add || inst.op == Op::bitwise_and))
        std::swap(inst.args[0], inst.args[1]);
    EXPECT_TRUE(ir::restore_bf16_casts(kernel));
    const auto is_cast = [](const ir::Inst& inst) {
      return inst.op == Op::cast && inst.dtype == DType::bf16;
    };
    EXPECT_EQ(std::ranges::count_if(kernel.body, is_cast), 1);
    const auto adds = [](const ir::Inst& inst) { return inst.op == Op::add; };
    EXPECT_EQ(std::ranges::count_if(kernel.body, adds), 0);
    EXPECT_FALSE(ir::restore_bf16_casts(kernel));
  }
}

// What differs in one constant or one operand is not a rounding.
TEST(RestoreBf16Casts, LeavesOtherArithmeticAlone) {
  const ir::Kernel kernel = rounding(false);
  int num_changed = 0;
  for (std::size_t id = 0; id < kernel.body.size(); ++id) {
    ir::Kernel other = kernel;
    ir::Inst& inst = other.body[id];
    if (inst.op == Op::constant)
      inst.bits.lo ^= 1;
    else if (inst.op == Op::ne)
      inst.op = Op::eq;
    else if (inst.op == Op::add)
      inst.op = Op::sub;
    else
      continue;
    ++num_changed;
    EXPECT_FALSE(ir::restore_bf16_casts(other)) << "value " << id;
  }
  EXPECT_GE(num_changed, 7);
}

}  // namespace
}  // namespace weft::jit::test
