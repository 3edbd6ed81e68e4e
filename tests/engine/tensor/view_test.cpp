// Views against index arithmetic: a model that holds the elements a view shows, in order, and knows
// no strides.
#include <weft/error.h>
#include <weft/tensor.h>

#include "engine/tensor/tensor_impl.h"
#include "tests/matchers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using Index = std::vector<std::int64_t>;

std::int64_t product(const Index& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// Calls `function(index)` for every index of `sizes` in row-major order.
void for_each_index(const Index& sizes, const std::function<void(const Index&)>& function) {
  Index index(sizes.size(), 0);
  for (std::int64_t i = 0; i < product(sizes); ++i) {
    std::int64_t rest = i;
    for (std::size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim])
      index[dim] = rest % sizes[dim];
    function(index);
  }
}

struct Model {
  Index sizes;
  Index elements;  ///< in row-major order

  std::int64_t at(const Index& index) const {
    std::int64_t position = 0;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim)
      position = position * sizes[dim] + index[dim];
    return elements.at(static_cast<std::size_t>(position));
  }
  /// The model of these sizes whose element at `index` is this one's at `from(index)`.
  Model gather(Index new_sizes, const std::function<Index(Index)>& from) const {
    Model result{std::move(new_sizes), {}};
    for_each_index(result.sizes,
                   [&](const Index& index) { result.elements.push_back(at(from(index))); });
    return result;
  }
};

Tensor arange(const Index& sizes) {
  const Tensor x = weft::empty(sizes, {DType::i64, {}, MemoryFormat::contiguous});
  std::iota(x.data_as<std::int64_t>(), x.data_as<std::int64_t>() + x.numel(), std::int64_t{0});
  return x;
}

Model model_of(const Tensor& x) {
  Model result{{x.sizes().begin(), x.sizes().end()}, {}};
  for_each_index(result.sizes, [&](const Index& index) {
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < index.size(); ++dim) offset += index[dim] * x.strides()[dim];
    result.elements.push_back(x.data_as<std::int64_t>()[offset]);
  });
  return result;
}

/// Whether some strides show the elements of `model`, taken in order, under `sizes`.  Elements
/// stand for their addresses, since an arange holds its own offsets.
bool has_strides_for(const Model& model, const Index& sizes) {
  Model seen{sizes, model.elements};
  Index strides(sizes.size(), 0);
  Index index(sizes.size(), 0);
  if (seen.elements.empty()) return true;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 1) continue;
    index[dim] = 1;
    strides[dim] = seen.at(index) - seen.elements[0];
    index[dim] = 0;
  }
  bool fits = true;
  for_each_index(sizes, [&](const Index& i) {
    std::int64_t expected = seen.elements[0];
    for (std::size_t dim = 0; dim < i.size(); ++dim) expected += i[dim] * strides[dim];
    fits = fits && seen.at(i) == expected;
  });
  return fits;
}

/// Applies random views to a tensor and to its model; `trace` says which.
class RandomViews {
 public:
  explicit RandomViews(std::uint64_t seed) : random_(seed) {
    Index sizes;
    for (std::int64_t ndim = pick(0, 4), i = 0; i < ndim; ++i)
      sizes.push_back(pick(0, 19) == 0 ? 0 : pick(1, 4));
    tensor = arange(sizes);
    model = model_of(tensor);
  }

  void step() {
    static constexpr void (RandomViews::*steps[])() = {
        &RandomViews::permute,   &RandomViews::slice, &RandomViews::select,   &RandomViews::expand,
        &RandomViews::unsqueeze, &RandomViews::flip,  &RandomViews::diagonal, &RandomViews::unfold,
        &RandomViews::squeeze,   &RandomViews::view,  &RandomViews::movedim};
    (this->*steps[pick(0, std::ssize(steps) - 1)])();
  }

