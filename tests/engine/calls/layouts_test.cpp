// Results over layouts of every kind against plain loops over indices.
#include "tests/engine/support/layouts.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

namespace weft::testing {
namespace {

/// What C++ makes of an op on elements; integers wrap.
template <class T>
T plain(Op op, T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::uint64_t;
    const auto a = static_cast<Wide>(x);
    const auto b = static_cast<Wide>(y);
    return static_cast<T>(op == Op::add ? a + b : op == Op::sub ? a - b : a * b);
  } else {
    return op == Op::add ? x + y : op == Op::sub ? x - y : x * y;
  }
}

/// The number of the element of `tensor` that element `number` of `sizes` reads.
std::int64_t broadcast_number(const Tensor& tensor, const Sizes& sizes, std::int64_t number) {
  std::int64_t result = 0, scale = 1;
  for (int i = 1; i <= static_cast<int>(sizes.size()); ++i) {
    const std::int64_t size = sizes[sizes.size() - static_cast<std::size_t>(i)];
    const std::int64_t index = number % size;
    number /= size;
    if (i > tensor.dim()) continue;
    const std::int64_t own = tensor.size(-i);
    result += (own == 1 ? 0 : index) * scale;
    scale *= own;
  }
  return result;
}

template <class T>
std::vector<T> plain_binary(Op op, const Tensor& a, const Tensor& b, const Sizes& sizes) {
  std::int64_t numel = 1;
  for (const std::int64_t size : sizes) numel *= size;
  std::vector<T> result;
  for (std::int64_t i = 0; i < numel; ++i)
    result.push_back(plain<T>(op, get<T>(a, broadcast_number(a, sizes, i)),
                              get<T>(b, broadcast_number(b, sizes, i))));
  return result;
}

/// Small whole numbers, so that every arithmetic is exact and every dtype can hold them.
template <class T>
void number_elements(const Tensor& tensor, int start) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    put<T>(tensor, i, static_cast<T>((i * 7 + start) % 120));
}

class EngineLayouts : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      engine_ = std::make_unique<Engine>(EngineOptions{GetParam(), Numerics::standard, 0});
    } catch (const UnsupportedError& error) {
      leave_out_without(GetParam(), error.what());
    }
  }

  static bool is_slow_to_compile() { return std::string_view(GetParam()) == "llvm"; }

  template <class T>
  void every_layout_of_both_operands(Op op) {
    const Sizes sizes{2, 3, 5, 18};
    for (const Layout left : input_layouts) {
      for (const Layout right : input_layouts) {
        if (is_slow_to_compile() && (static_cast<int>(left) + static_cast<int>(right)) % 4 != 0)
          continue;
        SCOPED_TRACE(detail::concat(weft::name(op), " ", weft::name(dtype_of<T>), " ", name(left),
                                    " ", name(right)));
        const Tensor a = laid_out(left, sizes, dtype_of<T>);
        const Tensor b = laid_out(right, sizes, dtype_of<T>);
        number_elements<T>(a, 1);
        number_elements<T>(b, 50);
        const Sizes result_sizes = infer_size(a.sizes(), b.sizes());
        const std::vector<T> expected = plain_binary<T>(op, a, b, result_sizes);
        const Tensor result = engine_->binary(op, a, b);
        EXPECT_TRUE(std::ranges::equal(result.sizes(), result_sizes));
        EXPECT_EQ(elements<T>(result), expected);
        if (result_sizes != sizes) continue;
        for (const Layout layout : output_layouts) {
          const Tensor out = laid_out(layout, sizes, dtype_of<T>);
          engine_->binary(op, a, b, out);
          EXPECT_EQ(elements<T>(out), expected) << "into " << name(layout);
        }
      }
    }
  }

  std::unique_ptr<Engine> engine_;
};

