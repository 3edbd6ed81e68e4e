// Dtypes of results of calls and expressions, and the values that follow from them.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/naive.h>
#include <weft/promotion.h>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;

template <class T>
Tensor one(T value) {
  return tensor_of<T>({value});
}

TEST(engine_promotion, a_square_of_bool_is_an_integer) {
  Engine engine;
  const Tensor flags = engine.to(full(std::array<std::int64_t, 1>{2}, 1), DType::boolean);
  const Tensor squares = engine.unary(Op::square, flags);
  EXPECT_EQ(squares.dtype(), DType::i64);  // as pow(x, 2)
  EXPECT_EQ(squares.data_as<std::int64_t>()[1], 1);
}

TEST(engine_promotion, numbers_only_raise_the_kind) {
  Engine engine;
  const Tensor bytes = one<std::uint8_t>(1);
  const Tensor wrapped = engine.eval(Expr(bytes) + 1000);
  EXPECT_EQ(wrapped.dtype(), DType::u8);
  EXPECT_THAT(elements<std::uint8_t>(wrapped), ElementsAre(233));
  EXPECT_EQ(engine.eval(Expr(bytes) + 1.5).dtype(), DType::f32);
  EXPECT_EQ(engine.eval(Expr(one<bool>(true)) + 1).dtype(), DType::i64);
  EXPECT_EQ(engine.eval(Expr(one<f16>(f16{})) * 2.5).dtype(), DType::f16);
  EXPECT_EQ(engine.eval(Expr(one<double>(1)) + 0.1).dtype(), DType::f64);
  EXPECT_EQ(get<double>(engine.eval(Expr(one<double>(1)) * 0.1), 0), 0.1);  // not by way of f32
  EXPECT_EQ(engine.eval(Expr(one<std::int32_t>(1)) * Scalar(std::complex<double>(0, 1))).dtype(),
            DType::c64);
  EXPECT_EQ(engine.eval(Expr(one<double>(1)) * Scalar(std::complex<double>(0, 1))).dtype(),
            DType::c128);
}

// As PyTorch 1.13 gives them.
TEST(engine_promotion, numbers_that_are_parameters_take_the_tensors_dtype) {
  Engine engine;
  const Tensor ints = tensor_of<std::int32_t>({1, 5}), bytes = tensor_of<std::uint8_t>({1, 5}),
               mask = tensor_of<bool>({true, false});
  const auto int_elements = [&](const Expr& expr) {
    const Tensor result = engine.eval(expr);
    EXPECT_EQ(result.dtype(), DType::i32);
    return elements<std::int32_t>(result);
  };
  EXPECT_THAT(int_elements(ops::masked_fill(ints, mask, 1.5)), ElementsAreArray({1, 5}));
  EXPECT_THAT(int_elements(ops::masked_fill(ints, mask, -7.9)), ElementsAreArray({-7, 5}));
  EXPECT_THAT(int_elements(ops::threshold(ints, 1.5, 7.5)), ElementsAreArray({7, 5}));
  EXPECT_THAT(int_elements(ops::nan_to_num(ints, 1.5)), ElementsAreArray({1, 5}));
  EXPECT_THAT(int_elements(ops::addcmul(ints, ints, ints, 0.5)), ElementsAreArray({1, 5}));
  EXPECT_THAT(int_elements(ops::addcmul(ints, ints, ints, 2)), ElementsAreArray({3, 55}));
  EXPECT_THAT(int_elements(ops::hardtanh(ints, -1.5, 2.5)), ElementsAreArray({1, 2}));
  EXPECT_EQ(engine.eval(ops::clamp(ints, 1.5)).dtype(), DType::f32);
  const Tensor both = engine.eval(ops::add(mask, mask, 2));
  EXPECT_EQ(both.dtype(), DType::boolean);
  EXPECT_THAT(elements<bool>(both), ElementsAreArray({true, false}));
  EXPECT_THAT(elements<std::uint8_t>(engine.eval(ops::sub(bytes, bytes, -1))),
              ElementsAreArray({2, 10}));
  EXPECT_THAT(elements<std::uint8_t>(engine.eval(ops::masked_fill(bytes, mask, -1))),
              ElementsAreArray({255, 5}));
}

