// Copies: every pair of dtypes, lazy bits, and the contiguous chain.
#include "runtime/log.h"
#include "tests/engine/support/engines.h"
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <sstream>
#include <string>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;

Sizes strides_of(const Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}

/// `source` converted element by element with weft/convert.h.
Tensor converted(const Tensor& source, DType dtype) {
  const Tensor result = new_tensor({source.sizes().begin(), source.sizes().end()}, dtype);
  visit_dtype(source.dtype(), [&]<class From>(std::type_identity<From>) {
    visit_dtype(dtype, [&]<class To>(std::type_identity<To>) {
      for (std::int64_t i = 0; i < source.numel(); ++i)
        put<To>(result, i, convert<To>(get<From>(source, i)));
    });
  });
  return result;
}

TEST(engine_copy, every_pair_of_dtypes) {
  Engine engine;
  Random random(11);
  for (const DType from : all_dtypes) {
    const Tensor source = new_tensor({3, 41}, from);
    randomise(source, random);
    const Tensor strided = new_tensor({41, 9}, from).slice(1, 1, 8, 3).t();
    randomise(strided, random);
    for (const DType to : all_dtypes) {
      SCOPED_TRACE(detail::concat(name(from), " to ", name(to)));
      const Tensor out = new_tensor({3, 41}, to);
      engine.copy(out, source);
      EXPECT_TRUE(same_tensor(out, converted(source, to)));
      const Tensor wide = new_tensor({3, 82}, to).slice(1, 0, {}, 2);
      engine.copy(wide, strided);
      EXPECT_TRUE(same_tensor(wide, converted(strided, to)));
      EXPECT_TRUE(same_tensor(engine.to(strided, to), converted(strided, to)));
    }
  }
}

TEST(engine_copy, complex_doubles_keep_their_bits_in_any_layout) {
  for (const auto& engine : engines({"interp", "xbyak", "llvm", "auto"})) {
    Random random(12);
    for (int round = 0; round < 300; ++round) {
      Sizes sizes(1 + ir::pick(random, 4));
      for (std::int64_t& size : sizes) size = 1 + static_cast<std::int64_t>(ir::pick(random, 20));
      const Tensor source = random_operand(sizes, DType::c128, random).expand(IntSpan(sizes));
      const Tensor out = random_layout(sizes, DType::c128, random);
      for (std::int64_t i = 0; i < source.numel(); ++i)
        put<std::array<std::uint64_t, 2>>(source, i, {random(), random()});
      engine->copy(out, source);
      for (std::int64_t i = 0; i < source.numel(); ++i)
        ASSERT_EQ(std::memcmp(element(out, i), element(source, i), 16), 0)
            << engine->options().backend << ", element " << i << " of round " << round;
    }
  }
}

TEST(engine_copy, values_of_pytorch) {
  Engine engine;
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor floats = tensor_of<float>({std::nanf(""), infinity, 3e9f, 300, -1.5f, -0.0f});
  const std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  EXPECT_THAT(elements<std::int32_t>(engine.to(floats, DType::i32)),
              ElementsAre(lowest, lowest, lowest, 300, -1, 0));
  const Tensor bytes = engine.to(floats, DType::u8);
  EXPECT_EQ(get<std::uint8_t>(bytes, 1), 0);
  EXPECT_EQ(get<std::uint8_t>(bytes, 3), 44);
  EXPECT_EQ(get<std::uint8_t>(bytes, 4), 255);
  EXPECT_THAT(elements<bool>(engine.to(floats, DType::boolean)),
              ElementsAreArray({true, true, true, true, true, false}));
}

TEST(engine_copy, source_broadcasts_and_destination_does_not) {
  Engine engine;
  const Tensor source = tensor_of<float>({1, 2, 3});
  const Tensor out = new_tensor({2, 3}, DType::f64);
  engine.copy(out, source);
  EXPECT_THAT(elements<double>(out), ElementsAreArray({1, 2, 3, 1, 2, 3}));
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_THROW(engine.copy(source, out), ArgumentError);
  EXPECT_THROW(engine.copy(new_tensor({2}, DType::f32), source), ArgumentError);
  EXPECT_THROW(engine.copy(new_tensor({0}, DType::f32), source), ArgumentError);
  EXPECT_THROW(engine.copy(new_tensor({1}, DType::f32).expand({3}), source), ArgumentError);
  EXPECT_THROW(engine.copy(Tensor(), source), ArgumentError);
  EXPECT_THROW(engine.copy(source, Tensor()), ArgumentError);
  EXPECT_THAT(elements<float>(source), ElementsAreArray({1, 2, 3}));
}

