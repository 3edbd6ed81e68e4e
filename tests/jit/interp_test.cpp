// The interpreter against a naive loop over indices that evaluates one element at a time.
#include "jit/interp/backend.h"

#include "ir/evaluate.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/ir/random_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

namespace weft::jit {
namespace {

using ir::Inst;
using ir::Kernel;
using ir::pick;
using ir::Random;
using ir::Role;

/// Memory for one launch of a kernel: extents, strides that fit the stride classes, one buffer an
/// operand.
struct Launch {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> stride_bytes;  ///< [loop * num_operands + operand]
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::size_t> offsets;  ///< of the first element
  std::vector<Bits> params;

  std::vector<std::byte*> base() {
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      pointers.push_back(buffers[i].data() + offsets[i]);
    return pointers;
  }
};

void fill(std::vector<std::byte>& buffer, DType dtype, Random& random) {
  const std::size_t size = itemsize_bytes(dtype);
  for (std::size_t at = 0; at + size <= buffer.size(); at += size) {
    const Bits bits = ir::random_bits(random, dtype);
    std::memcpy(buffer.data() + at, &bits, size);
  }
}

/// Strides in items of operand `i`: as its classes say, and where they leave it open dense, padded,
/// reversed or broadcast.  An output's elements stay apart.
std::vector<std::int64_t> random_strides(const Kernel& kernel, std::size_t i,
                                         const std::vector<std::int64_t>& extents, Random& random) {
  const ir::Operand& operand = kernel.operands[i];
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t span = 1;
  for (std::size_t loop = extents.size(); loop-- > 0;) {
    const ir::StrideClass known = operand.strides[loop];
    std::int64_t stride = span + static_cast<std::int64_t>(pick(random, 2));
    if (known != ir::stride_any)
      stride = known;
    else if (operand.role == Role::input && pick(random, 4) == 0)
      stride = 0;
    else if (pick(random, 3) == 0)
      stride = -stride;
    strides[loop] = stride;
    span += std::abs(stride) * (extents[loop] - 1);
  }
  return strides;
}

Launch random_launch(const Kernel& kernel, Random& random) {
  Launch launch;
  for (std::size_t i = 0; i < kernel.loops.size(); ++i) {
    const bool is_inner = i + 1 == kernel.loops.size();
    const std::size_t limit = is_inner && pick(random, 4) == 0 ? 600 : 6;
    launch.extents.push_back(1 + static_cast<std::int64_t>(pick(random, limit)));
  }
  const std::size_t num_operands = kernel.operands.size();
  launch.stride_bytes.resize(kernel.loops.size() * num_operands);
  for (std::size_t i = 0; i < num_operands; ++i) {
    const DType dtype = kernel.operands[i].dtype;
    const auto size = static_cast<std::int64_t>(itemsize_bytes(dtype));
    const auto strides = random_strides(kernel, i, launch.extents, random);
    std::int64_t lowest = 0, highest = 0;
    for (std::size_t loop = 0; loop < strides.size(); ++loop) {
      launch.stride_bytes[loop * num_operands + i] = strides[loop] * size;
      const std::int64_t reach = strides[loop] * (launch.extents[loop] - 1);
      (reach < 0 ? lowest : highest) += reach;
    }
    launch.buffers.emplace_back(static_cast<std::size_t>((highest - lowest + 1) * size));
    launch.offsets.push_back(static_cast<std::size_t>(-lowest * size));
    fill(launch.buffers.back(), dtype, random);
  }
  for (const DType dtype : kernel.params) launch.params.push_back(ir::random_bits(random, dtype));
  return launch;
}

void run_interpreter(const Kernel& kernel, Launch& launch) {
  const auto code = interp_backend().compile(kernel, {});
  const auto base = launch.base();
  const KernelArgs args{base.data(), launch.extents.data(), launch.stride_bytes.data(),
                        launch.params.data(), code->context};
  code->entry(&args);
}

/// One element at `position`.
void run_element(const Kernel& kernel, Launch& launch, const std::vector<std::int64_t>& position) {
  const std::size_t num_operands = kernel.operands.size();
  const auto base = launch.base();
  const auto address = [&](std::size_t operand) {
    std::byte* at = base[operand];
    for (std::size_t loop = 0; loop < position.size(); ++loop)
      at += position[loop] * launch.stride_bytes[loop * num_operands + operand];
    return at;
  };
  std::vector<Bits> values(kernel.body.size());
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    const Inst& inst = kernel.body[i];
    if (inst.op == Op::constant) {
      values[i] = inst.bits;
    } else if (inst.op == Op::param) {
      values[i] = launch.params[inst.operand];
    } else if (inst.op == Op::load) {
      std::memcpy(&values[i], address(inst.operand), itemsize_bytes(inst.dtype));
    } else if (inst.op == Op::store) {
      std::memcpy(address(inst.operand), &values[inst.args[0]], itemsize_bytes(inst.dtype));
    } else {
      std::vector<Bits> args;
      for (ir::ValueId arg : inst.args)
        if (arg != ir::no_value) args.push_back(values[arg]);
      values[i] = evaluate(inst, args, result_dtype(kernel.body[inst.args[0]]));
    }
  }
}

void run_naively(const Kernel& kernel, Launch& launch) {
  std::int64_t total = 1;
  for (std::int64_t extent : launch.extents) total *= extent;
  for (std::int64_t linear = 0; linear < total; ++linear) {
    std::vector<std::int64_t> position(launch.extents.size());
    std::int64_t rest = linear;
    for (std::size_t loop = position.size(); loop-- > 0;) {
      position[loop] = rest % launch.extents[loop];
      rest /= launch.extents[loop];
    }
    run_element(kernel, launch, position);
  }
}

template <class T>
bool same_value(const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, sizeof(T)) == 0) return true;
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  const auto x_wide = convert<c128>(x), y_wide = convert<c128>(y);
  const auto same_part = [](double p, double q) {
    return p == q ? std::signbit(p) == std::signbit(q) : p != p && q != q;
  };
  return same_part(x_wide.real(), y_wide.real()) && same_part(x_wide.imag(), y_wide.imag());
}

