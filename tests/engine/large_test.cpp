// Tensors of more than 2^32 elements: copies, sums of two, and sums of all.  Their memory is one
// small block, mapped again and again, with an end of its own: an index that wraps at 2^31 or 2^32
// writes or reads the wrong block.
#include "tests/temporary_folder.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/npy.h>
#include <weft/overlap.h>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace weft {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::size_t block_bytes = std::size_t{8} << 20;
constexpr std::int64_t side = 65537;  // side * side is a little more than 2^32
constexpr std::size_t most_bytes = std::size_t{65600} * side;
static_assert(most_bytes / block_bytes * block_bytes == std::size_t{1} << 32,
              "the block at the end holds what lies beyond 2^32, and nothing else");

/// More than 2^32 bytes of address space: a block that repeats, and at the end another one.
class Sparse {
 public:
  Sparse() {
    num_blocks_ = (most_bytes + block_bytes - 1) / block_bytes;
    const int memory = ::memfd_create("weft_large_test", MFD_CLOEXEC);
    void* space = ::mmap(nullptr, num_blocks_ * block_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    is_mapped_ = memory >= 0 && space != MAP_FAILED && ::ftruncate(memory, 2 * block_bytes) == 0;
    data_ = static_cast<unsigned char*>(space);
    for (std::size_t i = 0; is_mapped_ && i < num_blocks_; ++i) {
      const bool is_last = i + 1 == num_blocks_;
      is_mapped_ = ::mmap(data_ + i * block_bytes, block_bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED, memory, is_last ? block_bytes : 0) != MAP_FAILED;
    }
    if (memory >= 0) ::close(memory);
  }
  ~Sparse() {
    if (data_ != MAP_FAILED) ::munmap(data_, num_blocks_ * block_bytes);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  bool is_mapped() const { return is_mapped_; }
  Tensor tensor(const Sizes& strides = {side, 1}) const {
    return from_blob(data_, Sizes{side, side}, strides, DType::u8);
  }
  void fill(unsigned char repeated, unsigned char last) {
    std::memset(data_, repeated, block_bytes);
    std::memset(last_block(), last, block_bytes);
  }
  unsigned char* last_block() const { return data_ + (num_blocks_ - 1) * block_bytes; }
  unsigned char* data() const { return data_; }

 private:
  std::size_t num_blocks_;
  unsigned char* data_;
  bool is_mapped_;
};

class Large : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT TESTED: a sanitizer's shadow of 4 GiB is memory that is really used";
#endif
    if (!source_.is_mapped() || !result_.is_mapped())
      GTEST_SKIP() << "NOT TESTED: the system doesn't give 8 GiB of address space";
    source_.fill(3, 5);
    result_.fill(0, 0);
  }

  Engine engine_;
  Sparse source_, result_;
};

TEST_F(Large, CopiesOneRun) {
  engine_.copy(result_.tensor(), source_.tensor());
  EXPECT_EQ(result_.data()[0], 3);
  EXPECT_EQ(result_.last_block()[0], 5);
  EXPECT_EQ(result_.data()[side * side - 1], 5);
}

TEST_F(Large, AddsRowsWithGaps) {
  const Sizes apart = {65600, 1};
  const Tensor out = result_.tensor(apart);
  const Tensor one = zeros(Sizes{side}, {DType::u8, {}, {}});
  engine_.fill(one, Scalar(1));
  engine_.binary(Op::add, source_.tensor(apart), one, out);
  const unsigned char* const last = result_.data() + 65600 * (side - 1);
  ASSERT_GE(last, result_.last_block()) << "the last row has to lie in the block of its own";
  EXPECT_EQ(result_.data()[0], 4);
  EXPECT_EQ(last[0], 6);
  EXPECT_EQ(last[side - 1], 6);
  EXPECT_EQ(last[side], 0) << "behind the last element";
}

TEST_F(Large, SumsEveryElementOnce) {
  source_.fill(0, 0);
  const Tensor x = source_.tensor({65600, 1});
  x.select(0, side - 1).select(0, side - 1).data()[0] = std::byte{7};
  EXPECT_EQ(engine_.reduce(Reduction::sum, x).item(), Scalar(7));
}

TEST_F(Large, SumsWhatIsExpanded) {
  const Tensor one = zeros(Sizes{1}, {DType::u8, {}, {}});
  one.data()[0] = std::byte{1};
  EXPECT_EQ(engine_.reduce(Reduction::sum, one.expand({(std::int64_t{1} << 31) + 5})).item(),
            Scalar((std::int64_t{1} << 31) + 5));
}

TEST_F(Large, StridesBeyond32Bits) {
  for (const std::int64_t stride : {(std::int64_t{1} << 31) + 1, (std::int64_t{1} << 32) + 1}) {
    auto* const first = reinterpret_cast<std::byte*>(source_.data());
    first[0] = std::byte{10};
    first[stride] = std::byte{20};
    const Tensor x = from_blob(first, Sizes{2}, Sizes{stride}, DType::u8);
    const Tensor y = engine_.binary(Op::add, x, x);
    EXPECT_EQ(y.select(0, 1).item(), Scalar(40));
    engine_.copy(x.flip({0}), y);
    EXPECT_EQ(x.select(0, 0).item(), Scalar(40));
    EXPECT_EQ(static_cast<int>(first[stride]), 2 * 10);
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

/// What a call makes of `x`, or of the same elements with strides as other tensors have them.
template <class Function>
void expect_same(const Tensor& x, const Function& call) {
  Engine engine;
  const Tensor dense = engine.clone(x, MemoryFormat::contiguous);
  const Tensor actual = call(engine, x);
  const Tensor expected = call(engine, dense);
  ASSERT_TRUE(std::ranges::equal(actual.sizes(), expected.sizes()));
  const Tensor equal = engine.binary(Op::eq, actual, expected);
  EXPECT_EQ(engine.reduce(Reduction::all, equal).item(), Scalar(true)) << layout_text(x);
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