  Tensor tensor;
  Model model;
  std::string trace;

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  int ndim() const { return static_cast<int>(model.sizes.size()); }
  int pick_dim() { return static_cast<int>(pick(0, ndim() - 1)); }
  int maybe_negative(int dim) { return pick(0, 1) ? dim - ndim() : dim; }

  void permute() {
    std::vector<int> dims(model.sizes.size());
    std::iota(dims.begin(), dims.end(), 0);
    std::shuffle(dims.begin(), dims.end(), random_);
    Index sizes;
    for (int dim : dims) sizes.push_back(model.sizes[dim]);
    tensor = tensor.permute(dims);
    model = model.gather(sizes, [&](const Index& index) {
      Index old(index.size());
      for (std::size_t i = 0; i < dims.size(); ++i) old[dims[i]] = index[i];
      return old;
    });
    trace += " permute";
  }

  void movedim() {
    if (ndim() == 0) return;
    const int source = pick_dim();
    const int destination = pick_dim();
    tensor = tensor.movedim(maybe_negative(source), maybe_negative(destination));
    Index sizes = model.sizes;
    sizes.erase(sizes.begin() + source);
    sizes.insert(sizes.begin() + destination, model.sizes[source]);
    model = model.gather(sizes, [&](Index index) {
      const std::int64_t moved = index[destination];
      index.erase(index.begin() + destination);
      index.insert(index.begin() + source, moved);
      return index;
    });
    trace += " movedim";
  }

  void slice() {
    if (ndim() == 0) return;
    const int dim = pick_dim();
    const std::int64_t size = model.sizes[dim];
    std::optional<std::int64_t> start, stop;
    if (pick(0, 2)) start = pick(-6, 6);
    if (pick(0, 2)) stop = pick(-6, 6);
    std::int64_t step = pick(-3, 3);
    if (step == 0) step = 1;
    // Python's definition, by walking: clamp as slice.indices() does, then step until the stop is
    // passed.
    const auto clamp = [&](std::int64_t i) {
      if (i < 0) i += size;
      if (i < 0) return step < 0 ? std::int64_t{-1} : 0;
      return i >= size ? (step < 0 ? size - 1 : size) : i;
    };
    const std::int64_t first = start ? clamp(*start) : step < 0 ? size - 1 : 0;
    const std::int64_t end = stop ? clamp(*stop) : step < 0 ? -1 : size;
    Index kept;
    for (std::int64_t i = first; step < 0 ? i > end : i < end; i += step) kept.push_back(i);
    tensor = tensor.slice(maybe_negative(dim), start, stop, step);
    Index sizes = model.sizes;
    sizes[dim] = std::ssize(kept);
    model = model.gather(sizes, [&](Index index) {
      index[dim] = kept[index[dim]];
      return index;
    });
    trace += " slice";
  }

  void select() {
    if (ndim() == 0) return;
    const int dim = pick_dim();
    if (model.sizes[dim] == 0) return;
    const std::int64_t chosen = pick(0, model.sizes[dim] - 1);
    tensor = tensor.select(dim, pick(0, 1) ? chosen : chosen - model.sizes[dim]);
    Index sizes = model.sizes;
    sizes.erase(sizes.begin() + dim);
    model = model.gather(sizes, [&](Index index) {
      index.insert(index.begin() + dim, chosen);
      return index;
    });
    trace += " select";
  }

  void expand() {
    if (ndim() > 4) return;
    const auto leading = static_cast<std::size_t>(pick(0, 1));
    Index asked(leading, pick(1, 3));
    Index sizes = asked;
    for (std::int64_t size : model.sizes) {
      sizes.push_back(size == 1 && pick(0, 1) ? pick(0, 3) : size);
      asked.push_back(sizes.back() == size && pick(0, 1) ? -1 : sizes.back());
    }
    if (product(sizes) > 500) return;
    const Index old_sizes = model.sizes;
    tensor = tensor.expand(asked);
    model = model.gather(sizes, [&](Index index) {
      index.erase(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(leading));
      for (std::size_t dim = 0; dim < index.size(); ++dim)
        if (old_sizes[dim] == 1) index[dim] = 0;
      return index;
    });
    trace += " expand";
  }

