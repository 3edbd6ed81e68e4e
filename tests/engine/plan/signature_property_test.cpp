// The number of kernels follows layouts, not shapes: ten thousand random shapes of one pattern
// compile a handful, and each pattern says which.
#include "tests/engine/support/elements.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <functional>

namespace weft::testing {
namespace {

constexpr int num_shapes = 10000;

/// Between 1 and `most`.
std::int64_t size(Random& random, std::size_t most) {
  return static_cast<std::int64_t>(1 + ir::pick(random, most));
}

/// Kernels that an engine makes for `call` on ten thousand shapes.
std::uint64_t kernels_of(const std::function<void(Engine&, Random&)>& call) {
  EngineOptions options;
  options.tiers = "xbyak";
  options.num_threads = 1;
  Engine engine(options);
  Random random(2024);
  for (int i = 0; i < num_shapes; ++i) call(engine, random);
  EXPECT_GT(engine.stats().plan_misses, 500u);  // they were different
  return engine.stats().kernel_misses;
}

Tensor tensor(const Sizes& sizes, MemoryFormat format = MemoryFormat::contiguous) {
  return new_tensor(sizes, DType::f32, format);
}

TEST(SignatureProperty, ContiguousOperands) {
  const auto kernels = kernels_of([](Engine& engine, Random& random) {
    const Sizes sizes{size(random, 8), size(random, 8), size(random, 8), size(random, 8)};
    engine.binary(Op::add, tensor(sizes), tensor(sizes));
  });
  // All dimensions fold into one loop with strides of one item.
  EXPECT_EQ(kernels, 1u);
}

TEST(SignatureProperty, ARowToEachRow) {
  const auto kernels = kernels_of([](Engine& engine, Random& random) {
    const std::int64_t rows = size(random, 100), columns = size(random, 100);
    engine.binary(Op::add, tensor({rows, columns}), tensor({columns}));
  });
  // Rows that are wide; those of less than 8, down which the loop goes, 2, 3, 4 or more items
  // apart; one row, and one column: a single loop, in which the row has a stride of one item or
  // none.
  EXPECT_EQ(kernels, 7u);
}

/// Code for single shapes is no kernel, and there is a bounded number of it however many shapes are
/// hot.
TEST(SignatureProperty, ShapesGetCodeOfTheirOwnUpToABound) {
  constexpr int max_shapes = 8;
  for (const bool may_compile : {false, true}) {
    EngineOptions options;
    options.num_threads = 1;
    options.shape_threshold = may_compile ? 0 : options.shape_threshold;
    options.max_shapes = max_shapes;
    options.background = false;
    options.disk_cache = DiskCacheOptions{CacheMode::off, {}, 0};
    Engine engine(options);
    Random random(2024);
    for (int i = 0; i < num_shapes; ++i) {
      const std::int64_t rows = size(random, 100), columns = size(random, 100);
      engine.binary(Op::add, tensor({rows, columns}), tensor({columns}));
    }
    const EngineStats stats = engine.stats();
    EXPECT_EQ(stats.kernel_misses, 7u);
    EXPECT_LE(stats.hot_shapes, may_compile ? max_shapes : 0u);
    std::uint64_t compiled = 0;
    for (const auto& [backend, count] : stats.compiles_by_backend) compiled += count;
    EXPECT_LE(compiled, stats.kernel_misses + stats.hot_shapes);
  }
}

TEST(SignatureProperty, ATransposedOperand) {
  const auto kernels = kernels_of([](Engine& engine, Random& random) {
    const std::int64_t rows = size(random, 100), columns = size(random, 100);
    engine.binary(Op::add, tensor({columns, rows}).t(), tensor({rows, columns}));
  });
  // Each matrix has rows 2, 3, 4 or more items apart: 4 x 4, and one loop for a single row or
  // column.
  EXPECT_LE(kernels, 17u);
}

TEST(SignatureProperty, ChannelsLastWithAValueAChannel) {
  const auto kernels = kernels_of([](Engine& engine, Random& random) {
    const Sizes sizes{size(random, 6), size(random, 10), size(random, 6), size(random, 6)};
    engine.binary(Op::mul, tensor(sizes, MemoryFormat::channels_last), tensor({sizes[1], 1, 1}));
  });
  // The same, of pixels and their channels, and each of the narrow ones tile by tile as well.
  EXPECT_LE(kernels, 11u);
}

TEST(SignatureProperty, ChannelsLastAndContiguous) {
  const auto kernels = kernels_of([](Engine& engine, Random& random) {
    const Sizes sizes{size(random, 6), size(random, 10), size(random, 6), size(random, 6)};
    engine.binary(Op::add, tensor(sizes, MemoryFormat::channels_last), tensor(sizes));
  });
  // Images, pixels and channels, of which any may be missing: for each of those the strides of 2, 3
  // and 4 items between channels here and pixels there are classes of their own.
  EXPECT_LE(kernels, 40u);
}

TEST(SignatureProperty, EverySoManyElements) {
  const auto kernels = kernels_of([](Engine& engine, Random& random) {
    const std::int64_t count = size(random, 1000), step = size(random, 50);
    engine.unary(Op::neg, tensor({count * step}).slice(0, 0, {}, step));
  });
  // Steps of 1, 2, 3 and 4, and one kernel for all others.
  EXPECT_EQ(kernels, 5u);
}

TEST(SignatureProperty, ANumberIsNoPartOfAKernel) {
  const Tensor a = tensor({10});
  const auto kernels = kernels_of([&](Engine& engine, Random& random) {
    const double number = static_cast<double>(ir::pick(random, 1u << 30)) / 7;
    const Tensor some = tensor({size(random, 10000)});
    engine.eval(Expr(some) * number + static_cast<std::int64_t>(ir::pick(random, 100000)));
    engine.fill(some, number);
  });
  // The expression, fill(), and fill() of one element, which is a copy.
  EXPECT_EQ(kernels, 3u);
}

}  // namespace
}  // namespace weft::testing
