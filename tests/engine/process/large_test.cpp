// Tensors of more than 2^32 elements: copies, sums of two, and reductions.  Their memory is one
// small block, mapped again and again, with an end of its own: an index that wraps at 2^31 or 2^32
// writes or reads the wrong block.
#include "tests/engine/support/engines.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace weft {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::size_t block_bytes = std::size_t{8} << 20;
constexpr std::int64_t side = 65537;   // side * side is a little more than 2^32
constexpr std::int64_t apart = 65600;  // from row to row, where rows have gaps between them
constexpr std::size_t most_bytes = std::size_t{apart} * side;
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
  /// All of it in one dimension.
  Tensor run() const { return tensor().view({side * side}); }
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

class Large : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // Once for all tests: each page of theirs is another entry of the process's tables.
    source_ = std::make_unique<Sparse>();
    result_ = std::make_unique<Sparse>();
#endif
  }
  static void TearDownTestSuite() {
    source_.reset();
    result_.reset();
  }
  void SetUp() override {
    if (source_ == nullptr)
      GTEST_SKIP() << "NOT TESTED: a sanitizer's shadow of 4 GiB is memory that is really used";
    if (!source_->is_mapped() || !result_->is_mapped())
      GTEST_SKIP() << "NOT TESTED: the system doesn't give 8 GiB of address space";
    source_->fill(3, 5);
    result_->fill(0, 0);
  }

  Engine engine_;
  inline static std::unique_ptr<Sparse> source_, result_;
};

Tensor scalar_u8(std::int64_t value) { return full({}, Scalar(value), {DType::u8, {}, {}}); }

TEST_F(Large, CopiesOneRun) {
  engine_.copy(result_->tensor(), source_->tensor());
  EXPECT_EQ(result_->data()[0], 3);
  EXPECT_EQ(result_->last_block()[0], 5);
  EXPECT_EQ(result_->data()[side * side - 1], 5);
}

TEST_F(Large, CopiesTransposed) {
  engine_.copy(result_->tensor({apart, 1}), source_->tensor({apart, 1}).t());
  // Of each row the elements that were rows of the last block, but for one that lies in both.
  const std::int64_t first_last = (std::int64_t{1} << 32) / apart + 1;
  for (std::int64_t row = first_last; row < side; ++row) {
    const unsigned char* const actual = result_->data() + row * apart;
    ASSERT_TRUE(std::all_of(actual, actual + first_last - 1, [](int x) { return x == 3; })) << row;
    ASSERT_TRUE(std::all_of(actual + first_last, actual + side, [](int x) { return x == 5; }))
        << row;
    if (row + 1 < side) {
      ASSERT_EQ(actual[side], 0) << "between row " << row << " and the next";
    }
  }
}

// One loop, which no other thread shortens.
TEST_F(Large, AddsOneRunWithEveryCompiler) {
  for (const auto& engine : testing::engines({"xbyak", "llvm"})) {
    engine->set_num_threads(1);
    result_->fill(0, 0);
    engine->binary(Op::add, source_->run(), scalar_u8(1), result_->run());
    EXPECT_EQ(result_->data()[0], 4) << engine->options().backend;
    EXPECT_EQ(result_->last_block()[0], 6) << engine->options().backend;
    EXPECT_EQ(result_->data()[side * side - 1], 6) << engine->options().backend;
    EXPECT_EQ(result_->data()[side * side], 0) << engine->options().backend;
  }
}

TEST_F(Large, AddsRowsWithGaps) {
  const Sizes strides = {apart, 1};
  const Tensor one = zeros(Sizes{side}, {DType::u8, {}, {}});
  engine_.fill(one, Scalar(1));
  engine_.binary(Op::add, source_->tensor(strides), one, result_->tensor(strides));
  const unsigned char* const last = result_->data() + apart * (side - 1);
  ASSERT_GE(last, result_->last_block()) << "the last row has to lie in the block of its own";
  EXPECT_EQ(result_->data()[0], 4);
  EXPECT_EQ(last[0], 6);
  EXPECT_EQ(last[side - 1], 6);
  EXPECT_EQ(last[side], 0) << "behind the last element";
}