  void unsqueeze() {
    const int dim = static_cast<int>(pick(0, ndim()));
    tensor = tensor.unsqueeze(dim);
    model.sizes.insert(model.sizes.begin() + dim, 1);
    trace += " unsqueeze";
  }

  void squeeze() {
    tensor = tensor.squeeze();
    std::erase(model.sizes, 1);
    trace += " squeeze";
  }

  void flip() {
    if (ndim() == 0) return;
    const int dim = pick_dim();
    tensor = tensor.flip({maybe_negative(dim)});
    model = model.gather(model.sizes, [&](Index index) {
      index[dim] = model.sizes[dim] - 1 - index[dim];
      return index;
    });
    trace += " flip";
  }

  void diagonal() {
    if (ndim() < 2) return;
    const int dim1 = pick_dim();
    int dim2 = pick_dim();
    if (dim1 == dim2) dim2 = (dim1 + 1) % ndim();
    const std::int64_t offset = pick(-4, 4);
    std::int64_t length = 0;
    while (length + std::max<std::int64_t>(-offset, 0) < model.sizes[dim1] &&
           length + std::max<std::int64_t>(offset, 0) < model.sizes[dim2])
      ++length;
    tensor = tensor.diagonal(offset, dim1, maybe_negative(dim2));
    Index sizes = model.sizes;
    sizes.erase(sizes.begin() + std::max(dim1, dim2));
    sizes.erase(sizes.begin() + std::min(dim1, dim2));
    sizes.push_back(length);
    model = model.gather(sizes, [&](Index index) {
      const std::int64_t i = index.back();
      index.pop_back();
      const std::int64_t at1 = i + std::max<std::int64_t>(-offset, 0);
      const std::int64_t at2 = i + std::max<std::int64_t>(offset, 0);
      index.insert(index.begin() + std::min(dim1, dim2), dim1 < dim2 ? at1 : at2);
      index.insert(index.begin() + std::max(dim1, dim2), dim1 < dim2 ? at2 : at1);
      return index;
    });
    trace += " diagonal";
  }

  void unfold() {
    if (ndim() == 0 || ndim() > 4) return;
    const int dim = pick_dim();
    const std::int64_t size = pick(0, model.sizes[dim]);
    const std::int64_t step = pick(1, 3);
    tensor = tensor.unfold(dim, size, step);
    Index sizes = model.sizes;
    sizes[dim] = 0;
    for (std::int64_t i = 0; i + size <= model.sizes[dim]; i += step) ++sizes[dim];
    sizes.push_back(size);
    model = model.gather(sizes, [&](Index index) {
      index[dim] = index[dim] * step + index.back();
      index.pop_back();
      return index;
    });
    trace += " unfold";
  }

  void view() {
    // Other sizes of the same product: all of its prime factors, in random groups.
    Index sizes(static_cast<std::size_t>(pick(1, 4)), 1);
    std::int64_t rest = product(model.sizes);
    for (std::int64_t factor = 2; rest > 1; ++factor)
      for (; rest % factor == 0; rest /= factor) sizes[pick(0, std::ssize(sizes) - 1)] *= factor;
    if (rest == 0) sizes[0] = 0;
    trace += " view";
    const bool is_possible = has_strides_for(model, sizes);
    ASSERT_EQ(compute_view_strides(tensor.sizes(), tensor.strides(), sizes).has_value(),
              is_possible)
        << describe(tensor) << " as " << dims_text(sizes);
    if (!is_possible) {
      EXPECT_THROW(tensor.view(sizes), ArgumentError);
      return;
    }
    tensor = tensor.view(sizes);
    model.sizes = sizes;
  }

  std::mt19937_64 random_;
};