TEST(engine_copy, the_same_view_is_a_no_op) {
  Engine engine;
  const Tensor a = tensor_of<float>({1, 2, 3});
  engine.copy(a, a);
  engine.copy(a, a.view({3}));
  const Tensor expanded = scalar_tensor<float>(5).expand({4});
  engine.copy(expanded, expanded.view({4}));
  EXPECT_EQ(engine.stats().plan_misses, 0u);
}

/// Reads and writes through all combinations of lazy bits, against arithmetic on the values.
TEST(engine_copy, conj_and_neg_bits) {
  Engine engine;
  for (int bits = 0; bits < 16; ++bits) {
    const Tensor source = tensor_of<c64>({c64(1, 2), c64(-3, 4), c64(5, -6)});
    const Tensor memory = new_tensor({3}, DType::c64);
    Tensor from = source, to = memory;
    if (bits & 1) from = from.conj();
    if (bits & 2) from = from.neg_view();
    if (bits & 4) to = to.conj();
    if (bits & 8) to = to.neg_view();
    engine.copy(to, from);
    const float imag_sign = ((bits & 1) != 0) != ((bits & 4) != 0) ? -1 : 1;
    const float sign = ((bits & 2) != 0) != ((bits & 8) != 0) ? -1 : 1;
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(get<c64>(memory, i).real(), sign * get<c64>(source, i).real()) << bits;
      EXPECT_EQ(get<c64>(memory, i).imag(), sign * imag_sign * get<c64>(source, i).imag()) << bits;
    }
  }
  const Tensor a = tensor_of<c64>({c64(1, 2)});
  EXPECT_THAT(elements<float>(engine.clone(a.conj().imag())), ElementsAre(-2));
  const Tensor clone = engine.clone(a.conj());
  EXPECT_FALSE(clone.is_conj());
  EXPECT_EQ(get<c64>(clone, 0).imag(), -2);
  // In an expression, and into an output of another dtype.
  EXPECT_EQ(get<c64>(engine.eval(Expr(a.conj()) + Expr(a)), 0).imag(), 0);
  const Tensor wide = new_tensor({1}, DType::c128);
  engine.copy(wide.conj(), a.neg_view());
  EXPECT_EQ(get<c128>(wide, 0), c128(-1, 2));
}

TEST(engine_copy, discarded_imaginary_parts_are_logged) {
  Engine engine;
  const Tensor from = tensor_of<c64>({c64(1, 2)});
  set_log_topics("plan");
  ::testing::internal::CaptureStderr();
  for (int repeat = 0; repeat < 2; ++repeat) engine.copy(new_tensor({1}, DType::f32), from);
  engine.copy(new_tensor({1}, DType::c128), from);
  engine.copy(new_tensor({1}, DType::boolean), from);
  std::istringstream lines(::testing::internal::GetCapturedStderr());
  set_log_topics("");
  int num_warnings = 0, num_plans = 0;
  for (std::string line; std::getline(lines, line);)
    ++(line == "weft plan: Casting complex values to real discards the imaginary part"
           ? num_warnings
           : num_plans);
  EXPECT_EQ(num_warnings, 1);
  EXPECT_EQ(num_plans, 3);
}

TEST(engine_copy, backwards_over_itself_with_bits) {
  Engine engine;
  const Tensor a = tensor_of<c64>({c64(1, 1), c64(2, 2), c64(3, 3)});
  engine.copy(a.flip({0}), a.conj());
  EXPECT_THAT(elements<c64>(a), ElementsAre(c64(3, -3), c64(2, -2), c64(1, -1)));
}

