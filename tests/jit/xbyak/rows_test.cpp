// Every row of the xbyak backend against the interpreter.
#include "ir/text.h"
#include "jit/xbyak/backend.h"
#include "tests/jit/xbyak/harness.h"
#include "tests/required_backends.h"

#include <weft/dtype.h>
#include <weft/op.h>
#include <weft/scalar.h>

#include <string>

namespace weft::jit::testing {
namespace {

using ir::no_value;

/// The tests below run once a target of this machine: without one they would all pass.
TEST(XbyakTargets, TheMachineHasOne) {
  if (runnable_isas().empty()) leave_out_without("xbyak", unavailable_reason("xbyak"));
}

class XbyakRows : public ::testing::TestWithParam<Isa> {};

TEST_P(XbyakRows, AgreeWithTheInterpreter) {
  Random random(seed());
  int num_rows = 0;
  for (const Op op : all_ops()) {
    for (const DType dtype : all_dtypes) {
      if (info(op).form != Form::primitive) continue;
      if (!computes_in(info(op).domain, info(op).result, dtype)) continue;
      const DType result = ir::result_dtype({.op = op, .dtype = dtype});
      const ir::Kernel kernel = scheduled(op_kernel(op, dtype, result), GetParam());
      const Comparison comparison(kernel, GetParam());
      // A row, a call of the interpreter's function, or the parts.
      ASSERT_EQ(comparison.refusal(), "") << name(op) << " " << name(dtype);
      ++num_rows;
      for (const std::int64_t size : interesting_sizes(kernel))
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          ASSERT_TRUE(comparison.agree({.extents = {size}, .placement = placement}, random))
              << name(op) << " " << name(dtype);
    }
  }
  EXPECT_GT(num_rows, 200);
}

TEST_P(XbyakRows, CompositesOfRowsAgree) {
  Random random(seed());
  for (const Op op : {Op::square, Op::clamp, Op::relu, Op::sign, Op::signbit, Op::copysign,
                      Op::isnan, Op::isinf, Op::isfinite, Op::fmax, Op::fmin, Op::logical_and,
                      Op::logical_xor, Op::logical_not, Op::heaviside, Op::lerp, Op::reciprocal}) {
    for (const DType dtype : all_dtypes) {
      if (!accepts(info(op).domain, dtype) || is_complex(dtype)) continue;
      if (promotes_integers(info(op).result) && !is_floating(dtype)) continue;
      const DType result = ir::result_dtype({.op = op, .dtype = dtype});
      const ir::Kernel kernel = scheduled(op_kernel(op, dtype, result), GetParam());
      const Comparison comparison(kernel, GetParam());
      ASSERT_EQ(comparison.refusal(), "") << name(op) << " " << name(dtype);
      for (const std::int64_t size : interesting_sizes(kernel))
        ASSERT_TRUE(comparison.agree({.extents = {size}}, random))
            << name(op) << " " << name(dtype);
    }
  }
}

// Several vectors at once, and a tail that takes what they leave: vectors and a part of one.
TEST_P(XbyakRows, LongBodiesOfAllShortSizes) {
  Random random(seed());
  for (const Op op : {Op::exp, Op::tanh, Op::gelu_tanh, Op::sigmoid}) {
    const ir::Kernel kernel = scheduled(op_kernel(op, DType::f32, DType::f32), GetParam());
    ASSERT_GT(kernel.body.size() - kernel.num_hoisted, 14u) << name(op);
    const bool takes_four = op == Op::sigmoid && GetParam() == Isa::avx512;
    ASSERT_EQ(kernel.loops.back().unroll, takes_four ? 4 : 2) << name(op);
    const Comparison comparison(kernel, GetParam());
    for (std::int64_t size = 0; size <= 100; ++size)
      for (const Placement placement : {Placement::at_end, Placement::at_start})
        ASSERT_TRUE(comparison.agree({.extents = {size}, .placement = placement}, random))
            << name(op);
  }
}

/// fma of three of: two loads, their difference, two constants, the negative of a load; then the
/// sum of that and of those arguments whose bit is set in `used_again`.
ir::Kernel fma_kernel(DType dtype, std::array<ir::ValueId, 3> args, unsigned used_again) {
  ir::Kernel kernel = make_kernel({dtype, dtype, dtype}, 1);
  const auto append = [&](const ir::Inst& inst) {
    kernel.body.push_back(inst);
    return static_cast<ir::ValueId>(kernel.body.size() - 1);
  };
  const auto constant = [&](double value) {
    append({.op = Op::constant, .dtype = dtype, .bits = Scalar(value).bits(dtype)});
  };
  append({.op = Op::load, .dtype = dtype, .operand = 1});
  append({.op = Op::load, .dtype = dtype, .operand = 2});
  append({.op = Op::sub, .dtype = dtype, .args = {0, 1, ir::no_value, ir::no_value}});
  constant(1.5);
  constant(-0.75);
  append({.op = Op::neg, .dtype = dtype, .args = {1, ir::no_value, ir::no_value, ir::no_value}});
  ir::ValueId sum =
      append({.op = Op::fma, .dtype = dtype, .args = {args[0], args[1], args[2], ir::no_value}});
  for (std::size_t i = 0; i < args.size(); ++i)
    if ((used_again >> i & 1) != 0)
      sum = append(
          {.op = Op::add, .dtype = dtype, .args = {sum, args[i], ir::no_value, ir::no_value}});
  append(
      {.op = Op::store, .dtype = dtype, .args = {sum, ir::no_value, ir::no_value, ir::no_value}});
  return kernel;
}

// The instruction replaces one of its arguments: of none may more be lost than what dies.
TEST_P(XbyakRows, MultiplyAddLeavesWhatIsUsedAgain) {
  constexpr ir::ValueId num_sources = 6;
  Random random(seed());
  for (const DType dtype : {DType::f32, DType::f64})
    for (ir::ValueId args = 0; args < num_sources * num_sources * num_sources; ++args)
      for (unsigned used_again = 0; used_again < 8; ++used_again) {
        const ir::ValueId x = args % num_sources, y = args / num_sources % num_sources;
        const ir::ValueId z = args / num_sources / num_sources;
        const ir::Kernel kernel = scheduled(fma_kernel(dtype, {x, y, z}, used_again), GetParam());
        ASSERT_TRUE(Comparison(kernel, GetParam()).agree({.extents = {75}}, random))
            << name(dtype) << " fma of " << x << ", " << y << ", " << z << "; again " << used_again;
      }
}

// What rounding takes from a product is no negative and a sum, but one instruction.
TEST_P(XbyakRows, NegativesOfProductsAndSumsAreNoInstructions) {
  Target target = target_for(GetParam());
  target.keep_texts = true;
  const auto text = [&](std::array<ir::ValueId, 3> args, unsigned used_again) {
    const ir::Kernel kernel = scheduled(fma_kernel(DType::f64, args, used_again), GetParam());
    return xbyak_backend().compile(kernel, target)->texts.at("asm");
  };
  const std::string plain = text({0, 1, 2}, 0);
  if (plain.find("; no disassembler") != std::string::npos)
    return leave_out_without("llvm", plain.substr(0, 80));
  for (const auto& [args, instruction] : {std::pair{std::array<ir::ValueId, 3>{0, 2, 5}, "vfmsub"},
                                          {{5, 2, 0}, "vfnmadd"},
                                          {{0, 5, 5}, "vfnmsub"},
                                          {{5, 5, 2}, "vfmadd"}}) {
    const std::string code = text(args, 0);
    EXPECT_NE(code.find(instruction), std::string::npos) << instruction;
    EXPECT_EQ(code.find("xor"), code.find("xor e")) << instruction;  // none of vectors
  }
  // The sum after it takes the negative, which is there then.
  EXPECT_NE(text({0, 2, 5}, 4).find("vfmadd"), std::string::npos);
}

// What signs are changed by stays in a register, which is as wide as the first of them.
TEST_P(XbyakRows, SignsOfSeveralWidths) {
  Random random(seed());
  const auto unary = [](Op op, DType dtype, ir::ValueId x) {
    return ir::Inst{.op = op, .dtype = dtype, .args = {x, no_value, no_value, no_value}};
  };
  const auto sum = [](DType dtype, ir::ValueId x, ir::ValueId y) {
    return ir::Inst{.op = Op::add, .dtype = dtype, .args = {x, y, no_value, no_value}};
  };
  // In both orders, since the first is the one that is kept.
  for (const bool is_complex_first : {false, true}) {
    ir::Kernel kernel = make_kernel({DType::f64, DType::c64, DType::f32}, 1);
    kernel.body = {{.op = Op::load, .dtype = DType::c64, .operand = 1},
                   {.op = Op::load, .dtype = DType::f32, .operand = 2},
                   unary(Op::neg, is_complex_first ? DType::c64 : DType::f32, !is_complex_first),
                   unary(Op::neg, is_complex_first ? DType::f32 : DType::c64, is_complex_first),
                   unary(Op::real, DType::c64, is_complex_first ? 2 : 3),
                   unary(Op::abs, DType::f32, is_complex_first ? 3 : 2),
                   sum(DType::f32, 4, 5),
                   sum(DType::f32, 6, is_complex_first ? 3 : 2),
                   unary(Op::cast, DType::f64, 7),
                   unary(Op::neg, DType::f64, 8),
                   unary(Op::abs, DType::f64, 9),
                   sum(DType::f64, 9, 10),
                   {.op = Op::store,
                    .dtype = DType::f64,
                    .operand = 0,
                    .args = {11, no_value, no_value, no_value}}};
    kernel = scheduled(kernel, GetParam());
    const Comparison comparison(kernel, GetParam());
    ASSERT_EQ(comparison.refusal(), "");
    for (const std::int64_t size : interesting_sizes(kernel))
      ASSERT_TRUE(comparison.agree({.extents = {size}}, random)) << is_complex_first;
  }
}

TEST_P(XbyakRows, CastsAgreeWithTheInterpreter) {
  Random random(seed());
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      const ir::Kernel kernel = scheduled(cast_kernel(from, to), GetParam());
      const Comparison comparison(kernel, GetParam());
      ASSERT_EQ(comparison.refusal(), "") << name(from) << " to " << name(to);
      for (const std::int64_t size : interesting_sizes(kernel))
        ASSERT_TRUE(comparison.agree({.extents = {size}, .compares_nans = true}, random))
            << name(from) << " to " << name(to);
    }
}

TEST_P(XbyakRows, CopiesOfAnyItemSize) {
  Random random(seed());
  for (const DType dtype : all_dtypes) {
    const ir::Kernel kernel = scheduled(
        [&] {
          ir::Kernel copy = make_kernel({dtype, dtype}, 1);
          copy.body = {{.op = Op::load, .dtype = dtype, .operand = 1},
                       {.op = Op::store,
                        .dtype = dtype,
                        .operand = 0,
                        .args = {0, ir::no_value, ir::no_value, ir::no_value}}};
          return copy;
        }(),
        GetParam());
    const Comparison comparison(kernel, GetParam());
    ASSERT_EQ(comparison.refusal(), "");
    for (const std::int64_t size : interesting_sizes(kernel))
      ASSERT_TRUE(comparison.agree({.extents = {size}, .compares_nans = true}, random))
          << name(dtype);
  }
}

TEST_P(XbyakRows, RefusalNamesTheInstruction) {
  ir::Kernel kernel = scheduled(op_kernel(Op::add, DType::f32, DType::f32), GetParam());
  for (ir::Operand& operand : kernel.operands) operand.dtype = DType::f16;
  for (ir::Inst& inst : kernel.body) inst.dtype = DType::f16;
  EXPECT_EQ(Comparison(kernel, GetParam()).refusal(), "%2: add f16 has no row");
}

TEST_P(XbyakRows, ScansAreRefused) {
  for (const char* const input : {"f32", "c64"}) {
    const ir::Kernel kernel = ir::parse(
        std::string("kernel default unscheduled 0 { $0 out f32 [1] $1 in ") + input +
        " [0] scan body: %0 = load " + input + " $1 %1 = cast f32 %0 accumulate f32 $0 add %1 }");
    EXPECT_EQ(xbyak_backend().refuses(scheduled(kernel, GetParam()), target_for(GetParam())),
              "a loop scans");
  }
}

TEST_P(XbyakRows, WideFunctionsOfComplexNumbersAreLeftToOthersIfThereAre) {
  const ir::Kernel kernel =
      scheduled(op_kernel(Op::library_tan, DType::c128, DType::c128), GetParam());
  Target target = target_for(GetParam());
  EXPECT_EQ(xbyak_backend().refuses(kernel, target), "");
  target.has_alternatives = true;
  EXPECT_EQ(xbyak_backend().refuses(kernel, target),
            "functions of complex numbers would be computed once for each part");
}

INSTANTIATE_TEST_SUITE_P(Targets, XbyakRows, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