TEST(View, RandomChainsShowTheRightElements) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    RandomViews views(seed);
    const Tensor original = views.tensor;
    for (int i = 0; i < 7 && views.model.elements.size() < 600; ++i) {
      views.step();
      SCOPED_TRACE("seed " + std::to_string(seed) + ":" + views.trace);
      const Model seen = model_of(views.tensor);
      ASSERT_EQ(seen.sizes, views.model.sizes);
      ASSERT_EQ(seen.elements, views.model.elements);
      ASSERT_EQ(views.tensor.numel(), std::ssize(views.model.elements));
      ASSERT_EQ(views.tensor.storage(), original.storage());
      if (HasFailure()) return;
    }
  }
}

Index strides_of(const Tensor& x) { return {x.strides().begin(), x.strides().end()}; }
Index sizes_of(const Tensor& x) { return {x.sizes().begin(), x.sizes().end()}; }

TEST(View, StridesOfSizeOneDimensionsAreThoseOfPyTorch) {
  const Tensor x = arange({3, 4});
  EXPECT_THAT(strides_of(x.unsqueeze(0)), ElementsAreArray({12, 4, 1}));
  EXPECT_THAT(strides_of(x.unsqueeze(1)), ElementsAreArray({4, 4, 1}));
  EXPECT_THAT(strides_of(x.unsqueeze(-1)), ElementsAreArray({4, 1, 1}));
  EXPECT_THAT(strides_of(x.expand({1, 3, 4})), ElementsAreArray({12, 4, 1}));
  EXPECT_THAT(strides_of(x.expand({2, 3, 4})), ElementsAreArray({0, 4, 1}));
  EXPECT_THAT(strides_of(x.view({1, 3, 1, 4})), ElementsAreArray({12, 4, 4, 1}));
  EXPECT_THAT(strides_of(x.slice(0, 1, 2, 5)), ElementsAreArray({20, 1}));
  EXPECT_THAT(strides_of(arange({}).expand({1})), ElementsAre(0));
  EXPECT_THAT(strides_of(arange({}).expand({3, 1})), ElementsAreArray({0, 0}));
}

TEST(View, ViewInfersOneSize) {
  EXPECT_THAT(sizes_of(arange({3, 4}).view({2, -1})), ElementsAreArray({2, 6}));
  EXPECT_THAT(sizes_of(arange({0, 3}).view({5, -1})), ElementsAreArray({5, 0}));
  EXPECT_THAT(sizes_of(arange({3, 4}).flatten_view()), ElementsAre(12));
  EXPECT_THAT(sizes_of(arange({2, 3, 4}).flatten_view(1)), ElementsAreArray({2, 12}));
  EXPECT_THAT(sizes_of(arange({}).flatten_view()), ElementsAre(1));
  const Tensor single = arange({6}).as_strided({1, 2, 1, 3}, {1, 3, 1, 1});
  EXPECT_THAT(strides_of(single.flatten_view(0, 0)), ElementsAreArray({1, 3, 1, 1}));
}

TEST(View, AsStridedKeepsTheOffsetUnlessGivenOne) {
  const Tensor x = arange({12}).slice(0, 2, {});
  EXPECT_EQ(x.as_strided({2, 2}, {1, 3}).storage_offset(), 2);
  EXPECT_EQ(x.as_strided({2, 2}, {1, 3}, 0).storage_offset(), 0);
  EXPECT_EQ(model_of(x.as_strided({3}, {-4}, 11)).elements, (Index{11, 7, 3}));
}

TEST(View, OfAnotherDtype) {
  const Tensor x = arange({2, 3});
  const Tensor halves = x.view(DType::i32);
  EXPECT_THAT(sizes_of(halves), ElementsAreArray({2, 6}));
  EXPECT_THAT(strides_of(halves), ElementsAreArray({6, 1}));
  EXPECT_EQ(halves.data_as<std::int32_t>()[2], 1);
  EXPECT_EQ(model_of(halves.view(DType::i64)).elements, model_of(x).elements);
  EXPECT_THAT(strides_of(x.view(DType::f64)), ElementsAreArray({3, 1}));
  const Tensor row = x.select(0, 1).view(DType::u8);
  EXPECT_EQ(row.storage_offset(), 24);
  EXPECT_EQ(row.numel(), 24);
}

