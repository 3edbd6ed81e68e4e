// Strides that no 32 bits hold, and strides that nothing may be computed from.
#include "tests/engine/support/engines.h"
#include "tests/temporary_folder.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/npy.h>
#include <weft/overlap.h>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace weft {
namespace {

using Sizes = std::vector<std::int64_t>;

/// What a call makes of `x`, or of the same elements with strides as other tensors have them.
template <class Function>
void expect_same(Engine& engine, const Tensor& x, const Function& call) {
  const Tensor dense = engine.clone(x, MemoryFormat::contiguous);
  const Tensor actual = call(engine, x);
  const Tensor expected = call(engine, dense);
  ASSERT_TRUE(std::ranges::equal(actual.sizes(), expected.sizes()));
  const Tensor equal = engine.binary(Op::eq, actual, expected);
  EXPECT_EQ(engine.reduce(Reduction::all, equal).item(), Scalar(true))
      << layout_text(x) << " with " << engine.options().backend;
}
template <class Function>
void expect_same(const Tensor& x, const Function& call) {
  Engine engine;
  expect_same(engine, x, call);
}

constexpr std::int64_t num_rows = 40;

/// Address space for rows that lie more than 2^32 bytes apart; only pages that are touched are
/// memory.
class FarRows {
 public:
  static constexpr std::int64_t row_bytes = (std::int64_t{1} << 32) + 64;

  FarRows()
      : space_(::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~FarRows() {
    if (is_mapped()) ::munmap(space_, size_bytes);
  }
  FarRows(const FarRows&) = delete;
  FarRows& operator=(const FarRows&) = delete;

  bool is_mapped() const { return space_ != MAP_FAILED; }
  std::byte* row(std::int64_t index) const {
    return static_cast<std::byte*>(space_) + index * row_bytes;
  }
  Tensor tensor(DType dtype, std::int64_t num_columns) const {
    const auto row_stride = row_bytes / static_cast<std::int64_t>(itemsize_bytes(dtype));
    return from_blob(space_, Sizes{num_rows, num_columns}, Sizes{row_stride, 1}, dtype);
  }
  /// Elements, the one behind the end of each row too, that tell where they are from.
  void fill_floats(std::int64_t num_columns) const {
    for (std::int64_t i = 0; i < num_rows; ++i)
      for (std::int64_t j = 0; j <= num_columns; ++j) {
        const float value = number(i, j);
        std::memcpy(row(i) + j * 4, &value, sizeof value);
      }
  }
  float element(std::int64_t i, std::int64_t j) const {
    float value;
    std::memcpy(&value, row(i) + j * 4, sizeof value);
    return value;
  }
  static float number(std::int64_t i, std::int64_t j) {
    return static_cast<float>(i * 1000 + (j * 7) % 90);
  }

 private:
  static constexpr std::size_t size_bytes = std::size_t{num_rows} * row_bytes;
  void* space_;
};

class FarApart : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!source_.is_mapped() || !result_.is_mapped())
      GTEST_SKIP() << "NOT TESTED: the system doesn't give 350 GiB of address space";
  }

  std::vector<std::unique_ptr<Engine>> engines_ = testing::engines({"interp", "xbyak", "llvm"});
  FarRows source_, result_;
};

TEST_F(FarApart, RowsOfFloatsAreAdded) {
  for (const std::int64_t num_columns : {1, 3, 37, 200}) {
    source_.fill_floats(num_columns);
    const Tensor x = source_.tensor(DType::f32, num_columns);
    const Tensor out = result_.tensor(DType::f32, num_columns);
    for (const auto& engine : engines_) {
      result_.fill_floats(num_columns);
      engine->binary(Op::add, x, x.flip({0}), out);
      for (std::int64_t i = 0; i < num_rows; ++i) {
        for (std::int64_t j = 0; j < num_columns; ++j)
          ASSERT_EQ(result_.element(i, j),
                    FarRows::number(i, j) + FarRows::number(num_rows - 1 - i, j))
              << engine->options().backend << ", row " << i << ", column " << j;
        ASSERT_EQ(result_.element(i, num_columns), FarRows::number(i, num_columns))
            << engine->options().backend << ": behind row " << i;
      }
    }
  }
}

TEST_F(FarApart, BytesWithOddStridesAreAddedAndCopied) {
  for (const std::int64_t stride : {(std::int64_t{1} << 31) + 1, (std::int64_t{1} << 32) + 1}) {
    const auto line = [&](const FarRows& memory) {
      return from_blob(memory.row(0), Sizes{num_rows}, Sizes{stride}, DType::u8);
    };
    const auto element = [&](const FarRows& memory, std::int64_t i) -> std::byte& {
      return memory.row(0)[i * stride];
    };
    const Tensor x = line(source_), out = line(result_);
    for (std::int64_t i = 0; i < num_rows; ++i) element(source_, i) = static_cast<std::byte>(i);
    for (const auto& engine : engines_) {
      engine->binary(Op::add, x, x, out);
      for (std::int64_t i = 0; i < num_rows; ++i)
        ASSERT_EQ(static_cast<int>(element(result_, i)), 2 * i) << engine->options().backend;
      engine->copy(out, x.flip({0}));
      for (std::int64_t i = 0; i < num_rows; ++i)
        ASSERT_EQ(static_cast<int>(element(result_, i)), num_rows - 1 - i)
            << engine->options().backend;
    }
  }
}

