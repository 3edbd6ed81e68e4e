// Folds of a few elements, which are one elementwise kernel: the bits are those of a loop over the
// elements by index arithmetic, and of the interpreter's loops.
#include "tests/engine/support/engines.h"
#include "tests/engine/support/layouts.h"
#include "tests/matchers.h"
#include "tests/message_of.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <iterator>

namespace weft::testing {
namespace {

using matchers::HasSubstr;
using Places = std::vector<std::int64_t>;

bool is_unrolled(Engine& engine, const Expr& expr) {
  const std::vector<std::string> passes = engine.explain(expr).passes;
  return passes.size() == 1 && passes[0].starts_with("unrolled fold");
}

/// A tensor of f32 whose values round when they are added.
Tensor numbers(const Sizes& sizes, Random& random) {
  const Tensor result = new_tensor(sizes, DType::f32);
  for (std::int64_t i = 0; i < result.numel(); ++i)
    put<float>(result, i, static_cast<float>(random() % 2'000'001) / 1e5F - 10);
  return result;
}

TEST(unrolled_folds, sum_as_a_loop_does) {
  Random random(1);
  for (const auto& engine : engines({"auto", "xbyak", "llvm"}))
    for (std::int64_t n = 1; n <= 15; ++n) {
      const Tensor a = numbers({37, n}, random), weights = numbers({n}, random);
      const Expr expr = reduce(Reduction::mean, Expr(a) * Expr(weights), {.dims = {1}});
      EXPECT_TRUE(is_unrolled(*engine, expr)) << n;
      const Tensor result = engine->eval(expr);
      for (std::int64_t i = 0; i < 37; ++i) {
        float sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
          sum += get<float>(a, i * n + j) * get<float>(weights, j);
        EXPECT_EQ(get<float>(result, i), sum / static_cast<float>(n)) << i;
      }
    }
}

TEST(unrolled_folds, go_over_windows_and_pools) {
  Random random(2);
  const Tensor image = numbers({6, 40}, random);
  for (const auto& engine : engines({"auto", "xbyak", "llvm"})) {
    const Expr windows = reduce(Reduction::sum, Expr(image.unfold(1, 5, 1)), {.dims = {2}});
    EXPECT_TRUE(is_unrolled(*engine, windows));
    const Tensor summed = engine->eval(windows);
    ASSERT_EQ(summed.numel(), 6 * 36);
    for (std::int64_t i = 0; i < 6 * 36; ++i) {
      float sum = 0;
      for (std::int64_t j = 0; j < 5; ++j) sum += get<float>(image, i / 36 * 40 + i % 36 + j);
      EXPECT_EQ(get<float>(summed, i), sum) << i;
    }
    const Expr pools =
        reduce(Reduction::amax, Expr(image.view({3, 2, 20, 2})), {.dims = {1, 3}, .keepdim = true});
    EXPECT_TRUE(is_unrolled(*engine, pools));
    const Tensor largest = engine->eval(pools);
    EXPECT_EQ(Places(largest.sizes().begin(), largest.sizes().end()), (Places{3, 1, 20, 1}));
    for (std::int64_t i = 0; i < 60; ++i) {
      const std::int64_t first = i / 20 * 80 + i % 20 * 2;
      EXPECT_EQ(get<float>(largest, i),
                std::max({get<float>(image, first), get<float>(image, first + 1),
                          get<float>(image, first + 40), get<float>(image, first + 41)}))
          << i;
    }
  }
}

TEST(unrolled_folds, long_windows_are_folded_by_loops_across_them) {
  Random random(9);
  const Tensor image = numbers({3, 90}, random);
  const Expr expr = reduce(Reduction::sum, Expr(image.unfold(1, 40, 1)), {.dims = {2}});
  for (const auto& engine : engines({"auto", "xbyak", "llvm", "interp"})) {
    EXPECT_FALSE(is_unrolled(*engine, expr));
    const Tensor summed = engine->eval(expr);
    ASSERT_EQ(summed.numel(), 3 * 51);
    for (std::int64_t i = 0; i < 3 * 51; ++i) {
      float sum = 0;
      for (std::int64_t j = 0; j < 40; ++j) sum += get<float>(image, i / 51 * 90 + i % 51 + j);
      EXPECT_EQ(get<float>(summed, i), sum) << i;
    }
  }
}

TEST(unrolled_folds, of_nothing_but_minus_zero_are_zero) {
  const Tensor a = tensor_of<float>(std::vector<float>(40, -0.0F), {20, 2});
  for (const auto& engine : engines({"auto", "xbyak", "llvm", "interp"})) {
    const Tensor sum = engine->eval(reduce(Reduction::sum, Expr(a), {.dims = {1}}));
    for (std::int64_t i = 0; i < 20; ++i) EXPECT_FALSE(std::signbit(get<float>(sum, i)));
  }
}

template <class T>
T pick_of(Random& random, std::initializer_list<T> values) {
  return values.begin()[ir::pick(random, values.size())];
}

/// What the interpreter folds by loops, of operands in any layout and of any dtype.
class Case {
 public:
  explicit Case(Random& random) {
    const std::size_t ndim = 1 + ir::pick(random, 4);
    std::int64_t few = 25;
    for (std::size_t dim = 0; dim < ndim; ++dim) {
      const bool folds = few > 1 && ir::pick(random, 2) == 0;
      const std::size_t most = folds ? static_cast<std::size_t>(few) : 40;
      sizes_.push_back(1 + static_cast<std::int64_t>(ir::pick(random, most)));
      if (!folds) continue;
      few /= sizes_.back();
      options_.dims.push_back(static_cast<int>(dim));
    }
    if (options_.dims.empty()) options_.dims.push_back(0), sizes_[0] = 3;
    options_.keepdim = ir::pick(random, 2) == 0;
    dtype_ = pick_of(random, {DType::f32, DType::f64, DType::f16, DType::u8, DType::i32, DType::c64,
                              DType::boolean});
    a_ = filled(random_layout(sizes_, dtype_, random), random);
    b_ = filled(random_operand(sizes_, dtype_, random), random);
    reduction_ = pick_of(random, {Reduction::sum, Reduction::prod, Reduction::any});
    if (!is_complex(dtype_) && ir::pick(random, 2) == 0)
      reduction_ = pick_of(random, {Reduction::amax, Reduction::amin});
    if (is_floating(dtype_) && ir::pick(random, 3) == 0) reduction_ = Reduction::mean;
  }