TEST(View, PartsOfComplexNumbers) {
  Tensor z = empty({2, 2}, DType::c64);
  for (int i = 0; i < 4; ++i)
    z.data_as<c64>()[i] = {static_cast<float>(i), static_cast<float>(10 + i)};
  const auto item = [](const Tensor& x, std::int64_t row) {
    return x.select(0, row).select(0, 1).item();
  };
  EXPECT_EQ(item(z.real(), 1), Scalar(3.0));
  EXPECT_EQ(item(z.imag(), 1), Scalar(13.0));
  EXPECT_EQ(item(z.conj().imag(), 1), Scalar(-13.0));
  EXPECT_TRUE(z.conj().imag().is_neg());
  EXPECT_FALSE(z.conj().real().is_neg());
  EXPECT_EQ(item(z.neg_view().conj().imag(), 1), Scalar(13.0));
  EXPECT_EQ(item(z.neg_view().real(), 1), Scalar(-3.0));
  EXPECT_EQ(item(z.conj(), 1), Scalar(c128(3, -13)));
  EXPECT_EQ(item(z.conj().neg_view(), 1), Scalar(c128(-3, 13)));
  EXPECT_FALSE(z.conj().conj().is_conj());
  EXPECT_THAT(strides_of(z.t().view_as_real()), ElementsAreArray({2, 4, 1}));
  EXPECT_THAT(strides_of(z.t().view_as_real().view_as_complex()), ElementsAreArray({1, 2}));
  EXPECT_EQ(z.view_as_real().dtype(), DType::f32);
  EXPECT_EQ(empty({2}, DType::c32).real().dtype(), DType::f16);
  const Tensor real = empty({2}, DType::f32);
  EXPECT_TRUE(real.conj().is_same(real));
  EXPECT_TRUE(real.real().is_same(real));
}

TEST(View, ExtremeArgumentsDoNotOverflow) {
  const Tensor x = arange({3, 4});
  EXPECT_EQ(x.slice(0, INT64_MIN, INT64_MAX, INT64_MAX).size(0), 1);
  EXPECT_EQ(x.slice(0, INT64_MAX, INT64_MIN, INT64_MIN).size(0), 1);
  EXPECT_EQ(x.slice(1, {}, {}, INT64_MIN).numel(), 3);
  EXPECT_EQ(x.diagonal(INT64_MIN).numel(), 0);
  EXPECT_EQ(x.diagonal(INT64_MAX).numel(), 0);
  EXPECT_EQ(x.unfold(0, 3, INT64_MAX).size(0), 1);
  EXPECT_THROW(x.narrow(0, INT64_MIN, 1), ArgumentError);
  EXPECT_THROW(x.narrow(0, 1, INT64_MAX), ArgumentError);
  EXPECT_THROW(x.select(0, INT64_MIN), ArgumentError);
  const Tensor nothing = x.as_strided({0, 4}, {INT64_MAX, INT64_MAX}, 5);
  EXPECT_THROW(nothing.select(1, 3), ArgumentError);
  EXPECT_EQ(nothing.unsqueeze(0).numel(), 0);
  EXPECT_EQ(nothing.flip({0}).data(), x.storage()->data());
  EXPECT_EQ(x.as_strided({1, 1}, {INT64_MAX, INT64_MIN}).unsqueeze(0).numel(), 1);
}

TEST(View, HandlesShareOneView) {
  const Tensor x = arange({3, 4});
  const Tensor same = x;
  EXPECT_TRUE(x.is_same(same));
  EXPECT_FALSE(x.is_same(x.view({3, 4})));
  x.resize_({2, 2});
  EXPECT_THAT(sizes_of(same), ElementsAreArray({2, 2}));
}

}  // namespace
}  // namespace weft
