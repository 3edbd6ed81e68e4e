// The layout notation: what is read, what is written back, and what is refused.
#include "tests/matchers.h"

#include <weft/error.h>
#include <weft/expr.h>
#include <weft/tensor.h>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAreArray;
using matchers::HasSubstr;
using matchers::IsEmpty;

TEST(ParseLayout, ReadsEveryForm) {
  const Tensor plain = parse_layout("f32[2,3,4,5]");
  EXPECT_EQ(plain.dtype(), DType::f32);
  EXPECT_THAT(plain.sizes(), ElementsAreArray({2, 3, 4, 5}));
  EXPECT_THAT(plain.strides(), ElementsAreArray({60, 20, 5, 1}));
  EXPECT_EQ(plain.storage_offset(), 0);
  EXPECT_EQ(plain.data(), nullptr);
  EXPECT_EQ(plain.device(), Device{});
  EXPECT_THAT(parse_layout("f32[2,3,4,5]{60,1,15,3}").strides(), ElementsAreArray({60, 1, 15, 3}));
  EXPECT_THAT(parse_layout("bf16[2,3,4,5]:channels_last").strides(),
              ElementsAreArray({60, 1, 15, 3}));
  EXPECT_THAT(parse_layout("f64[2,3,4,5,6]:channels_last_3d").strides(),
              ElementsAreArray({360, 1, 90, 18, 3}));
  EXPECT_THAT(parse_layout("f32[]").sizes(), IsEmpty());
  EXPECT_EQ(parse_layout("f32[]").numel(), 1);
  EXPECT_EQ(parse_layout("i64[4]{2}@3").storage_offset(), 3);
  EXPECT_EQ(parse_layout("i64[]@7").storage_offset(), 7);
  EXPECT_THAT(parse_layout(" u8 [ 2 , 3 ] { 3 , 1 } @ 1 ").sizes(), ElementsAreArray({2, 3}));
  EXPECT_EQ(parse_layout("bool[0,3]").numel(), 0);
}

TEST(ParseLayout, KnowsEveryDType) {
  for (DType dtype : all_dtypes)
    EXPECT_EQ(parse_layout(std::string(name(dtype)) + "[2]").dtype(), dtype);
}

TEST(ParseLayout, NegativeStridesMoveTheFirstElementUnlessAnOffsetIsGiven) {
  EXPECT_EQ(parse_layout("f32[4]{-1}").storage_offset(), 3);
  EXPECT_EQ(parse_layout("f32[2,4]{4,-1}").storage_offset(), 3);
  EXPECT_EQ(parse_layout("f32[4]{-1}@5").storage_offset(), 5);
  EXPECT_THROW(parse_layout("f32[4]{-1}@2"), ArgumentError);
}

TEST(ParseLayout, StorageSpansTheLayoutExactly) {
  EXPECT_EQ(parse_layout("f32[3,4]{10,1}@5").storage()->size_bytes(), 4u * (5 + 2 * 10 + 3 + 1));
  EXPECT_EQ(parse_layout("f32[0]@5").storage()->size_bytes(), 0u);
}

TEST(LayoutText, LeavesOutWhatGoesWithoutSaying) {
  EXPECT_EQ(layout_text(parse_layout("f32[3,4]{4,1}")), "f32[3,4]");
  EXPECT_EQ(layout_text(parse_layout("f32[3,4]{1,3}@5")), "f32[3,4]{1,3}@5");
  EXPECT_EQ(layout_text(parse_layout("f32[1,3]{7,1}")), "f32[1,3]{7,1}");
  EXPECT_EQ(layout_text(parse_layout("c64[]@2")), "c64[]@2");
  // Nothing to say which strides are contiguous ones: they would not fit.
  EXPECT_EQ(layout_text(parse_layout("f32[2,9223372036854775807,0,5]{60,1,15,1}")),
            "f32[2,9223372036854775807,0,5]{60,1,15,1}");
  EXPECT_EQ(layout_text(parse_layout("f32[9,9223372036854775807,5,0]{1,5,1,1}")),
            "f32[9,9223372036854775807,5,0]{1,5,1,1}");
  EXPECT_EQ(layout_text(parse_layout("f8e5m2[2,3,1,1]:channels_last")), "f8e5m2[2,3,1,1]{3,1,3,3}");
}

TEST(LayoutText, IsReadBackAsTheSameLayout) {
  std::mt19937_64 random(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(pick(0, 6)));
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t lowest = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = pick(0, 5);
      strides[i] = pick(-20, 20);
      if (sizes[i] > 0 && strides[i] < 0) lowest -= (sizes[i] - 1) * strides[i];
    }
    const Tensor x =
        unbacked(sizes, strides, all_dtypes[pick(0, num_dtypes - 1)], lowest + pick(0, 3));
    const std::string text = layout_text(x);
    const Tensor back = parse_layout(text);
    EXPECT_EQ(back.dtype(), x.dtype()) << text;
    EXPECT_TRUE(std::ranges::equal(back.sizes(), x.sizes())) << text;
    EXPECT_TRUE(std::ranges::equal(back.strides(), x.strides())) << text;
    EXPECT_EQ(back.storage_offset(), x.storage_offset()) << text;
  }
}

