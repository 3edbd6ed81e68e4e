// Operands that disagree about the fastest dimension, against plain loops over indices: sizes from
// one element to beyond what is written past the caches.
#include "tests/engine/support/elements.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/parallel.h>

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace weft::testing {
namespace {

class EngineTile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      engine_ = std::make_unique<Engine>(EngineOptions{GetParam(), Numerics::standard, 0});
    } catch (const UnsupportedError& error) {
      return leave_out_without(GetParam(), error.what());
    }
    // What is written past the caches is so by the size of a thread's part.
    engine_->set_num_threads(1);
  }

  std::unique_ptr<Engine> engine_;
};

template <class T>
void number_elements(const Tensor& tensor) {
  T* data = tensor.storage()->size_bytes() == 0 ? nullptr
                                                : reinterpret_cast<T*>(tensor.storage()->data());
  const auto count = tensor.storage()->size_bytes() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<T>(i * 2654435761u >> 9 & 0x3ff);
}

/// Rows of `pitch` items, the first of them `offset` items into the storage.
template <class T>
Tensor matrix(std::int64_t rows, std::int64_t columns, std::int64_t pitch, std::int64_t offset) {
  const Tensor all = new_tensor({rows * pitch + offset}, dtype_of<T>);
  number_elements<T>(all);
  return all.as_strided(Sizes{rows, columns}, Sizes{pitch, 1}, offset);
}

/// Elements of a matrix with everything looked up: there are many to compare.
template <class T>
struct Elements {
  explicit Elements(const Tensor& tensor)
      : data(tensor.data_as<T>()), row_stride(tensor.stride(0)), stride(tensor.stride(1)) {}
  T operator()(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * stride];
  }
  const T* data;
  std::int64_t row_stride;
  std::int64_t stride;
};

struct Matrix {
  std::int64_t rows, columns, padding, offset;
};

const std::vector<Matrix> matrices = {
    {1, 1, 0, 0},      {30, 40, 0, 0},    {64, 64, 0, 0},     {33, 700, 3, 1},   {700, 33, 0, 1},
    {257, 129, 7, 0},  {1024, 768, 0, 0}, {1037, 911, 1, 3},  {3, 400000, 0, 0}, {400000, 3, 0, 0},
    {2, 600001, 0, 1}, {4, 300001, 0, 0}, {300, 5000, 52, 12}};

template <class T>
void transposing_copies(Engine& engine) {
  for (const auto& [rows, columns, padding, offset] : matrices) {
    SCOPED_TRACE(detail::concat(rows, " x ", columns, " + ", padding, " @ ", offset));
    const Tensor from = matrix<T>(columns, rows, rows + padding, offset).t();
    const Tensor to = matrix<T>(rows, columns, columns + padding, offset);
    engine.copy(to, from);
    std::int64_t num_wrong = 0;
    const Elements<T> actual(to), expected(from);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) num_wrong += actual(i, j) != expected(i, j);
    EXPECT_EQ(num_wrong, 0);
  }
}

TEST_P(EngineTile, copies_of_1_byte) { transposing_copies<std::uint8_t>(*engine_); }
TEST_P(EngineTile, copies_of_2_bytes) { transposing_copies<std::uint16_t>(*engine_); }
TEST_P(EngineTile, copies_of_4_bytes) { transposing_copies<float>(*engine_); }
TEST_P(EngineTile, copies_of_8_bytes) { transposing_copies<double>(*engine_); }
TEST_P(EngineTile, copies_of_16_bytes) { transposing_copies<std::complex<double>>(*engine_); }

TEST_P(EngineTile, sums_with_a_transposed_operand) {
  for (const auto& [rows, columns, padding, offset] : matrices) {
    SCOPED_TRACE(detail::concat(rows, " x ", columns, " + ", padding, " @ ", offset));
    const Tensor a = matrix<float>(rows, columns, columns, 0);
    const Tensor b = matrix<std::int16_t>(columns, rows, rows + padding, offset).t();
    const Tensor sum = matrix<double>(rows, columns, columns + padding, offset);
    engine_->eval(Expr(a) * Expr(a) + Expr(b), sum);
    const Tensor below = matrix<bool>(columns, rows, rows + padding, 0).t();
    engine_->eval(Expr(b) < Expr(a), below);
    std::int64_t num_wrong = 0;
    const Elements<float> left(a);
    const Elements<std::int16_t> right(b);
    const Elements<double> sums(sum);
    const Elements<bool> comparisons(below);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const float x = left(i, j);
        const std::int16_t y = right(i, j);
        num_wrong += sums(i, j) != static_cast<double>(x * x + static_cast<float>(y));
        num_wrong += comparisons(i, j) != (static_cast<float>(y) < x);
      }
    EXPECT_EQ(num_wrong, 0);
  }
}

