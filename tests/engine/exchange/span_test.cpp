// std::span and elements by index, on tensors and back.
#include "tests/matchers.h"

#include <weft/error.h>
#include <weft/span.h>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAreArray;
using Sizes = std::vector<std::int64_t>;

TEST(Span, MakesTensorsAndComesBack) {
  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor x = from_span(std::span(values), Sizes{2, 3});
  EXPECT_EQ(layout_text(x), "f32[2,3]");
  EXPECT_EQ(as_span<float>(x).data(), values.data());
  as_span<float>(x)[4] = 40;
  EXPECT_THAT(as_span<const float>(x.select(0, 1)), ElementsAreArray({3, 40, 5}));
  EXPECT_EQ(layout_text(from_span(std::span(values).first(0))), "f32[0]");
  EXPECT_TRUE(as_span<float>(from_span(std::span<float>())).empty());
  EXPECT_THROW(from_span(std::span(values), Sizes{7}), ArgumentError);
  EXPECT_THROW(from_span(std::span(values), Sizes{5}), ArgumentError);
}

TEST(Span, ConstIsReadOnly) {
  const std::vector<std::int32_t> values = {1, 2, 3};
  const Tensor x = from_span(std::span(values));
  EXPECT_TRUE(x.is_read_only());
  EXPECT_THAT(as_span<const std::int32_t>(x), ElementsAreArray({1, 2, 3}));
  EXPECT_THROW(as_span<std::int32_t>(x), ArgumentError);
  EXPECT_THROW((ElementView<std::int32_t, 1>(x)), ArgumentError);
  EXPECT_EQ((ElementView<const std::int32_t, 1>(x)(2)), 3);
}

TEST(Span, RefusesWhatIsNotOneRun) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_THROW(as_span<std::int64_t>(x.t()), ArgumentError);
  EXPECT_THROW(as_span<std::int32_t>(x), ArgumentError);
  EXPECT_THROW(as_span<std::int64_t>(unbacked(Sizes{2}, Sizes{1}, DType::i64)), ArgumentError);
  EXPECT_THROW(as_span<std::int64_t>(x.neg_view()), ArgumentError);
}

TEST(ElementView, FindsElementsByStrides) {
  const Tensor x = arange(24).view({2, 3, 4}).permute({2, 0, 1}).flip({0});
  const ElementView<const std::int64_t, 3> view(x);
  EXPECT_EQ(view.size(0), 4);
  EXPECT_EQ(view.stride(0), -1);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k) EXPECT_EQ(view(i, j, k), 12 * j + 4 * k + (3 - i));
  ElementView<std::int64_t, 0>(x.select(0, 0).select(0, 0).select(0, 0))() = 99;
  EXPECT_EQ(view(0, 0, 0), 99);
  EXPECT_THROW((ElementView<std::int64_t, 2>(x)), ArgumentError);
}

}  // namespace
}  // namespace weft