TEST(Describe, NamesDTypeSizesStridesAndDevice) {
  EXPECT_EQ(describe(empty({3, 4})), "f32[3, 4] strides [4, 1] cpu");
  EXPECT_EQ(describe(empty({}, DType::c64).conj()), "c64[] strides [] conj cpu");
  const TensorOptions on_meta{DType::i8, {DeviceType::meta, 0}, MemoryFormat::contiguous};
  EXPECT_EQ(describe(empty({2}, on_meta).neg_view()), "i8[2] strides [1] neg meta");
  EXPECT_EQ(describe(Tensor()), "undefined");
}

std::string message_of(std::string_view text) {
  try {
    parse_layout(text);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// The message, and the column of the caret in its last line.
void expect_refused(std::string_view text, std::string_view fragment, std::size_t column) {
  const std::string message = message_of(text);
  EXPECT_THAT(message, HasSubstr(std::string(fragment))) << text;
  const std::size_t last_line = message.rfind('\n') + 1;
  EXPECT_EQ(message.size() - 1 - last_line, column + 2) << message;
  EXPECT_EQ(message.back(), '^') << message;
}

TEST(ParseLayout, ErrorsPointAtThePlace) {
  EXPECT_THAT(message_of("f32[3,x]"), HasSubstr("expected a size\n  f32[3,x]\n        ^"));
  expect_refused("", "expected a dtype: one of bool, u8", 0);
  expect_refused("float[3]", "expected a dtype", 0);
  expect_refused("f32", "expected '['", 3);
  expect_refused("f32[3", "expected ',' or ']'", 5);
  expect_refused("f32[3,]", "expected a size", 6);
  expect_refused("f32[-3]", "expected a size, which is never negative", 4);
  expect_refused("f32[99999999999999999999]", "expected a size that fits in 64 bits", 4);
  expect_refused("f32[3]{1,2}", "expected 1 strides, one a size, got 2", 6);
  expect_refused("f32[3]{a}", "expected a stride", 7);
  expect_refused("f32[3]@-1", "expected a storage offset, which is never negative", 7);
  expect_refused("f32[3]@", "expected a storage offset", 7);
  expect_refused("f32[3]:nchw", "expected a memory format", 7);
  expect_refused("f32[3]:channels_last", "required rank 4 tensor to use channels_last format", 6);
  expect_refused("f32[3](1)",
                 "expected '{' and strides, ':' and a memory format, '@' and a storage offset, or "
                 "the end of the layout",
                 6);
  expect_refused("f32[3]{1}:channels_last",
                 "expected '@' and a storage offset, or the end of the layout", 9);
  expect_refused("f32[3]@1 x", "expected the end of the layout", 9);
  expect_refused("f32[4]{-1}@2", "before the beginning of the storage", 10);
}

TEST(ParseLayout, HostileTextIsRefused) {
  std::string many = "f32[1";
  for (int i = 0; i < 64; ++i) many += ",1";
  EXPECT_THAT(message_of(many + "]"), HasSubstr("expected at most 64 dimensions"));
  for (const char* text : {"f32[4611686018427387904,4]",
                           "f32[9223372036854775807]",
                           "f32[3]{9223372036854775807}",
                           "f32[3]{-9223372036854775808}",
                           "f32[1]@9223372036854775807",
                           "f32[9223372036854775807,9223372036854775807]",
                           "f32[0,9223372036854775807,9223372036854775807]",
                           "f32[4294967296,2,4294967296,1]:channels_last",
                           "f32[[3]]",
                           "f32[3]{}",
                           "f32[3]{1",
                           "f32[3}",
                           "f32[3]@@1",
                           "[3]",
                           "f32[+3]",
                           "f32[3.5]",
                           "f32[0x10]",
                           "f32[3]\n",
                           "f32[\xff]",
                           "f32[3]]"})
    EXPECT_THROW(parse_layout(text), ArgumentError) << text;
  EXPECT_THROW(parse_layout(std::string_view("f32[3]\0", 7)), ArgumentError);
  EXPECT_THROW(parse_layout(std::string(1 << 20, '[')), ArgumentError);
}

TEST(ParseLayout, GarbageNeverDoesAnythingElse) {
  constexpr std::string_view alphabet = "f32[]{},:@-1904 _channels_last\n\xff";
  std::mt19937_64 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 2 ? "f32[2,3,4,5]{60,1,15,3}@4" : "u8[2,3,4,5]:channels_last";
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % (text.size() + 1);
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0: text.insert(at, 1, c); break;
        case 1: text.erase(at, 1); break;
        case 2:
          if (at < text.size()) text[at] = c;
          break;
      }
    }
    try {
      const Tensor x = parse_layout(text);
      EXPECT_EQ(layout_text(parse_layout(layout_text(x))), layout_text(x)) << text;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("^"));
    }
  }
}

}  // namespace
}  // namespace weft