TEST_F(FarApart, RowsAreTransposed) {
  constexpr std::int64_t num_columns = 70;
  source_.fill_floats(num_columns);
  const Tensor x = source_.tensor(DType::f32, num_columns);
  const Tensor out = result_.tensor(DType::f32, num_columns);
  for (const auto& engine : engines_) {
    const Tensor turned = engine->contiguous(x.t());
    for (std::int64_t i = 0; i < num_rows; ++i)
      for (std::int64_t j = 0; j < num_columns; ++j)
        ASSERT_EQ(turned.data_as<float>()[j * num_rows + i], FarRows::number(i, j))
            << engine->options().backend << ", row " << i << ", column " << j;
    result_.fill_floats(num_columns);
    engine->eval(Expr(turned.t()) * 2, out);
    for (std::int64_t i = 0; i < num_rows; ++i) {
      for (std::int64_t j = 0; j < num_columns; ++j)
        ASSERT_EQ(result_.element(i, j), 2 * FarRows::number(i, j))
            << engine->options().backend << ", row " << i << ", column " << j;
      ASSERT_EQ(result_.element(i, num_columns), FarRows::number(i, num_columns))
          << engine->options().backend << ": behind row " << i;
    }
  }
}

TEST_F(FarApart, RowsAreReducedAndScanned) {
  for (const std::int64_t num_columns : {1, 5, 130}) {
    source_.fill_floats(num_columns);
    const Tensor x = source_.tensor(DType::f32, num_columns);
    const Tensor out = result_.tensor(DType::f32, num_columns);
    for (const auto& engine : engines_) {
      for (const Reduction reduction :
           {Reduction::sum, Reduction::amax, Reduction::argmax, Reduction::argmin, Reduction::mean})
        for (const std::int64_t dim : {0, 1})
          expect_same(*engine, x, [&](Engine& with, const Tensor& a) {
            return with.reduce(reduction, a, {.dims = {dim}});
          });
      for (const Reduction reduction : {Reduction::cumsum, Reduction::cummax})
        for (const std::int64_t dim : {0, 1})
          expect_same(*engine, x, [&](Engine& with, const Tensor& a) {
            with.reduce(reduction, a, {.dims = {dim}}, out);
            return with.clone(out, MemoryFormat::contiguous);
          });
      EXPECT_EQ(engine->reduce(Reduction::sum, x, {.dims = {0}}).select(0, 0).item(),
                Scalar(1000.0 * num_rows * (num_rows - 1) / 2));
      EXPECT_EQ(engine->reduce(Reduction::argmax, x, {.dims = {0}}).select(0, 0).item(),
                Scalar(num_rows - 1));
    }
  }
}

TEST(LargeStrides, NearTheEndOfTheRangeAreRefusedOrNeverReached) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  float value = 4;
  Engine engine;
  // Of a dimension with one element the stride is never taken.
  for (const std::int64_t stride : {most, -most, most / 4, -most - 1}) {
    const Tensor x = from_blob(&value, Sizes{1, 1}, Sizes{stride, stride}, DType::f32);
    EXPECT_EQ(engine.binary(Op::add, x, x).item(), Scalar(8.0)) << stride;
    EXPECT_EQ(engine.reduce(Reduction::sum, x).item(), Scalar(4.0)) << stride;
    EXPECT_THROW(from_blob(&value, Sizes{2, 3}, Sizes{stride, stride}, DType::f32), ArgumentError);
    EXPECT_THROW(unbacked(Sizes{2, 3}, Sizes{stride, stride}, DType::f32), ArgumentError);
  }
  const Tensor x = unbacked(Sizes{8}, Sizes{1}, DType::f32);
  EXPECT_THROW(x.as_strided({2}, {most}), ArgumentError);
  EXPECT_THROW(x.as_strided({2}, {1}, most), ArgumentError);
  EXPECT_THROW(x.expand({most, 8}), ArgumentError);
}

// Wherever strides are multiplied or added up: a sanitizer says so if that overflows.
TEST(LargeStrides, OfOneElementHaveNoPartInAnything) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const std::int64_t stride : {most, -most, -most - 1, most / 2 + 1, -most / 4 - 1}) {
    const Tensor x = from_blob(values, Sizes{2, 1, 2}, Sizes{1, stride, 3}, DType::f32);
    expect_same(x, [](Engine& engine, const Tensor& a) { return engine.binary(Op::mul, a, a); });
    expect_same(x, [](Engine& engine, const Tensor& a) {
      return engine.reduce(Reduction::sum, a, {.dims = {0, 1}, .keepdim = true});
    });
    expect_same(x, [](Engine& engine, const Tensor& a) { return engine.cummax(a, 1).first; });
    expect_same(x, [](Engine& engine, const Tensor& a) {
      return engine.eval(Expr(a) + Expr(a.transpose(0, 2)));
    });
    expect_same(x, [](Engine& engine, const Tensor& a) {
      Tensor out = engine.contiguous(a.transpose(0, 1)).transpose(0, 1);
      engine.copy(out, a);
      return out;
    });
    expect_same(x, [](Engine&, const Tensor& a) {
      const TemporaryFolder folder;
      const std::string path = folder.path() / "strides.npy";
      npy_write(path, a);
      return npy_read(path);
    });
    EXPECT_FALSE(overlaps_itself_exactly(x));
    EXPECT_TRUE(memory_overlaps_exactly(x, x.select(0, 1)));
    Engine engine;
    EXPECT_EQ(engine.explain(Expr(x) + Expr(x)).shape, (Sizes{2, 2}));
  }
}

TEST(LargeStrides, OfNoElementsHaveNoPartInAnything) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Tensor none = empty({0}).as_strided({0, 3, 2}, {most, -most - 1, most / 2}, most);
  Engine engine;
  EXPECT_EQ(engine.binary(Op::add, none, none).numel(), 0);
  EXPECT_EQ(engine.reduce(Reduction::sum, none, {.dims = {0}}).numel(), 6);
  EXPECT_FALSE(memory_overlaps_exactly(none, none));
  engine.prepare(Expr(none) * Expr(none)).run();
}

}  // namespace
}  // namespace weft