// Lines that lie a multiple of 2 KiB apart fight for a cache, and go another way in large calls.
TEST_P(EngineTile, sums_of_lines_that_fight) {
  struct Fight {
    std::int64_t rows, columns, pitch, transposed_pitch;
  };
  for (const auto& [rows, columns, pitch, transposed_pitch] : std::vector<Fight>{
           {1024, 1024, 1024, 1024}, {1030, 1003, 2048, 1536}, {1540, 2051, 2064, 2048}}) {
    SCOPED_TRACE(detail::concat(rows, " x ", columns, " + ", pitch - columns));
    const Tensor a = matrix<float>(rows, columns, pitch, 0);
    const Tensor b = matrix<float>(columns, rows, transposed_pitch, 0).t();
    const Tensor sum = matrix<float>(rows, columns, pitch, 0);
    const Tensor negated = matrix<float>(rows, columns, pitch, 0);
    engine_->eval(Expr(a) + Expr(b), sum);
    engine_->eval(-Expr(b), negated);
    const Elements<float> left(a), right(b), sums(sum), negatives(negated);
    std::int64_t num_wrong = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        num_wrong += sums(i, j) != left(i, j) + right(i, j) || negatives(i, j) != -right(i, j);
    EXPECT_EQ(num_wrong, 0);
  }
}

// What is left over at the ends must not be done twice where an input is the output.
TEST_P(EngineTile, sums_in_place) {
  for (const auto& [rows, columns, padding, offset] : std::vector<Matrix>{
           {64, 64, 0, 0}, {65, 67, 0, 0}, {100, 33, 3, 1}, {17, 31, 0, 0}, {16, 300, 0, 5}}) {
    SCOPED_TRACE(detail::concat(rows, " x ", columns, " + ", padding, " @ ", offset));
    const Tensor a = matrix<float>(rows, columns, columns + padding, offset);
    const Tensor b = matrix<float>(columns, rows, rows + padding, offset).t();
    const Tensor sum = matrix<float>(rows, columns, columns, 0);
    engine_->eval(Expr(a) * 3 + Expr(b), sum);
    engine_->eval(Expr(a) * 3 + Expr(b), a);
    const Elements<float> actual(a), expected(sum), of_b(b);
    std::int64_t num_wrong = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        num_wrong += actual(row, column) != expected(row, column);
    EXPECT_EQ(num_wrong, 0);
    const float first = static_cast<float>(offset * 2654435761u >> 9 & 0x3ff);
    EXPECT_EQ(actual(0, 0), first * 3 + of_b(0, 0));
  }
}

/// The number of threads decides who computes a tile, not what it is.
TEST_P(EngineTile, any_number_of_threads) {
  const int before = num_threads();
  const Tensor a = matrix<float>(737, 811, 812, 1);
  const Tensor b = matrix<float>(811, 737, 737, 0).t();
  std::vector<std::vector<float>> results;
  for (const int count : {1, 2, 5}) {
    set_num_threads(count);
    results.push_back(elements<float>(engine_->binary(Op::sub, a, b)));
    results.push_back(elements<float>(engine_->binary(Op::sub, b, a)));
  }
  set_num_threads(before);
  for (std::size_t i = 2; i < results.size(); ++i) EXPECT_EQ(results[i], results[i % 2]);
}

/// Batches of images between the two memory formats, and one of them in place of its own memory.
TEST_P(EngineTile, memory_formats) {
  for (const Sizes& sizes : {Sizes{2, 3, 31, 33}, Sizes{3, 64, 14, 14}, Sizes{1, 5, 300, 7},
                             Sizes{1, 4, 500, 300}, Sizes{1, 16, 1, 900}}) {
    const Tensor planar = new_tensor(sizes, DType::f32);
    number_elements<float>(planar);
    const Tensor pixels = new_tensor(sizes, DType::f32, MemoryFormat::channels_last);
    engine_->copy(pixels, planar);
    EXPECT_EQ(elements<float>(pixels), elements<float>(planar));
    const Tensor back = new_tensor(sizes, DType::f32);
    engine_->copy(back, pixels);
    EXPECT_EQ(elements<float>(back), elements<float>(planar));
    engine_->binary(Op::add, pixels, planar, pixels);
    engine_->binary(Op::add, planar, planar, back);
    EXPECT_EQ(elements<float>(pixels), elements<float>(back));
  }
}

INSTANTIATE_TEST_SUITE_P(backends, EngineTile, ::testing::Values("interp", "xbyak", "llvm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::testing
