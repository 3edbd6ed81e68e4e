// Which calls write past the caches, and that they compute the same.
#include "runtime/cpu_features.h"
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/story.h>

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

using matchers::HasSubstr;
using matchers::Not;

Tensor layout(const Sizes& sizes, const Sizes& strides, DType dtype = DType::f32) {
  return unbacked(IntSpan(sizes), IntSpan(strides), dtype);
}

std::string ir_of(Engine& engine, const Expr& expr, const Tensor& out = {}) {
  ExplainOptions options;
  options.emit = {"ir"};
  options.target = "avx2";
  return engine.explain(expr, out, options).texts.at("ir");
}

EngineOptions streaming_from(std::int64_t bytes) {
  EngineOptions options;
  options.streaming_bytes = bytes;
  return options;
}

TEST(streaming, follows_the_bytes_moved) {
  Engine engine(streaming_from(12000));
  const Expr small(layout({999}, {1}));
  const Expr large(layout({1000}, {1}));
  EXPECT_THAT(ir_of(engine, small + small), Not(HasSubstr("streaming")));
  EXPECT_THAT(ir_of(engine, Expr(layout({1000}, {1})) + large), HasSubstr("streaming {"));
  // The broadcast operand is read once.
  EXPECT_THAT(ir_of(engine, Expr(layout({1000}, {0})) + large), Not(HasSubstr("streaming")));
}

TEST(streaming, views_of_one_tensor_move_no_more_than_it_has) {
  Engine engine(streaming_from(12000));
  const Tensor a = layout({1002}, {1}), b = layout({3000}, {1});
  const auto sum_of_three = [](const Tensor& tensor, std::int64_t step) {
    const std::int64_t last = 1000 * step;
    return Expr(tensor.slice(0, 0, last, step)) + Expr(tensor.slice(0, 1, last + 1, step)) +
           Expr(tensor.slice(0, 2, last + 2, step));
  };
  EXPECT_THAT(ir_of(engine, sum_of_three(a, 1)), Not(HasSubstr("streaming")));
  EXPECT_EQ(engine.explain(sum_of_three(a, 1)).story.read_bytes, 1002 * 4);
  EXPECT_THAT(ir_of(engine, sum_of_three(b, 3)), HasSubstr("streaming {"));
}

TEST(streaming, not_for_the_sake_of_a_few_bytes_written) {
  Engine engine(streaming_from(9000));
  const Expr a(layout({1000}, {1})), b(layout({1000}, {1}));
  EXPECT_THAT(ir_of(engine, a < b), Not(HasSubstr("streaming")));
  const Expr c(layout({3000}, {1})), d(layout({3000}, {1}));
  EXPECT_THAT(ir_of(engine, c < d), HasSubstr("streaming"));
}

TEST(streaming, large_calls_stream_by_default) {
  Engine engine;
  const Expr huge(layout({std::int64_t{1} << 30}, {1}));
  const Expr tiny(layout({1000}, {1}));
  EXPECT_THAT(ir_of(engine, -huge), HasSubstr("streaming {"));
  EXPECT_THAT(ir_of(engine, -tiny), Not(HasSubstr("streaming")));
}

/// Of `length` steps, with masks and with constants that don't all find registers.
Expr long_body(const Expr& a, const Expr& b, int length) {
  Expr x = a + b;
  for (int i = 0; i < length; ++i) {
    if (i % 5 == 4)
      x = ops::where(x < a, x * 0.25f, b - x);
    else
      x = i % 2 == 0 ? x * b + (0.5f + static_cast<float>(i)) : x - a * x;
  }
  return x;
}