  Expr expr() const {
    return reduce(reduction_, is_boolean(dtype_) ? Expr(a_) | Expr(b_) : Expr(a_) + Expr(b_) * 3,
                  options_);
  }

 private:
  static Tensor filled(const Tensor& result, Random& random) {
    randomise(result, random);
    return is_complex(result.dtype()) && ir::pick(random, 2) == 0 ? result.conj() : result;
  }

  Sizes sizes_;
  ReduceOptions options_;
  DType dtype_ = DType::f32;
  Tensor a_, b_;
  Reduction reduction_ = Reduction::sum;
};

/// Few results side by side, in an order that the argument doesn't have: loops take vectors along
/// what is folded.
TEST(unrolled_folds, agree_with_the_interpreter_into_transposed_outputs) {
  Random random(13);
  Engine interpreter({.backend = "interp"});
  const auto compiled = engines({"auto", "xbyak", "llvm"});
  for (int i = 0; i < 60; ++i) {
    const auto few = [&] { return static_cast<std::int64_t>(2 + ir::pick(random, 9)); };
    const std::int64_t rows = few(), folded = 2 * few(), columns = few();
    const int order[] = {1, 0, 2};
    const Tensor a = numbers({folded, rows, columns}, random).permute(order);
    const Expr expr = reduce(i % 2 == 0 ? Reduction::sum : Reduction::mean, Expr(a), {.dims = {1}});
    const Tensor out = new_tensor({columns, rows}, DType::f32).t();
    interpreter.eval(expr, out);
    const Tensor expected = interpreter.contiguous(out);
    for (const auto& engine : compiled) {
      randomise(out, random);
      engine->eval(expr, out);
      ASSERT_TRUE(same_tensor(interpreter.contiguous(out), expected))
          << engine->options().backend << ", " << rows << "x" << folded << "x" << columns;
    }
  }
}

TEST(unrolled_folds, agree_with_the_interpreter_in_any_layout) {
  Random random(3);
  Engine interpreter({.backend = "interp"});
  const auto compiled = engines({"auto", "xbyak", "llvm"});
  int num_unrolled = 0;
  for (int i = 0; i < 600; ++i) {
    const Expr expr = Case(random).expr();
    SCOPED_TRACE(text(expr) + ", case " + std::to_string(i));
    const Tensor expected = interpreter.eval(expr);
    for (std::size_t backend = 0; backend < compiled.size(); ++backend) {
      if (backend == 2 && i % 8 != 0) continue;  // LLVM takes its time
      Engine& engine = *compiled[backend];
      if (i % 8 == 0) num_unrolled += static_cast<int>(is_unrolled(engine, expr));
      for (int run = 0; run < 2; ++run)
        ASSERT_TRUE(same_tensor(engine.eval(expr), expected)) << backend;
      const PreparedPlan plan = engine.prepare(expr);
      plan.run();
      ASSERT_TRUE(same_tensor(plan.outputs()[0], expected)) << backend;
    }
  }
  EXPECT_GT(num_unrolled, 60);
}

const char* const expressions[] = {"norm(a, 2, DIMS)",
                                   "var(a + b, DIMS)",
                                   "mean(a, DIMS) * 2 - c",
                                   "amax(a, DIMS) - amin(a * b, DIMS)",
                                   "sum(cast(a, f16) * 0.5, DIMS)",
                                   "logsumexp(a, DIMS)",
                                   "any(a < b, DIMS)",
                                   "cast(round(sum(a * b, DIMS)), i16) + 1",
                                   "sum(sum(a, DIMS) * b, DIMS)",
                                   "a - mean(a, DIMS)"};

/// An expression around folds of a few elements; `c` has the sizes of their results.
Expr random_expression(const std::string& text, Random& random) {
  Sizes sizes{1 + static_cast<std::int64_t>(ir::pick(random, 30)),
              1 + static_cast<std::int64_t>(ir::pick(random, 5)),
              1 + static_cast<std::int64_t>(ir::pick(random, 30))};
  const DType dtype = pick_of(random, {DType::f32, DType::f64});
  const auto filled = [&](Tensor tensor) {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      const double value = static_cast<double>(random() % 4001) / 500 - 4;
      const Bits bits = Scalar(value).bits(dtype);
      std::memcpy(element(tensor, i), &bits, itemsize_bytes(dtype));
    }
    return tensor;
  };
  std::vector<std::pair<std::string, Tensor>> names;
  names.emplace_back("a", filled(random_layout(sizes, dtype, random)));
  names.emplace_back("b", filled(random_operand(sizes, dtype, random)));
  sizes[1] = 1;
  names.emplace_back("c", filled(random_layout(sizes, dtype, random)));
  std::string filled_text = text;
  for (std::size_t at = 0; (at = filled_text.find("DIMS")) != std::string::npos;)
    filled_text.replace(at, 4, "dims=[1], keepdim=True");
  return parse_expr(filled_text, names);
}

TEST(unrolled_folds, are_one_kernel_with_what_is_around_them) {
  Random random(5);
  Engine interpreter({.backend = "interp"});
  const auto compiled = engines({"auto", "xbyak", "llvm"});
  for (int i = 0; i < 200; ++i) {
    const std::string pattern = expressions[static_cast<std::size_t>(i) % std::size(expressions)];
    const Expr expr = random_expression(pattern, random);
    SCOPED_TRACE(text(expr) + ", case " + std::to_string(i));
    const Tensor expected = interpreter.eval(expr);
    for (std::size_t backend = 0; backend < compiled.size(); ++backend) {
      if (backend == 2 && i >= 20) continue;  // LLVM takes its time
      Engine& engine = *compiled[backend];
      for (int run = 0; run < 2; ++run) {
        const Tensor result = engine.eval(expr);
        ASSERT_TRUE(same_tensor(result, expected)) << backend;
        ASSERT_TRUE(std::ranges::equal(result.strides(), expected.strides())) << backend;
      }
      const Explanation explained = engine.explain(expr);
      ASSERT_TRUE(std::ranges::equal(explained.result_strides, expected.strides()));
    }
  }
  Engine engine;
  const Tensor a = numbers({30, 3}, random);
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  for (const char* text : {"sqrt(sum(square(a), dims=[1]))",
                           "amax(a, dims=[1]) - amin(a, dims=[1])", "var(a, dims=[1])"}) {
    const std::uint64_t misses = engine.stats().plan_misses;
    engine.eval(parse_expr(text, names));
    EXPECT_EQ(engine.stats().plan_misses, misses + 1) << text;
  }
}

// Some functions are rebuilt from hundreds of instructions: a kernel has no room for many of those.
TEST(unrolled_folds, of_many_functions_are_loops) {
  Random random(10);
  const Tensor a = numbers({30, 15}, random);
  const Expr many = fold(Op::logaddexp, ops::tan(Expr(a)), {.dims = {1}});
  const Expr few = fold(Op::logaddexp, ops::tan(Expr(a.slice(1, 0, 2))), {.dims = {1}});
  Engine engine, interpreter({.backend = "interp"});
  EXPECT_FALSE(is_unrolled(engine, many));
  EXPECT_TRUE(is_unrolled(engine, few));
  for (const Expr& expr : {many, few})
    EXPECT_TRUE(same_tensor(engine.eval(expr), interpreter.eval(expr)));
}

TEST(unrolled_folds, of_many_operands_are_loops) {
  Random random(11);
  std::vector<std::pair<std::string, Tensor>> names;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    names.emplace_back(name, numbers({30, 8}, random));
  std::string sums = "sum(a, dims=[1])";
  for (int i = 0; i < 50; ++i) sums += " + sum(a * b + " + std::to_string(i) + ", dims=[1])";
  Engine engine, interpreter({.backend = "interp"});
  for (const std::string& text :
       {std::string("sum(a + b + c + d + e + f + g + h, dims=[1])"),
        std::string("sum(a * b, dims=[1]) + sum(c * d, dims=[1]) * sum(e * f, dims=[1]) + "
                    "sum(g * h, dims=[1]) + sum(a * h, dims=[1])"),
        sums}) {
    const Expr expr = parse_expr(text, names);
    EXPECT_FALSE(is_unrolled(engine, expr));
    EXPECT_TRUE(same_tensor(engine.eval(expr), interpreter.eval(expr)));
  }
}

TEST(unrolled_folds, give_several_results) {
  Random random(6);
  const Tensor a = numbers({30, 4}, random);
  const Expr exprs[] = {reduce(Reduction::amin, Expr(a), {.dims = {1}}),
                        reduce(Reduction::amax, Expr(a), {.dims = {1}})};
  Engine engine, interpreter({.backend = "interp"});
  const std::vector<Tensor> results = engine.eval(exprs);
  const std::vector<Tensor> expected = interpreter.eval(exprs);
  EXPECT_TRUE(same_tensor(results[0], expected[0]));
  EXPECT_TRUE(same_tensor(results[1], expected[1]));
  EXPECT_EQ(engine.stats().plan_misses, 1U);
}

// Two operands may be the same part of one tensor in one call, and apart in the next.
TEST(unrolled_folds, of_a_tensor_that_the_call_has_a_part_of) {
  Random random(7);
  Engine engine;
  for (const bool is_apart : {false, true, false}) {
    const Tensor a = numbers({30, 3}, random);
    const Tensor part = (is_apart ? numbers({30, 3}, random) : a).select(1, 1);
    const Tensor result = engine.eval(reduce(Reduction::sum, Expr(a), {.dims = {1}}) * Expr(part));
    for (std::int64_t i = 0; i < 30; ++i)
      EXPECT_EQ(get<float>(result, i),
                (get<float>(a, i * 3) + get<float>(a, i * 3 + 1) + get<float>(a, i * 3 + 2)) *
                    get<float>(part, i));
  }
}

TEST(unrolled_folds, into_what_they_read) {
  Random random(8);
  Engine engine;
  const Tensor a = numbers({30, 3}, random);
  std::vector<float> expected;
  for (std::int64_t i = 0; i < 30; ++i)
    expected.push_back(get<float>(a, i * 3) + get<float>(a, i * 3 + 1) + get<float>(a, i * 3 + 2));
  const Tensor out = a.view({90}).slice(0, 0, 30);
  engine.eval(reduce(Reduction::sum, Expr(a), {.dims = {1}}), out);
  EXPECT_EQ(elements<float>(out), expected);
}

TEST(unrolled_folds, take_other_memory_of_the_same_layout_and_numbers) {
  Random random(4);
  Engine engine;
  for (int i = 0; i < 3; ++i) {
    const Tensor a = numbers({30, 3}, random);
    const Expr expr = reduce(Reduction::sum, Expr(a) * (i + 0.5), {.dims = {1}});
    const Tensor out = new_tensor({30}, DType::f32);
    engine.eval(expr, out);
    for (std::int64_t row = 0; row < 30; ++row) {
      float sum = 0;
      for (std::int64_t j = 0; j < 3; ++j)
        sum += get<float>(a, row * 3 + j) * (static_cast<float>(i) + 0.5F);
      EXPECT_EQ(get<float>(out, row), sum);
    }
  }
  EXPECT_EQ(engine.stats().plan_misses, 1U);
}

/// A view counts changes of its layout from another number than a new tensor does.
TEST(unrolled_folds, of_views_of_one_element) {
  const auto views = [] {
    const Tensor x = full({3}, 2, DType::f32), resized = full({3}, 2, DType::f32);
    resized.resize_({1});
    return std::vector<Tensor>{x.narrow(0, 1, 1), x.slice(0, 2, 3), x.narrow(0, 0, 1).flip({0}),
                               x.select(0, 1).unsqueeze(0), resized};
  };
  for (const std::size_t i : {0U, 1U, 2U, 3U, 4U})
    for (const auto& engine : engines({"auto", "xbyak", "llvm", "interp"})) {
      const Tensor x = views()[i];
      EXPECT_EQ(engine->reduce(Reduction::sum, x).item().as_double(), 2) << i;
      EXPECT_EQ(engine->reduce(Reduction::amax, x).item().as_double(), 2) << i;
      const Tensor out = empty({}, DType::f32);
      engine->eval(reduce(Reduction::mean, Expr(x)) + Expr(x), out);
      EXPECT_EQ(get<float>(out, 0), 4) << i;
    }
}

/// What is elementwise follows the tensor's new sizes, beside folds of what stayed as it was.
TEST(unrolled_folds, beside_a_tensor_that_was_resized) {
  for (const auto& engine : engines({"auto", "xbyak", "llvm", "interp"})) {
    const Tensor x = full({3}, 2, DType::f32).narrow(0, 1, 1), y = full({4}, 3, DType::f32);
    const Expr expr = Expr(y) + reduce(Reduction::sum, Expr(x));
    y.resize_({2});
    EXPECT_EQ(elements<float>(engine->eval(expr)), (std::vector<float>{5, 5}));
  }
}

/// Each of them stands in what the next one folds, once with and once without the dimension.
TEST(unrolled_folds, of_folds_of_one_element_are_as_many_as_there_are) {
  for (const auto& engine : engines({"auto", "xbyak", "llvm", "interp"})) {
    Expr doubled = full({8, 1}, 1, DType::f32);
    for (int i = 0; i < 11; ++i)
      doubled = doubled + reduce(Reduction::sum, doubled, {.dims = {1}, .keepdim = true});
    EXPECT_EQ(elements<float>(engine->eval(doubled)), std::vector<float>(8, 2048));
    Expr largest = full({1}, 3, DType::f64);
    for (int i = 0; i < 40; ++i)
      largest =
          (reduce(Reduction::amax, largest, {.keepdim = true}) + reduce(Reduction::amax, largest)) *
          Expr(0.5);
    EXPECT_EQ(elements<double>(engine->eval(largest)), std::vector<double>{3});
  }
}

/// More numbers than a kernel has, where the folds are part of it.
TEST(unrolled_folds, of_many_numbers_are_loops) {
  for (const auto& engine : engines({"auto", "xbyak", "llvm", "interp"})) {
    const Tensor x = full({2, 64}, 1, DType::f32);
    Expr total(0.0);
    float expected = 0;
    for (int fold = 0; fold < 8; ++fold) {
      Expr argument(x);
      for (int i = 0; i < 31; ++i) argument = argument + Expr(fold * 31.0 + i);
      expected +=
          2 * (1 + 31 * 31 * static_cast<float>(fold) + 465) + static_cast<float>(1000 + fold);
      total = total + reduce(Reduction::sum, argument, {.dims = {0}}) + Expr(1000.0 + fold);
    }
    EXPECT_EQ(elements<float>(engine->eval(total)), std::vector<float>(64, expected));
  }
}

TEST(unrolled_folds, into_outputs_with_elements_in_one_place_are_refused) {
  const Tensor a = full({2, 5, 4}, 1, DType::f32), column = full({5, 1}, 7, DType::f32),
               row = full({1, 4}, 7, DType::f32);
  const Expr sum = ops::sum(a, {.dims = {0}});
  for (const auto& engine : engines({"auto", "xbyak", "llvm", "interp"}))
    for (const Tensor& out : {column.expand({5, 4}), row.expand({5, 4})}) {
      const auto refuses = [&](const auto& call) {
        EXPECT_THAT(test::message_of<ArgumentError>(call), HasSubstr("more than one element"));
      };
      refuses([&] { engine->eval(sum, out); });
      refuses([&] { engine->prepare(sum, out); });
      refuses([&] { engine->explain(sum, out); });
      EXPECT_EQ(get<float>(out, 0), 7);
    }
}

}  // namespace
}  // namespace weft::testing
