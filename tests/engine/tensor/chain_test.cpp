// The contiguous chain and factories: inference, conversion, lazy bits, fill, ranges, zero tensors.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/cuda.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>

namespace weft::testing {
namespace {

using matchers::Each;
using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;

Sizes strides_of(const Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}
Sizes sizes_of(const Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

template <class Call>
std::string message(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "nothing is thrown";
}

Tensor range(std::int64_t count) { return arange(Scalar(0), Scalar(count), Scalar(1), DType::f32); }

TEST(Chain, InferenceIsWhatEvalReturns) {
  Engine engine;
  std::mt19937 random(3);
  const DType dtypes[] = {DType::f32, DType::i32, DType::f64, DType::u8};
  for (int i = 0; i < 300; ++i) {
    Sizes sizes(random() % 5);
    for (std::int64_t& size : sizes) size = random() % 3 == 0 ? 1 : 1 + random() % 4;
    const auto operand = [&] {
      Tensor tensor = zeros(sizes, {dtypes[random() % 4], {}, MemoryFormat::contiguous});
      const int ndim = tensor.dim();
      if (ndim >= 2 && random() % 2 == 0) {
        const int a = random() % ndim, b = random() % ndim;
        Sizes swapped = sizes;
        std::swap(swapped[a], swapped[b]);
        tensor = zeros(swapped, {tensor.dtype(), {}, MemoryFormat::contiguous}).transpose(a, b);
      }
      return tensor;
    };
    const Tensor a = operand(), b = operand();
    const Expr expr = Expr(a) * Expr(b) + Expr(1.5);
    const Tensor result = engine.eval(expr);
    const Inferred inferred = engine.infer(expr);
    ASSERT_EQ(inferred.dtype, result.dtype());
    ASSERT_EQ(inferred.sizes, sizes_of(result));
    ASSERT_EQ(inferred.strides, strides_of(result)) << describe(a) << " " << describe(b);
    const Tensor layout = unbacked(a.sizes(), a.strides(), a.dtype());
    ASSERT_EQ(engine.infer(Expr(layout) * Expr(b) + Expr(1.5)).strides, inferred.strides);
  }
}

TEST(Chain, InferenceCallsOperandsByTheirDevice) {
  Engine engine;
  const Tensor a = range(6).view({2, 3}), b = range(5);
  EXPECT_THAT(message([&] { engine.infer(Expr(a) + Expr::named("mask", b)); }),
              HasSubstr("input 1 `mask` is f32[5] strides [1] cpu"));
  EXPECT_THAT(message([&] { engine.infer(Expr(a) + 1, a.as_read_only()); }), HasSubstr(" cpu"));
  const TensorOptions on_meta{DType::f32, {DeviceType::meta, 0}};
  EXPECT_THAT(message([&] { engine.infer(empty({2}, on_meta) + Expr(empty({5}, on_meta))); }),
              HasSubstr("input 1 is f32[5] strides [1] meta"));
  EXPECT_EQ(engine.infer(Expr(a) + 1, empty({1})).sizes, sizes_of(a));
  EXPECT_EQ(engine.infer(zeros({0, 3}) + Expr(a.select(0, 0))).sizes, (Sizes{0, 3}));
}

TEST(Chain, ToConvertsWhatIsAskedFor) {
  Engine engine;
  const Tensor a = range(24).view({1, 2, 3, 4});
  EXPECT_TRUE(engine.to(a, ToOptions{}).is_same(a));
  ToOptions copy;
  copy.copy = true;
  const Tensor copied = engine.to(a, copy);
  EXPECT_NE(copied.storage(), a.storage());
  EXPECT_EQ(elements<float>(copied), elements<float>(a));
  ToOptions format;
  format.memory_format = MemoryFormat::channels_last;
  const Tensor last = engine.to(a, format);
  EXPECT_EQ(strides_of(last), (Sizes{24, 1, 8, 2}));
  EXPECT_EQ(elements<float>(last), elements<float>(a));
  ToOptions dtype;
  dtype.dtype = DType::i32;
  EXPECT_THAT(elements<std::int32_t>(engine.to(range(3), dtype)), ElementsAreArray({0, 1, 2}));
  ToOptions device;
  device.device = Device{DeviceType::cuda, 0};
  if (cuda::num_devices() == 0) {
    EXPECT_THAT(
        message([&] { engine.to(a, device); }),
        HasSubstr("unsupported: device cuda:0 can't be used: the CUDA driver is not found"));
  }
}

TEST(Chain, LazyBitsAreResolved) {
  Engine engine;
  const Tensor a = tensor_of<c64>({c64(1, 2), c64(3, -4)});
  EXPECT_TRUE(engine.resolve_conj(a).is_same(a));
  EXPECT_TRUE(engine.resolve_neg(a).is_same(a));
  const Tensor conjugate = engine.resolve_conj(a.conj());
  EXPECT_FALSE(conjugate.is_conj());
  EXPECT_THAT(elements<c64>(conjugate), ElementsAre(c64(1, -2), c64(3, 4)));
  const Tensor negative = engine.resolve_neg(range(3).neg_view());
  EXPECT_FALSE(negative.is_neg());
  EXPECT_THAT(elements<float>(negative), ElementsAre(-0.0F, -1, -2));
}

/// copy() negates what it has converted, as copy_() does.
TEST(Chain, ToConvertsWhatANegatedViewReads) {
  Engine engine;
  const Tensor bytes = full({2}, 1, DType::u8).neg_view(),
               least = full({1}, -128, DType::i8).neg_view();
  EXPECT_THAT(elements<float>(engine.to(bytes, DType::f32)), ElementsAre(255, 255));
  EXPECT_THAT(elements<std::int64_t>(engine.to(bytes, DType::i64)), ElementsAre(255, 255));
  EXPECT_THAT(elements<std::int16_t>(engine.to(least, DType::i16)), ElementsAre(-128));
  const Tensor copied = empty({2}, DType::f32);
  engine.copy(copied, bytes);
  EXPECT_THAT(elements<float>(copied), ElementsAre(-1, -1));
}

TEST(Chain, FillWritesEveryElementOnce) {
  Engine engine;
  const Tensor whole = range(12);
  engine.fill(whole.slice(0, 1, 12, 3), Scalar(7.9));
  EXPECT_THAT(elements<float>(whole), ElementsAre(0, 7.9F, 2, 3, 7.9F, 5, 6, 7.9F, 8, 9, 7.9F, 11));
  const Tensor bytes = new_tensor({4}, DType::u8);
  engine.fill(bytes, Scalar(258));
  EXPECT_THAT(elements<std::uint8_t>(bytes), Each(2));
}

TEST(Factory, Full) {
  const Sizes sizes = {2, 3};
  EXPECT_THAT(elements<std::int16_t>(full(IntSpan(sizes), Scalar(-3), {DType::i16, {}, {}})),
              Each(-3));
  EXPECT_EQ(full(IntSpan(sizes), Scalar(true), {DType::boolean, {}, {}}).numel(), 6);
  EXPECT_THAT(elements<c64>(full(IntSpan(sizes), Scalar(2), {DType::c64, {}, {}})),
              Each(c64(2, 0)));
}

/// As PyTorch 1.13 answers.
TEST(Factory, Arange) {
  EXPECT_THAT(elements<std::int64_t>(arange(Scalar(5))), ElementsAreArray({0, 1, 2, 3, 4}));
  EXPECT_THAT(elements<std::int64_t>(arange(Scalar(2), Scalar(7), Scalar(2))),
              ElementsAreArray({2, 4, 6}));
  EXPECT_THAT(elements<std::int64_t>(arange(Scalar(5), Scalar(0), Scalar(-2))),
              ElementsAreArray({5, 3, 1}));
  EXPECT_THAT(elements<std::int64_t>(arange(Scalar(-3), Scalar(3), Scalar(2))),
              ElementsAreArray({-3, -1, 1}));
  EXPECT_EQ(arange(Scalar(3), Scalar(3)).numel(), 0);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(elements<std::int64_t>(
                  arange(Scalar(least), Scalar(-(least + 1)), Scalar(std::int64_t{1} << 62))),
              ElementsAreArray({least, least / 2, std::int64_t{0}, -(least / 2)}));
  EXPECT_THAT(elements<float>(arange(Scalar(1.5), Scalar(4))), ElementsAre(1.5F, 2.5F, 3.5F));
  EXPECT_THAT(elements<float>(arange(Scalar(0.0), Scalar(1.0), Scalar(0.3))),
              ElementsAre(0, 0.30000001192092896F, 0.6000000238418579F, 0.8999999761581421F));
  EXPECT_THAT(elements<std::int32_t>(arange(Scalar(0), Scalar(2.5), Scalar(1), DType::i32)),
              ElementsAreArray({0, 1, 2}));
  // Integers count in whole numbers; only i64 has as many as these make.
  EXPECT_THAT(elements<std::int64_t>(arange(0, 2.5, 1, DType::i64)), ElementsAreArray({0, 1}));
  EXPECT_THAT(elements<std::int64_t>(arange(-2.223, 11, 2, DType::i64)),
              ElementsAreArray({-2, 0, 2, 4, 6, 8, 10}));
  EXPECT_THAT(elements<std::int32_t>(arange(-2, 1.5, 1.5, DType::i32)),
              ElementsAreArray({-2, -1, 0}));
  EXPECT_THAT(elements<std::int32_t>(arange(5.5, 0.2, -1.5, DType::i32)),
              ElementsAreArray({5, 4, 3, 2}));
  EXPECT_THAT(message([] { arange(-0.3, 2.385, 0.5, DType::i8); }),
              HasSubstr("step must be nonzero"));
  EXPECT_THAT(message([] { arange(0, 1e300, 1, DType::i64); }), HasSubstr("without overflow"));
  EXPECT_THAT(message([] { arange(Scalar(0), Scalar(1), Scalar(0)); }),
              HasSubstr("step must be nonzero"));
  EXPECT_THAT(message([] { arange(Scalar(1), Scalar(0)); }),
              HasSubstr("upper bound and larger bound inconsistent with step sign"));
  EXPECT_THAT(message([] { arange(Scalar(0), Scalar(std::numeric_limits<double>::infinity())); }),
              HasSubstr("unsupported range: 0 -> inf"));
  EXPECT_THAT(message([] { arange(0, 1, std::numeric_limits<double>::quiet_NaN()); }),
              HasSubstr("unsupported range: 0 -> 1 in steps of nan"));
}

TEST(Factory, IntegersBeyondI64GoToU64Alone) {
  using Ints = std::vector<std::uint64_t>;
  constexpr std::uint64_t half = std::uint64_t{1} << 63, most = ~std::uint64_t{0};
  const auto range = [](Scalar start, Scalar end, Scalar step) {
    return elements<std::uint64_t>(arange(start, end, step, DType::u64));
  };
  EXPECT_EQ(range(0, half, half / 2), (Ints{0, half / 2}));
  EXPECT_EQ(range(0, most, half - 1), (Ints{0, half - 1, most - 1}));
  EXPECT_EQ(range(most - 2, most, 1), (Ints{most - 2, most - 1}));
  EXPECT_EQ(range(most, half, -(std::int64_t{1} << 62)), (Ints{most, most - half / 2}));
  const std::optional<DType> others[] = {std::nullopt, DType::i64, DType::f64, DType::i32};
  for (const auto& dtype : others)
    EXPECT_THAT(message([&] { arange(0, most, half / 2, dtype); }),
                HasSubstr("to type i64 without overflow: 18446744073709551615"));
  EXPECT_THAT(message([] { arange(most - 1); }), HasSubstr("without overflow"));
  EXPECT_THAT(message([] { full({1}, most); }),
              HasSubstr("full(): 18446744073709551615 does not fit in i64"));
  EXPECT_THAT(elements<std::uint64_t>(full({1}, most, DType::u64)), Each(most));
}

TEST(Factory, ResizeAsTakesTheSizes) {
  const Tensor like = new_tensor({2, 3, 4, 5}, DType::f64, MemoryFormat::channels_last);
  const Tensor a = range(4);
  a.resize_as_(like);
  EXPECT_EQ(sizes_of(a), (Sizes{2, 3, 4, 5}));
  EXPECT_EQ(strides_of(a), (Sizes{60, 20, 5, 1}));
  EXPECT_EQ(a.dtype(), DType::f32);
  const Tensor b = range(4);
  b.resize_as_(like, MemoryFormat::preserve);
  EXPECT_EQ(strides_of(b), (Sizes{60, 1, 15, 3}));
}

TEST(Factory, ResizeAsMakesRoomForTheStridesOfTheFormat) {
  const Tensor like = new_tensor({2, 3, 4, 5}, DType::f64, MemoryFormat::channels_last);
  const auto has_room = [](const Tensor& a) {
    return a.storage()->size_bytes() >=
           static_cast<std::size_t>(a.storage_offset() + a.numel()) * itemsize_bytes(a.dtype());
  };
  const Tensor expanded = range(1).view({1, 1, 1, 1}).expand({2, 3, 4, 5});
  const Tensor flipped = range(120).view({2, 3, 4, 5}).flip({0, 1, 2, 3});
  const Tensor inside = range(121).slice(0, 1, {}).view({2, 3, 4, 5});
  for (const Tensor& a : {expanded, flipped, inside}) {
    a.resize_as_(like, MemoryFormat::channels_last);
    EXPECT_EQ(strides_of(a), (Sizes{60, 1, 15, 3}));
    EXPECT_TRUE(has_room(a)) << describe(a);
  }
  // A refused call leaves all as it was.
  const Tensor flat = range(6).view({2, 3});
  EXPECT_THROW(flat.resize_as_(range(35).view({5, 7}), MemoryFormat::channels_last), ArgumentError);
  EXPECT_EQ(sizes_of(flat), (Sizes{2, 3}));
  const Tensor zeros = zero_tensor({4});
  EXPECT_THAT(message([&] { zeros.resize_({6}); }), HasSubstr("ZeroTensors are immutable"));
  EXPECT_THROW(zeros.resize_as_(range(6)), ArgumentError);
  EXPECT_EQ(sizes_of(zeros), Sizes{4});
}

TEST(ZeroTensor, ReadsAsZerosEverywhere) {
  Engine engine;
  const Sizes sizes = {2, 3};
  const Tensor zero = zero_tensor(IntSpan(sizes));
  EXPECT_TRUE(zero.is_zero_tensor());
  EXPECT_EQ(zero.storage()->size_bytes(), 4);
  EXPECT_THAT(elements<float>(zero.t()), Each(0));
  const Tensor copy = engine.clone(zero.transpose(0, 1));
  EXPECT_FALSE(copy.is_zero_tensor());
  EXPECT_THAT(elements<float>(copy), Each(0));
  const Tensor a = range(6).view({2, 3});
  EXPECT_EQ(elements<float>(engine.binary(Op::add, a, zero)), elements<float>(a));
}

/// As eval(): an output that is an input keeps its sizes, and may not lie half over another.
TEST(Infer, KnowsOutputsFromInputs) {
  Engine engine;
  const Tensor a = range(6).view({2, 3}), b = range(3), s = range(16).view({4, 4});
  EXPECT_EQ(message([&] { engine.infer(Expr(a) + b, b); }),
            message([&] { engine.eval(Expr(a) + b, b); }));
  EXPECT_THAT(message([&] { engine.infer(Expr(a) + b, b); }), HasSubstr("doesn't match"));
  EXPECT_EQ(message([&] { engine.infer(-Expr(s), s.t()); }),
            message([&] { engine.eval(-Expr(s), s.t()); }));
  EXPECT_THAT(message([&] { engine.infer(-Expr(s), s.t()); }), HasSubstr("input tensor"));
  EXPECT_EQ(engine.infer(-Expr(s), s).strides, (Sizes{4, 1}));
  EXPECT_EQ(engine.infer(Expr(a.select(0, 0)) + 1, a.select(0, 1)).sizes, Sizes{3});
}

TEST(ZeroTensor, RefusesToBeWritten) {
  Engine engine;
  const Sizes sizes = {2, 3};
  const Tensor zero = zero_tensor(IntSpan(sizes));
  const Tensor a = range(6).view({2, 3});
  const auto refuses = [&](const auto& call) {
    EXPECT_THAT(message(call), HasSubstr("argument: ZeroTensors are immutable. Please use the "
                                         "materialized zero tensor obtained using .clone() if "
                                         "you want a mutable version."));
  };
  refuses([&] { engine.binary(Op::add, a, a, zero); });
  refuses([&] { engine.copy(zero, a); });
  refuses([&] { engine.fill(zero, Scalar(1)); });
  refuses([&] { engine.copy(zero.t(), a.t()); });
  refuses([&] { engine.fill(zero.select(0, 1), Scalar(1)); });
  refuses([&] { engine.copy(zero.as_strided(Sizes{6}, Sizes{0}), a.view({6})); });
  refuses([&] { engine.copy(zero.narrow(1, 0, 2), a.narrow(1, 0, 2)); });
  refuses([&] { engine.copy(zero.flip({0}), a); });
  refuses([&] { engine.copy(zero.unsqueeze(0).squeeze(0), a); });
  EXPECT_THAT(elements<float>(zero), Each(0));
}

}  // namespace
}  // namespace weft::testing