TEST(streaming, long_bodies_for_several_vectors_in_turn) {
  EngineOptions options = streaming_from(1);
  Engine reference(EngineOptions{.backend = "interp"});
  for (const bool streams : {false, true}) {
    options.streaming_bytes = streams ? 1 : std::int64_t{1} << 40;
    Engine engine(options);
    for (const std::int64_t size : {1, 15, 16, 63, 64, 65, 129, 1000, 20011})
      for (const int length : {2, 3, 7, 20, 45}) {
        const Tensor a = empty({size}, DType::f32), b = empty({size}, DType::f32);
        for (std::int64_t i = 0; i < size; ++i) {
          a.data_as<float>()[i] = static_cast<float>(i % 13 - 6) / 8;
          b.data_as<float>()[i] = static_cast<float>(i % 7 - 3) / 4;
        }
        const Expr x = long_body(Expr(a), Expr(b), length);
        EXPECT_EQ(elements<float>(engine.eval(x)), elements<float>(reference.eval(x)))
            << size << " elements, " << length << " steps";
      }
  }
}

TEST(streaming, blocks_of_rows) {
  Engine reference(EngineOptions{.backend = "interp"});
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{1} << 40}) {
    Engine engine(streaming_from(bytes));
    // Rows that begin anywhere, and a last block of fewer.
    const std::int64_t length = 1021, rows = 2 * host_features().l2_bytes / (length * 4) + 3;
    const Tensor a = empty({rows, length}, DType::f32);
    for (std::int64_t i = 0; i < a.numel(); ++i)
      a.data_as<float>()[i] = static_cast<float>(i % 1013 - 506) / 64;
    const ReduceOptions by_row{.dims = {1}, .keepdim = true};
    const Expr e = ops::exp(Expr(a) - ops::amax(Expr(a), by_row));
    const Expr centred = Expr(a) - ops::mean(Expr(a), by_row);
    // Of the first a function's values are kept, and ask for what the next block reads; of the
    // other the last pass does.
    for (const Expr& x :
         {e / ops::sum(e, by_row), centred / ops::sqrt(ops::mean(centred * centred, by_row))}) {
      const auto expected = elements<float>(reference.eval(x));
      const std::uint64_t misses = engine.stats().plan_misses;
      for (int call = 0; call < 3; ++call)
        ASSERT_EQ(elements<float>(engine.eval(x)), expected) << bytes << ", call " << call;
      // The first and the last block leave a plan of all, of which there are hundreds.
      EXPECT_LT(engine.stats().plan_misses - misses, 40U);
    }
  }
}

TEST(streaming, long_folds_ask_ahead) {
  Engine engine(streaming_from(1)), reference(EngineOptions{.backend = "interp"});
  // The last lines that are asked for lie beyond the tensor.
  for (const std::int64_t rows : {1, 3}) {
    const Tensor a = empty({rows, 20011}, DType::f32), b = empty({rows, 20011}, DType::f32);
    for (std::int64_t i = 0; i < a.numel(); ++i)
      a.data_as<float>()[i] = b.data_as<float>()[i] = static_cast<float>(i % 1013 - 506) / 64;
    const ReduceOptions by_row{.dims = {-1}};
    const Expr x(a);
    for (const Expr& fold : {ops::sum(x * x, by_row), ops::amax(x, by_row) - ops::amin(x, by_row),
                             ops::sum(x * Expr(b), by_row)})
      EXPECT_EQ(elements<float>(engine.eval(fold)), elements<float>(reference.eval(fold)));
  }
}

TEST(streaming, not_into_an_input) {
  Engine engine(streaming_from(1));
  const Tensor a = new_tensor({4000}, DType::f32);
  EXPECT_THAT(ir_of(engine, Expr(a) * 2, a), Not(HasSubstr("streaming")));
  EXPECT_THAT(ir_of(engine, Expr(a) * 2, new_tensor({4000}, DType::f32)), HasSubstr("streaming"));
}

TEST(streaming, not_in_short_or_strided_rows) {
  Engine engine(streaming_from(1));
  const Expr a(layout({100, 4}, {5, 1}));
  EXPECT_THAT(ir_of(engine, -a, layout({100, 4}, {8, 1})), Not(HasSubstr("streaming")));
  const Expr b(layout({1000}, {1}));
  EXPECT_THAT(ir_of(engine, -b, layout({1000}, {3})), Not(HasSubstr("streaming")));
}

