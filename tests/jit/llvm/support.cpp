#include "tests/jit/llvm/support.h"

#include "ir/text.h"
#include "jit/interp/backend.h"
#include "jit/llvm/backend.h"
#include "tests/required_backends.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

namespace weft::jit::test {

namespace {

/// Compares what two calls left of an operand.
void expect_equal_parts(std::span<const std::byte> actual, std::span<const std::byte> expected,
                        DType dtype, bool compares_nans) {
  const DType part = real_dtype(dtype);
  const std::size_t itemsize = itemsize_bytes(part);
  for (std::size_t at = 0; at < actual.size(); at += itemsize) {
    const std::byte* a = actual.data() + at;
    const std::byte* e = expected.data() + at;
    if (std::memcmp(a, e, itemsize) == 0) continue;
    if (!compares_nans && is_nan_element(a, part) && is_nan_element(e, part)) continue;
    Bits a_bits, e_bits;
    std::memcpy(&a_bits, a, itemsize);
    std::memcpy(&e_bits, e, itemsize);
    FAIL() << "part " << at / itemsize << ": " << std::hex << a_bits.lo << ", the interpreter says "
           << e_bits.lo;
  }
}

/// Runs the call with both, and compares what they leave.
void expect_same_call(const CodeObject& compiled, const CodeObject& interpreted,
                      const ir::Kernel& kernel, const Call& call, bool compares_nans) {
  for (const GuardedBytes::Side side : both_sides) {
    const auto actual = run(compiled, call, side);
    const auto expected = run(interpreted, call, side);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      expect_equal_parts(actual[i], expected[i], kernel.operands[i].dtype, compares_nans);
      ASSERT_FALSE(testing::Test::HasFatalFailure())
          << "operand " << i << " of innermost extent " << call.extents.back();
    }
  }
}

/// In the order of KernelArgs.
LaunchShape shape_of(const Call& call) {
  LaunchShape shape{call.extents, {}};
  for (std::size_t loop = 0; loop < call.extents.size(); ++loop)
    for (const OperandData& operand : call.operands)
      shape.stride_bytes.push_back(operand.stride_bytes[loop]);
  return shape;
}

}  // namespace

void expect_same_shapes(const ir::Kernel& kernel, Target target,
                        const std::vector<std::vector<std::int64_t>>& extents) {
  SCOPED_TRACE(target.features.text() + "\n" + ir::print(kernel));
  ASSERT_EQ(llvm_backend().refuses(kernel, target), "");
  const auto interpreted = interp_backend().compile(kernel, target);
  std::mt19937_64 random(21);
  for (const std::vector<std::int64_t>& extent : extents) {
    Call call = make_call(kernel, extent, random);
    target.shape = shape_of(call);
    expect_same_call(*llvm_backend().compile(kernel, target), *interpreted, kernel, call, false);
    if (extent.size() == 1) continue;
    // Rows of one length, and as many as a launch says.
    std::fill(target.shape.extents.begin(), target.shape.extents.end() - 1, 0);
    const auto rows = llvm_backend().compile(kernel, target);
    expect_same_call(*rows, *interpreted, kernel, call, false);
    call.extents.front() = (call.extents.front() + 1) / 2;
    expect_same_call(*rows, *interpreted, kernel, call, false);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void expect_same(const ir::Kernel& kernel, const Target& target,
                 const std::vector<std::vector<std::int64_t>>& extents, bool compares_nans) {
  SCOPED_TRACE(target.features.text() + "\n" + ir::print(kernel));
  ASSERT_EQ(llvm_backend().refuses(kernel, target), "");
  const auto compiled = llvm_backend().compile(kernel, target);
  const auto interpreted = interp_backend().compile(kernel, target);
  std::mt19937_64 random(20);
  for (const std::vector<std::int64_t>& extent : extents) {
    const Call call = make_call(kernel, extent, random);
    expect_same_call(*compiled, *interpreted, kernel, call, compares_nans);
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::vector<Isa> isas() {
  if (host_features().isa == Isa::avx512) return {Isa::avx512, Isa::avx2};
  if (host_features().isa == Isa::avx2) return {Isa::avx2};
  return {};
}

void need_llvm() {
  std::string reason = llvm_unavailable_reason();
  if (reason.empty() && isas().empty()) reason = "the processor has no AVX2";
  if (!reason.empty()) leave_out_without("llvm", reason);
}

Target target_for(Isa isa) {
  Target target;
  target.features = target_features(isa);
  return target;
}

namespace {

ir::Kernel empty_kernel(Isa isa) {
  ir::Kernel kernel;
  kernel.vector_bytes = target_for(isa).vector_bytes();
  kernel.loops.resize(1);
  return kernel;
}

ir::ValueId append(ir::Kernel& kernel, Op op, DType dtype, std::uint8_t operand,
                   std::vector<ir::ValueId> args) {
  ir::Inst inst{.op = op, .dtype = dtype, .operand = operand};
  std::copy(args.begin(), args.end(), inst.args.begin());
  kernel.body.push_back(inst);
  return static_cast<ir::ValueId>(kernel.body.size() - 1);
}

void append_store(ir::Kernel& kernel, ir::ValueId value) {
  const DType dtype = result_dtype(kernel.body[value]);
  kernel.operands[0] = {dtype, ir::Role::output, {1}};
  append(kernel, Op::store, dtype, 0, {value});
}

}  // namespace

ir::Kernel kernel_of(Op op, DType dtype, Isa isa) {
  ir::Kernel kernel = empty_kernel(isa);
  kernel.operands.resize(1);
  std::vector<ir::ValueId> args;
  for (int i = 0; i < info(op).arity; ++i) {
    const DType loaded = i == 0 && info(op).result == ResultRule::select ? DType::boolean : dtype;
    kernel.operands.push_back({loaded, ir::Role::input, {1}});
    args.push_back(append(kernel, Op::load, loaded, static_cast<std::uint8_t>(i + 1), {}));
  }
  append_store(kernel, append(kernel, op, dtype, 0, args));
  return kernel;
}

ir::Kernel cast_kernel(DType from, DType to, Isa isa) {
  ir::Kernel kernel = empty_kernel(isa);
  kernel.operands = {{}, {from, ir::Role::input, {1}}};
  append_store(kernel, append(kernel, Op::cast, to, 0, {append(kernel, Op::load, from, 1, {})}));
  return kernel;
}

}  // namespace weft::jit::test