TEST_P(EngineLayouts, f32) { every_layout_of_both_operands<float>(Op::add); }
TEST_P(EngineLayouts, f64) { every_layout_of_both_operands<double>(Op::mul); }
TEST_P(EngineLayouts, i8) { every_layout_of_both_operands<std::int8_t>(Op::mul); }
TEST_P(EngineLayouts, u16) { every_layout_of_both_operands<std::uint16_t>(Op::sub); }
TEST_P(EngineLayouts, i32) { every_layout_of_both_operands<std::int32_t>(Op::sub); }
TEST_P(EngineLayouts, i64) { every_layout_of_both_operands<std::int64_t>(Op::mul); }

/// where(a < b, a * b + c, c - a), over ranks 0 to 6 and layouts of all kinds.
TEST_P(EngineLayouts, random_expressions) {
  Random random(7);
  const int cases = is_slow_to_compile() ? 150 : 1500;
  for (int round = 0; round < cases; ++round) {
    Sizes sizes(ir::pick(random, 7));
    for (std::int64_t& size : sizes)
      size = static_cast<std::int64_t>(ir::pick(random, round % 8 == 0 ? 4 : 3) +
                                       (round % 8 == 0 ? 0 : 1));
    const Tensor a = random_operand(sizes, DType::i32, random);
    const Tensor b = random_operand(sizes, DType::i32, random);
    const Tensor c = random_operand(sizes, DType::i32, random);
    for (const Tensor& tensor : {a, b, c})
      number_elements<std::int32_t>(tensor, static_cast<int>(ir::pick(random, 100)));
    const Sizes result_sizes = infer_size(infer_size(a.sizes(), b.sizes()), c.sizes());
    SCOPED_TRACE(
        detail::concat("round ", round, ": ", describe(a), ", ", describe(b), ", ", describe(c)));
    std::int64_t numel = 1;
    for (const std::int64_t size : result_sizes) numel *= size;
    std::vector<std::int32_t> expected;
    for (std::int64_t i = 0; i < numel; ++i) {
      const auto x = get<std::int32_t>(a, broadcast_number(a, result_sizes, i));
      const auto y = get<std::int32_t>(b, broadcast_number(b, result_sizes, i));
      const auto z = get<std::int32_t>(c, broadcast_number(c, result_sizes, i));
      expected.push_back(x < y ? x * y + z : z - x);
    }
    const Expr expr = ops::where(Expr(a) < Expr(b), Expr(a) * Expr(b) + Expr(c), Expr(c) - Expr(a));
    Tensor out;
    if (round % 2 == 0) {
      out = engine_->eval(expr);
    } else {
      out = random_layout(result_sizes, DType::i32, random);
      engine_->eval(expr, out);
    }
    ASSERT_TRUE(std::ranges::equal(out.sizes(), result_sizes));
    ASSERT_EQ(elements<std::int32_t>(out), expected);
  }
}

/// Long enough to be shared among threads, and not a multiple of anything.
TEST_P(EngineLayouts, large_views) {
  const Sizes sizes{3, 517, 261};
  const Tensor a = new_tensor({261, 517, 3}, DType::f32).transpose(0, 2);
  const Tensor b = new_tensor({517, 1}, DType::f32);
  const Tensor c = new_tensor(sizes, DType::f32).flip({1, 2});
  number_elements<float>(a, 3);
  number_elements<float>(b, 5);
  const std::vector<float> expected = plain_binary<float>(Op::sub, a, b, sizes);
  EXPECT_EQ(elements<float>(engine_->binary(Op::sub, a, b)), expected);
  engine_->binary(Op::sub, a, b, c);
  EXPECT_EQ(elements<float>(c), expected);
}

TEST_P(EngineLayouts, nothing_to_do) {
  for (const Sizes& sizes : {Sizes{0}, Sizes{3, 0, 2}, Sizes{0, 0}}) {
    const Tensor a = new_tensor(sizes, DType::f32);
    const Tensor b = scalar_tensor<float>(1);
    for (int repeat = 0; repeat < 2; ++repeat) {  // planned, then found
      const Tensor result = engine_->binary(Op::add, a, b);
      EXPECT_TRUE(std::ranges::equal(result.sizes(), sizes));
      engine_->binary(Op::add, a, b, result);
      engine_->copy(result, a);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(backends, EngineLayouts,
                         ::testing::Values("interp", "xbyak", "llvm", "auto"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::testing