/// What `weft explain` says of the order of rows.
bool follows_reads(Engine& engine, const Expr& expr, const Tensor& out) {
  ExplainOptions options;
  options.target = "avx2";
  const std::string text = story_text(engine.explain(expr, out, options));
  EXPECT_THAT(text, HasSubstr("stores: past the caches"));
  return text.find("rows in the order in") != std::string::npos;
}

TEST(streaming, rows_of_whole_lines_follow_what_is_read) {
  Engine engine(streaming_from(1));
  const auto permuted = [](std::int64_t width) {
    return layout({2, 3, 5, width}, {15 * width, width, 3 * width, 1});
  };
  const Tensor out = layout({2, 3, 5, 16}, {240, 80, 16, 1});
  const Expr a(permuted(16)), b(permuted(16)), same(layout({2, 3, 5, 16}, {240, 80, 16, 1}));
  EXPECT_TRUE(follows_reads(engine, -a, out));
  EXPECT_TRUE(follows_reads(engine, a + b, out));
  EXPECT_TRUE(follows_reads(engine, a + b * same, out));
  EXPECT_FALSE(follows_reads(engine, a + same, out)) << "as much is read in the output's order";
  EXPECT_FALSE(follows_reads(engine, -same, out));
  // Lines that two rows share would be written twice.
  EXPECT_FALSE(
      follows_reads(engine, -Expr(permuted(132)), layout({2, 3, 5, 132}, {1980, 660, 132, 1})));
  EXPECT_FALSE(
      follows_reads(engine, -Expr(permuted(128)), layout({2, 3, 5, 128}, {2055, 685, 137, 1})));
}

TEST(streaming, the_order_of_rows_changes_nothing) {
  Engine plain(streaming_from(std::int64_t{1} << 60));
  const Tensor storage = new_tensor({4, 7, 6, 9, 48}, DType::f32);
  for (std::int64_t i = 0; i < storage.numel(); ++i) put<float>(storage, i, static_cast<float>(i));
  const Tensor row = new_tensor({6, 1, 48}, DType::f32);
  for (std::int64_t i = 0; i < row.numel(); ++i) put<float>(row, i, static_cast<float>(i % 5));
  std::vector<Expr> exprs;
  for (const std::vector<int>& order :
       {std::vector{0, 2, 1, 3, 4}, {3, 2, 1, 0, 4}, {1, 3, 0, 2, 4}})
    exprs.push_back(-Expr(storage.permute(order).narrow(3, 0, 2)));
  exprs.push_back(Expr(storage.permute({1, 0, 2, 3, 4})) + Expr(row));
  for (const int num_threads : {1, 3}) {
    EngineOptions options = streaming_from(1);
    options.num_threads = num_threads;
    Engine engine(options);
    for (const Expr& expr : exprs)
      EXPECT_EQ(elements<float>(engine.eval(expr)), elements<float>(plain.eval(expr)));
  }
}

TEST(streaming, computes_what_other_calls_compute) {
  Engine plain(streaming_from(std::int64_t{1} << 60));
  Engine engine(streaming_from(1));
  const Tensor a = new_tensor({37, 301}, DType::f32);
  const Tensor b = new_tensor({301}, DType::u8);
  for (std::int64_t i = 0; i < a.numel(); ++i) put<float>(a, i, static_cast<float>(i) / 7);
  for (std::int64_t i = 0; i < b.numel(); ++i)
    put<std::uint8_t>(b, i, static_cast<std::uint8_t>(i));
  const Expr expr = Expr(a) * Expr(b) + 1;
  const Tensor expected = plain.eval(expr);
  for (std::int64_t offset = 0; offset < 17; ++offset) {
    const Tensor storage = new_tensor({37 * 301 + 17}, DType::f32);
    const Tensor out = storage.as_strided(Sizes{37, 301}, Sizes{301, 1}, offset);
    engine.eval(expr, out);
    for (std::int64_t i = 0; i < out.numel(); ++i)
      ASSERT_EQ(get<float>(out, i), get<float>(expected, i)) << "offset " << offset;
  }
}

TEST(streaming, threshold_is_checked) { EXPECT_THROW(Engine{streaming_from(-1)}, ArgumentError); }

}  // namespace
}  // namespace weft::testing