TEST(engine_chain, clone_keeps_dense_strides) {
  Engine engine;
  const Tensor a = tensor_of<float>({0, 1, 2, 3, 4, 5}, {2, 3}).t();
  const Tensor clone = engine.clone(a);
  EXPECT_EQ(strides_of(clone), (Sizes{1, 3}));
  EXPECT_TRUE(same_tensor(clone, a));
  EXPECT_NE(clone.storage(), a.storage());
  EXPECT_EQ(strides_of(engine.clone(a, MemoryFormat::contiguous)), (Sizes{2, 1}));
  EXPECT_EQ(strides_of(engine.clone(new_tensor({3}, DType::f32).expand({4, 3}))), (Sizes{3, 1}));
  EXPECT_THROW(engine.clone(a, MemoryFormat::channels_last), ArgumentError);
}

TEST(engine_chain, example_5_ambiguity_of_one_channel) {
  Engine engine;
  const Tensor ambiguous = new_tensor({2, 1, 4, 4}, DType::f32);
  const Tensor same = engine.contiguous(ambiguous, MemoryFormat::channels_last);
  EXPECT_TRUE(same.is_same(ambiguous));
  EXPECT_EQ(strides_of(same), (Sizes{16, 16, 4, 1}));
}

TEST(engine_chain, contiguous) {
  Engine engine;
  const Tensor a = tensor_of<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_TRUE(engine.contiguous(a).is_same(a));
  EXPECT_TRUE(engine.contiguous(a, MemoryFormat::preserve).is_same(a));
  const Tensor dense = engine.contiguous(a.t());
  EXPECT_EQ(strides_of(dense), (Sizes{2, 1}));
  EXPECT_THAT(elements<float>(dense), ElementsAreArray({0, 3, 1, 4, 2, 5}));
  try {
    engine.contiguous(a.t(), MemoryFormat::preserve);
    FAIL() << "preserve is taken";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(
        error.what(),
        matchers::HasSubstr("preserve memory format is unsupported by the contiguous operator"));
  }
  const Tensor images = laid_out(Layout::contiguous, {2, 3, 4, 5}, DType::i16);
  const Tensor last = engine.contiguous(images, MemoryFormat::channels_last);
  EXPECT_EQ(strides_of(last), (Sizes{60, 1, 15, 3}));
  EXPECT_TRUE(same_tensor(last, images));
}

TEST(engine_chain, to_and_reshape) {
  Engine engine;
  const Tensor a = tensor_of<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_TRUE(engine.to(a, DType::f32).is_same(a));
  EXPECT_EQ(strides_of(engine.to(a.t(), DType::i64)), (Sizes{1, 3}));
  const Sizes flat{-1}, bad{4, 2}, two{2, -1};
  EXPECT_EQ(engine.reshape(a, flat).storage(), a.storage());
  const Tensor copied = engine.reshape(a.t(), two);
  EXPECT_NE(copied.storage(), a.storage());
  EXPECT_THAT(elements<float>(copied), ElementsAreArray({0, 3, 1, 4, 2, 5}));
  EXPECT_THROW(engine.reshape(a, bad), ArgumentError);
}

/// Example 6: the left operand's format, but where one format fits both strides.
TEST(engine_chain, example_6_the_left_operand_decides) {
  Engine engine;
  const Tensor contiguous = new_tensor({2, 3, 4, 5}, DType::f32);
  const Tensor last = new_tensor({2, 3, 4, 5}, DType::f32, MemoryFormat::channels_last);
  const Tensor ambiguous = new_tensor({2, 1, 4, 5}, DType::f32);
  const Tensor ambiguous_last = new_tensor({2, 1, 4, 5}, DType::f32, MemoryFormat::channels_last);
  const auto format = [&](const Tensor& a, const Tensor& b) {
    return engine.binary(Op::add, a, b).suggest_memory_format();
  };
  EXPECT_EQ(format(ambiguous, contiguous), MemoryFormat::contiguous);
  EXPECT_EQ(format(ambiguous, last), MemoryFormat::channels_last);
  EXPECT_EQ(format(contiguous, ambiguous_last), MemoryFormat::contiguous);
  EXPECT_EQ(format(last, ambiguous), MemoryFormat::channels_last);
  EXPECT_EQ(format(contiguous, last), MemoryFormat::contiguous);
  EXPECT_EQ(format(last, contiguous), MemoryFormat::channels_last);
  EXPECT_EQ(strides_of(engine.binary(Op::add, ambiguous_last, ambiguous)), (Sizes{20, 20, 5, 1}));
}

}  // namespace
}  // namespace weft::testing