/// Equal bits, or NaN for NaN.
testing::AssertionResult same_outputs(const Kernel& kernel, const Launch& expected,
                                      const Launch& actual) {
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const DType dtype = kernel.operands[i].dtype;
    const std::size_t size = itemsize_bytes(dtype);
    for (std::size_t at = 0; at < expected.buffers[i].size(); at += size) {
      const bool same = visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
        return same_value<T>(expected.buffers[i].data() + at, actual.buffers[i].data() + at);
      });
      if (!same)
        return testing::AssertionFailure()
               << "operand $" << i << " differs at element " << at / size;
    }
  }
  return testing::AssertionSuccess();
}

TEST(Interp, IsTheNaiveLoop) {
  Random random(11);
  for (int i = 0; i < 600; ++i) {
    const Kernel kernel = ir::random_kernel(random);
    Launch expected = random_launch(kernel, random);
    Launch actual = expected;
    run_naively(kernel, expected);
    run_interpreter(kernel, actual);
    ASSERT_TRUE(same_outputs(kernel, expected, actual)) << ir::print(kernel);
  }
}

/// With Numerics::strict the passes change no bit.
TEST(Interp, PassesKeepStrictResults) {
  Random random(12);
  for (int i = 0; i < 1500; ++i) {
    Kernel kernel = ir::random_kernel(random, {.may_reduce = true});
    kernel.numerics = Numerics::strict;
    Launch expected = random_launch(kernel, random);
    Launch actual = expected;
    run_interpreter(kernel, expected);
    Kernel optimised = kernel;
    ir::run_pipeline(optimised);
    run_interpreter(optimised, actual);
    ASSERT_TRUE(same_outputs(kernel, expected, actual))
        << ir::print(kernel) << ir::print(optimised);
  }
}

/// Each op alone, in each dtype that it computes in, before and after the passes.
TEST(Interp, PassesKeepEveryOp) {
  Random random(13);
  for (const Op op : all_ops())
    for (const DType dtype : all_dtypes) {
      if (!computes_in(info(op).domain, info(op).result, dtype)) continue;
      Kernel kernel;
      kernel.loops.resize(1);
      Inst inst{.op = op, .dtype = dtype};
      kernel.operands.push_back({result_dtype(inst), Role::output, {1}});
      ir::Builder builder(kernel.body);
      for (std::uint8_t arg = 0; arg < info(op).arity; ++arg) {
        const bool is_mask = info(op).result == ResultRule::select && arg == 0;
        const DType arg_dtype = is_mask ? DType::boolean : dtype;
        kernel.operands.push_back({arg_dtype, Role::input, {1}});
        inst.args[arg] = builder.load(static_cast<std::uint8_t>(arg + 1), arg_dtype).id;
      }
      builder.store(0, builder.append(inst));
      Launch expected;
      expected.extents = {1000};
      for (const ir::Operand& operand : kernel.operands) {
        const std::size_t size = itemsize_bytes(operand.dtype);
        expected.stride_bytes.push_back(static_cast<std::int64_t>(size));
        expected.offsets.push_back(0);
        expected.buffers.emplace_back(1000 * size);
        fill(expected.buffers.back(), operand.dtype, random);
      }
      Launch actual = expected;
      run_interpreter(kernel, expected);
      Kernel optimised = kernel;
      ir::run_pipeline(optimised);
      ir::verify(optimised);
      run_interpreter(optimised, actual);
      EXPECT_TRUE(same_outputs(kernel, expected, actual))
          << ir::print(kernel) << ir::print(optimised);
    }
}