// Fewer elements than 2^31, and offsets in bytes beyond 2^32.
TEST_F(Large, AddsFloatsWithGapsWithEveryCompiler) {
  constexpr std::int64_t num_columns = side / 4, row = apart / 4;
  const auto floats = [&](const Sparse& memory) {
    return from_blob(memory.data(), Sizes{side, num_columns}, Sizes{row, 1}, DType::f32);
  };
  const Tensor x = floats(*source_), out = floats(*result_);
  const float repeated = 1.5f, last = 2.5f;
  for (std::size_t i = 0; i < block_bytes; i += sizeof(float)) {
    std::memcpy(source_->data() + i, &repeated, sizeof repeated);
    std::memcpy(source_->last_block() + i, &last, sizeof last);
  }
  for (const auto& engine : testing::engines({"xbyak", "llvm"})) {
    result_->fill(0, 0);
    engine->binary(Op::add, x, full({num_columns}, Scalar(1.0), {DType::f32, {}, {}}), out);
    EXPECT_EQ(out.select(0, 0).select(0, 0).item(), Scalar(2.5)) << engine->options().backend;
    const auto* const end = reinterpret_cast<const float*>(result_->data()) + row * (side - 1);
    EXPECT_EQ(end[0], 3.5f) << engine->options().backend;
    EXPECT_EQ(end[num_columns - 1], 3.5f) << engine->options().backend;
    EXPECT_EQ(end[num_columns], 0) << engine->options().backend << ": behind the last element";
  }
}

TEST_F(Large, SumsEveryElementOnce) {
  source_->fill(0, 0);
  const Tensor x = source_->tensor({apart, 1});
  x.select(0, side - 1).select(0, side - 1).data()[0] = std::byte{7};
  EXPECT_EQ(engine_.reduce(Reduction::sum, x).item(), Scalar(7));
}

TEST_F(Large, SumsWhatIsExpanded) {
  const Tensor one = zeros(Sizes{1}, {DType::u8, {}, {}});
  one.data()[0] = std::byte{1};
  EXPECT_EQ(engine_.reduce(Reduction::sum, one.expand({(std::int64_t{1} << 31) + 5})).item(),
            Scalar((std::int64_t{1} << 31) + 5));
}

TEST_F(Large, FindsPlacesBeyond32Bits) {
  source_->fill(3, 3);
  constexpr std::int64_t place = side * side - 2;
  static_assert(place > std::int64_t{1} << 32);
  source_->data()[place] = 9;
  EXPECT_EQ(engine_.reduce(Reduction::argmax, source_->run()).item(), Scalar(place));
  source_->fill(3, 3);
  source_->data()[apart * (side - 1) + side - 2] = 1;
  EXPECT_EQ(engine_.reduce(Reduction::argmin, source_->tensor({apart, 1})).item(), Scalar(place));
}

// The second half and what is behind it: a scan is the slowest of these calls.
TEST_F(Large, ScansBeyond31Bits) {
  constexpr std::int64_t half = std::int64_t{1} << 31, place = side * side - 100;
  source_->data()[place] = 9;
  const auto part = [](const Sparse& memory) {
    return memory.run().narrow(0, half, side * side - half);
  };
  engine_.reduce(Reduction::cummax, part(*source_), {.dims = {0}}, part(*result_));
  EXPECT_EQ(result_->data()[half], 3);
  EXPECT_EQ(result_->last_block()[-1], 3);
  EXPECT_EQ(result_->last_block()[0], 5);
  EXPECT_EQ(result_->data()[place - 1], 5);
  EXPECT_EQ(result_->data()[place], 9);
  EXPECT_EQ(result_->data()[side * side - 1], 9);
  EXPECT_EQ(result_->data()[side * side], 0) << "behind the last element";
}

}  // namespace
}  // namespace weft