TEST(engine_promotion, numbers_that_the_tensors_dtype_cannot_hold) {
  const Tensor ints = tensor_of<std::int32_t>({1}), bytes = tensor_of<std::uint8_t>({1}),
               mask = tensor_of<bool>({true}), floats = tensor_of<float>({1}),
               halves = tensor_of<f16>({f16{}});
  const Scalar i(std::complex<double>(0, 1));
  const std::pair<std::function<Expr()>, std::string_view> rows[] = {
      {[&] { return ops::add(ints, ints, 1.5); },
       "For integral input tensors, argument alpha must not be a floating point number."},
      {[&] { return ops::add(ints, ints, true); },
       "Boolean alpha only supported for Boolean results."},
      {[&] { return ops::add(floats, floats, i); },
       "For non-complex input tensors, argument alpha must not be a complex number."},
      {[&] { return ops::sub(mask, mask, true); },
       "Subtraction, the `-` operator, with two bool tensors is not supported."},
      {[&] { return ops::add(bytes, bytes, 300); },
       "add(): value cannot be converted to type u8 without overflow: 300"},
      {[&] { return ops::masked_fill(bytes, mask, 300); }, "type u8 without overflow: 300"},
      {[&] { return ops::masked_fill(bytes, mask, -1.5); }, "type u8 without overflow: -1.5"},
      {[&] { return ops::masked_fill(bytes, mask, -256); }, "type u8 without overflow: -256"},
      {[&] { return ops::masked_fill(ints, mask, 2147483648.0); }, "type i32 without overflow"},
      {[&] { return ops::masked_fill(ints, mask, i); }, "type i32 without overflow"},
      {[&] { return ops::masked_fill(halves, mask, 1e6); }, "type f16 without overflow"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.second);
    try {
      row.first();
      ADD_FAILURE() << "not refused";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.second));
    }
  }
  EXPECT_NO_THROW(ops::masked_fill(halves, mask, std::numeric_limits<double>::infinity()));
}

TEST(engine_promotion, tensors_without_dimensions_only_raise_the_kind) {
  Engine engine;
  const auto dtype = [&](const Tensor& a, const Tensor& b) {
    return engine.binary(Op::add, a, b).dtype();
  };
  EXPECT_EQ(dtype(one<float>(1), scalar_tensor<double>(1)), DType::f32);
  EXPECT_EQ(dtype(one<std::int32_t>(1), scalar_tensor<double>(1)), DType::f64);
  EXPECT_EQ(dtype(one<double>(1), scalar_tensor<c64>(c64(1, 0))), DType::c128);
  EXPECT_EQ(dtype(one<std::int8_t>(1), scalar_tensor<std::int64_t>(1)), DType::i8);
  EXPECT_EQ(dtype(scalar_tensor<std::int8_t>(1), scalar_tensor<std::int64_t>(1)), DType::i64);
  EXPECT_EQ(dtype(one<std::uint8_t>(1), one<std::int8_t>(1)), DType::i16);
  EXPECT_EQ(dtype(one<f16>(f16{}), one<bf16>(bf16{})), DType::f32);
  EXPECT_EQ(dtype(one<std::int64_t>(1), one<f16>(f16{})), DType::f16);
  EXPECT_THROW(dtype(one<f8e5m2>(f8e5m2{}), one<float>(1)), ArgumentError);
}

TEST(engine_promotion, result_rules) {
  Engine engine;
  const Tensor a = tensor_of<std::int32_t>({7, -7}), b = tensor_of<std::int32_t>({2, 2});
  const Tensor quotient = engine.binary(Op::div, a, b);
  EXPECT_EQ(quotient.dtype(), DType::f32);
  EXPECT_THAT(elements<float>(quotient), ElementsAreArray({3.5f, -3.5f}));
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::div_floor, a, b)),
              ElementsAreArray({3, -4}));
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::remainder, a, b)), ElementsAreArray({1, 1}));
  EXPECT_THAT(elements<std::int32_t>(engine.binary(Op::fmod, a, b)), ElementsAreArray({1, -1}));
  EXPECT_EQ(engine.unary(Op::exp, a).dtype(), DType::f32);
  EXPECT_EQ(engine.unary(Op::exp, one<double>(1)).dtype(), DType::f64);
  EXPECT_EQ(engine.binary(Op::lt, a, b).dtype(), DType::boolean);
  EXPECT_THAT(elements<bool>(engine.binary(Op::lt, a, b)), ElementsAreArray({false, true}));
  EXPECT_THAT(elements<bool>(engine.eval(Expr(a) > 6.5)), ElementsAreArray({true, false}));
  EXPECT_EQ(engine.unary(Op::abs, one<c128>(c128(3, 4))).dtype(), DType::f64);
  EXPECT_EQ(get<double>(engine.unary(Op::abs, one<c128>(c128(3, 4))), 0), 5);
  EXPECT_EQ(get<std::int8_t>(engine.unary(Op::abs, one<std::int8_t>(-128)), 0), -128);
}