TEST(Interp, OutputMayBeAnInput) {
  const Kernel kernel = ir::parse(
      "kernel default unscheduled 0 { $0 out i32 [*] $1 out i32 [*] $2 in i32 [*] $3 in i32 [*] "
      "parallel "
      "body: %0 = load i32 $2 %1 = load i32 $3 %2 = add i32 %0, %1 store i32 $0 %2 store i32 $1 %0 "
      "}");
  for (const std::int64_t stride : {4, 8, -4}) {
    std::vector<std::int32_t> a(2000), b(2000);
    for (int i = 0; i < 2000; ++i) {
      a[static_cast<std::size_t>(i)] = i;
      b[static_cast<std::size_t>(i)] = 7 * i;
    }
    auto* const a_bytes = reinterpret_cast<std::byte*>(a.data() + 1000);
    auto* const b_bytes = reinterpret_cast<std::byte*>(b.data() + 1000);
    std::byte* base[] = {a_bytes, b_bytes, a_bytes, b_bytes};  // a, b = a + b, a
    const std::int64_t extent = 500, strides[] = {stride, stride, stride, stride};
    const auto code = interp_backend().compile(kernel, {});
    const KernelArgs args{base, &extent, strides, nullptr, code->context};
    code->entry(&args);
    for (std::int64_t i = 0; i < extent; ++i) {
      const auto at = static_cast<std::size_t>(1000 + i * stride / 4);
      ASSERT_EQ(a[at], 8 * static_cast<std::int32_t>(at));
      ASSERT_EQ(b[at], static_cast<std::int32_t>(at));
    }
  }
}

/// The scratch memory is fixed: a large body runs in small blocks.
TEST(Interp, LargeBody) {
  Kernel kernel;
  kernel.loops.resize(2);
  kernel.operands = {{DType::c128, Role::output, {ir::stride_any, 1}},
                     {DType::c128, Role::input, {ir::stride_any, 1}}};
  ir::Builder builder(kernel.body);
  ir::Value value = builder.load(1, DType::c128);
  const ir::Value one = builder.constant(DType::c128, 1.0);
  while (kernel.body.size() < 4095) value = value + one;
  builder.store(0, value);
  ir::verify(kernel);
  Random random(14);
  Launch launch = random_launch(kernel, random);
  launch.extents = {3, 50};
  launch.stride_bytes = {50 * 16, 50 * 16, 16, 16};
  launch.offsets = {0, 0};
  for (auto& buffer : launch.buffers) buffer.assign(150 * 16, std::byte{});
  run_interpreter(kernel, launch);
  for (std::size_t i = 0; i < 150; ++i) {
    c128 element;
    std::memcpy(&element, launch.buffers[0].data() + i * 16, 16);
    ASSERT_EQ(element, c128(4093));
  }
}

/// In blocks along the scan loop, across columns; partial results are wider than what is written.
TEST(Interp, ScansOfComplexNumbersKeepWiderPartialResults) {
  constexpr std::int64_t rows = 700, columns = 3;
  for (const bool is_sum : {true, false}) {
    const Kernel kernel = ir::parse(std::string(R"(kernel default unscheduled 0 {
      $0 out c64 [* 1]  $1 in c64 [* 1]
      scan parallel
    body:
      %0 = load c64 $1
      %1 = cast c128 %0
      accumulate c128 $0 )") + (is_sum ? "add" : "mul") +
                                    " %1 }");
    ir::verify(kernel);
    std::vector<c64> from, to(rows * columns);
    for (std::int64_t i = 0; i < rows * columns; ++i)
      from.emplace_back(std::cos(0.1F * static_cast<float>(i)),
                        std::sin(0.1F * static_cast<float>(i)));
    std::byte* base[] = {reinterpret_cast<std::byte*>(to.data()),
                         reinterpret_cast<std::byte*>(from.data())};
    const std::int64_t extents[] = {rows, columns}, strides[] = {8 * columns, 8 * columns, 8, 8};
    const auto code = interp_backend().compile(kernel, {});
    const KernelArgs args{base, extents, strides, nullptr, code->context};
    code->entry(&args);
    for (std::int64_t column = 0; column < columns; ++column) {
      c128 kept(is_sum ? 0 : 1);
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto at = static_cast<std::size_t>(row * columns + column);
        const c128 x(from[at]);
        kept = is_sum ? kept + x
                      : c128(kept.real() * x.real() - kept.imag() * x.imag(),
                             kept.real() * x.imag() + kept.imag() * x.real());
        ASSERT_EQ(to[at], c64(kept)) << row;
      }
    }
  }
}

TEST(Interp, IsABackend) {
  EXPECT_EQ(interp_backend().name, "interp");
  Random random(15);
  EXPECT_EQ(interp_backend().refuses(ir::random_kernel(random), {}), "");
}

}  // namespace
}  // namespace weft::jit