TEST(engine_promotion, the_mask_of_where_takes_no_part) {
  Engine engine;
  const Tensor mask = tensor_of<bool>({true, false, true});
  const Tensor a = tensor_of<std::int16_t>({1, 2, 3}), b = tensor_of<float>({0.5f, 1.5f, 2.5f});
  const Tensor result = engine.ternary(Op::where, mask, a, b);
  EXPECT_EQ(result.dtype(), DType::f32);
  EXPECT_THAT(elements<float>(result), ElementsAre(1, 1.5f, 3));
  const Tensor numbers = engine.eval(ops::where(Expr(mask), Expr(1), Expr(0)));
  EXPECT_EQ(numbers.dtype(), DType::i64);
  EXPECT_THAT(elements<std::int64_t>(numbers), ElementsAreArray({1, 0, 1}));
  // A mask with dimensions makes the result dimensioned, so that numbers don't widen it.
  const Tensor zero = scalar_tensor<std::int8_t>(5);
  const Expr chosen = ops::where(Expr(mask), Expr(zero), Expr(zero));
  EXPECT_EQ((chosen + Expr(one<std::int64_t>(1))).dtype(), DType::i64);
  EXPECT_EQ((chosen + 1000).dtype(), DType::i8);
}

TEST(engine_promotion, every_node_as_if_called_alone) {
  Engine engine;
  const Tensor bytes = tensor_of<std::uint8_t>({200, 100});
  const Tensor wide = tensor_of<std::int32_t>({1, 1});
  // 200 + 100 wraps in u8 before it meets the i32.
  const Tensor result = engine.eval((Expr(bytes) + 100) + Expr(wide));
  EXPECT_THAT(elements<std::int32_t>(result), ElementsAreArray({45, 201}));
  const Tensor cast_first = engine.eval((cast(Expr(bytes), DType::i32) + 100) + Expr(wide));
  EXPECT_THAT(elements<std::int32_t>(cast_first), ElementsAreArray({301, 201}));
}

TEST(engine_promotion, operands_of_any_two_dtypes) {
  Engine engine;
  Random random(5);
  for (const DType left : all_dtypes) {
    for (const DType right : all_dtypes) {
      SCOPED_TRACE(detail::concat(name(left), " * ", name(right)));
      const Tensor a = new_tensor({19}, left), b = new_tensor({3, 1}, right);
      randomise(a, random);
      randomise(b, random);
      Tensor result;
      try {
        result = engine.binary(Op::mul, a, b);
      } catch (const ArgumentError&) {
        EXPECT_THROW(result_type(a, b), ArgumentError);
        continue;
      }
      EXPECT_EQ(result.dtype(), result_type(a, b));
      const Tensor expected = new_tensor({3, 19}, result.dtype());
      naive_eval(Expr(a) * Expr(b), expected);
      EXPECT_TRUE(same_tensor(result, expected));
    }
  }
}

TEST(engine_promotion, an_expression_of_numbers_only) {
  Engine engine;
  const Tensor result = engine.eval(Expr(2) + 3);
  EXPECT_EQ(result.dim(), 0);
  EXPECT_EQ(result.dtype(), DType::i64);
  EXPECT_EQ(get<std::int64_t>(result, 0), 5);
  EXPECT_EQ(engine.eval(Expr(0.5)).dtype(), DType::f32);
  EXPECT_EQ(engine.eval(cast(Expr(300), DType::u8)).item(), Scalar(44));
}

}  // namespace
}  // namespace weft::testing
