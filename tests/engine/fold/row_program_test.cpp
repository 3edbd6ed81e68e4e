// Blocks of rows whose passes are called one after the other.
#include "engine/fold/row_blocks.h"
#include "tests/engine/support/elements.h"
#include "tests/required_backends.h"

#include <weft/cancel.h>
#include <weft/engine.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::testing {
namespace {

const ReduceOptions last{.dims = {-1}, .keepdim = true};

Engine& interpreter() {
  static Engine engine(EngineOptions{.backend = "interp"});
  return engine;
}

/// Between -10 and 10.
Tensor numbers(const Sizes& sizes, DType dtype, std::uint64_t seed) {
  Random random(seed);
  const Tensor result = new_tensor(sizes, DType::f32);
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_as<float>()[i] = static_cast<float>(random() % 20'001) / 1000 - 10;
  return interpreter().to(result, dtype);
}

/// What a call reads: rows, one number a row, one a column, and a number.
struct Operands {
  Tensor rows, more_rows, of_row, of_column;
  double number;
};

using Make = std::function<Expr(const Operands&)>;

Expr normed(const Expr& x, double epsilon) {
  const Expr centred = x - ops::mean(x, last);
  return centred / ops::sqrt(ops::mean(centred * centred, last) + epsilon);
}

const std::vector<Make>& makers() {
  static const std::vector<Make> all{
      [](const Operands& with) { return normed(with.rows, with.number); },
      [](const Operands& with) {
        return normed(Expr(with.rows) + with.more_rows, with.number) * with.of_column + with.of_row;
      },
      [](const Operands& with) {
        const Expr x(with.rows), e = ops::exp(x - ops::amax(x, last));
        return e / ops::sum(e, last);
      },
      [](const Operands& with) {
        const Expr x = Expr(with.rows) * with.number;
        return x - ops::logsumexp(x, {.dims = {-1}, .keepdim = true});
      },
      [](const Operands& with) {
        return ops::sum(Expr(with.rows) * with.of_column, {.dims = {-1}}) * with.number;
      },
      [](const Operands& with) {
        const Expr scaled = Expr(with.rows) * with.number + 0.5;
        return (Expr(with.rows) - 0.75) / ops::sum(ops::abs(scaled), last) * 3;
      },
      [](const Operands& with) {
        const Expr x(with.rows);
        return (x - ops::amin(x, last)) / (ops::amax(x, last) - ops::amin(x, last));
      },
  };
  return all;
}

Operands operands(const Sizes& sizes, DType dtype, std::uint64_t seed) {
  return {numbers(sizes, dtype, seed), numbers(sizes, dtype, seed + 1),
          numbers({sizes[0], 1}, dtype, seed + 2), numbers({sizes[1]}, dtype, seed + 3),
          0.25 + static_cast<double>(seed)};
}

/// Every second row of a tensor twice as wide, on which rows go on.
Tensor apart(const Tensor& rows) {
  const Tensor wide = new_tensor({2 * rows.size(0), 2 * rows.size(1)}, rows.dtype());
  const Tensor view = wide.slice(0, 0, 2 * rows.size(0), 2).narrow(1, 3, rows.size(1));
  interpreter().copy(view, rows);
  return view;
}

/// By calls of so few rows that they are not cut into blocks.
Tensor in_pieces(const Make& make, const Operands& with) {
  constexpr std::int64_t few = 20;
  const std::int64_t num_rows = with.rows.size(0);
  Tensor all;
  for (std::int64_t first = 0; first < num_rows; first += few) {
    const std::int64_t count = std::min(few, num_rows - first);
    Operands piece = with;
    for (Tensor* const tensor : {&piece.rows, &piece.more_rows, &piece.of_row})
      *tensor = tensor->narrow(0, first, count);
    const Tensor part = interpreter().eval(make(piece));
    if (!all.defined()) {
      Sizes sizes(part.sizes().begin(), part.sizes().end());
      sizes[0] = num_rows;
      all = new_tensor(sizes, part.dtype());
    }
    interpreter().copy(all.narrow(0, first, count), part);
  }
  return all;
}

class RowPrograms : public ::testing::TestWithParam<const char*> {
 protected:
  /// Null where the build has no such backend.
  static std::unique_ptr<Engine> engine(int num_threads) {
    try {
      return std::make_unique<Engine>(EngineOptions{GetParam(), Numerics::standard, num_threads});
    } catch (const UnsupportedError& error) {
      leave_out_without(GetParam(), error.what());
      return nullptr;
    }
  }
};

TEST_P(RowPrograms, HaveTheBitsOfRowsAlone) {
  const auto one = engine(1), three = engine(3);
  if (one == nullptr || three == nullptr) return;
  // Blocks of several rows, two and one, with some rows left over.
  for (const Sizes& sizes : {Sizes{2'003, 130}, Sizes{901, 771}, Sizes{257, 2'200}})
    for (std::size_t which = 0; which < makers().size(); ++which)
      for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
        SCOPED_TRACE(::testing::Message()
                     << "expression " << which << ", " << name(dtype) << ", rows of " << sizes[1]);
        Engine& used = which % 2 == 0 ? *one : *three;
        for (const std::uint64_t seed : {1U, 2U}) {
          const Operands with = operands(sizes, dtype, seed);
          ASSERT_TRUE(
              same_tensor(used.eval(makers()[which](with)), in_pieces(makers()[which], with)))
              << "call " << seed;
          used.wait_optimised();
        }
      }
}

TEST_P(RowPrograms, TakeRowsThatLieApart) {
  const auto engine = RowPrograms::engine(1);
  if (engine == nullptr) return;
  for (const Make& make : makers()) {
    Operands with = operands({901, 771}, DType::f32, 5);
    const Tensor expected = in_pieces(make, with);
    with.rows = apart(with.rows);
    with.more_rows = apart(with.more_rows);
    const bool has_rows = expected.dim() == 2 && expected.size(1) == 771;
    const Tensor out = has_rows ? apart(expected) : empty_like(expected);
    const std::vector<std::byte> before = storage_bytes(out);
    for (int call = 0; call < 3; ++call) {
      engine->copy(out, zeros(Sizes{1}, {DType::f32}));
      engine->eval(make(with), out);
      ASSERT_TRUE(same_tensor(out, expected)) << text(make(with));
    }
    EXPECT_TRUE(storage_bytes(out) == before || !has_rows) << "something between the rows";
  }
}

TEST(ExactRowPrograms, SumsAreNotRounded) {
  // Of each row the large numbers cancel, and what is left is lost by every sum that rounds.
  const Sizes sizes{901, 771};
  const Tensor x = new_tensor(sizes, DType::f32);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.data_as<float>()[i] = i % 771 == 0 ? 1e20F : i % 771 == 770 ? -1e20F : 0.5F;
  Engine engine(EngineOptions{.numerics = Numerics::exact});
  for (int call = 0; call < 3; ++call) {
    const Tensor share = engine.eval(Expr(x) * 0 + ops::sum(x, last));
    for (std::int64_t i = 0; i < share.numel(); ++i)
      ASSERT_EQ(share.data_as<float>()[i], 0.5F * 769) << "row " << i / 771 << ", call " << call;
  }
}

TEST_P(RowPrograms, ArePreparedAndRunOnOtherMemory) {
  const auto engine = RowPrograms::engine(2);
  if (engine == nullptr) return;
  const Operands first = operands({901, 771}, DType::f32, 7);
  const Operands other = operands({901, 771}, DType::f32, 8);
  const Tensor out = new_tensor({901, 771}, DType::f32);
  for (const Make& make : {makers()[0], makers()[2]}) {
    Operands with = other;
    with.number = first.number;
    const PreparedPlan plan = engine->prepare(make(first), out);
    plan.run(std::vector<std::byte*>{out.data(), other.rows.data()});
    EXPECT_TRUE(same_tensor(out, in_pieces(make, with)));
  }
}

TEST_P(RowPrograms, AreCancelled) {
  const auto engine = RowPrograms::engine(1);
  if (engine == nullptr) return;
  const Operands with = operands({901, 771}, DType::f32, 9);
  const Tensor out = zeros(Sizes{901, 771}, {DType::f32});
  const PreparedPlan plan = engine->prepare(makers()[0](with), out);
  CancellationToken token;
  token.cancel();
  {
    const CancellationScope scope(token);
    EXPECT_THROW(plan.run(), CancelledError);
  }
  EXPECT_TRUE(same_tensor(out, zeros(Sizes{901, 771}, {DType::f32}))) << "rows were written";
  plan.run();
  EXPECT_TRUE(same_tensor(out, in_pieces(makers()[0], with)));
}

INSTANTIATE_TEST_SUITE_P(Backends, RowPrograms,
                         ::testing::Values("interp", "xbyak", "llvm", "auto"),
                         [](const auto& info) { return std::string(info.param); });

TEST(RowProgram, OutputsThatOverlapAreRefusedWhateverTheSize) {
  for (const std::int64_t rows : {64, 8192}) {
    const Tensor x = full({rows, 1024}, 1, {DType::f32});
    const Tensor both = zeros(std::vector<std::int64_t>{rows / 2 * 3, 1024});
    const Expr mean = ops::mean(Expr(x), last);
    const std::vector<Expr> exprs{Expr(x) - mean, Expr(x) * mean};
    const std::vector<Tensor> outputs{both.narrow(0, 0, rows), both.narrow(0, rows / 2, rows)};
    Engine engine;
    EXPECT_THROW(engine.eval(exprs, outputs), ArgumentError) << rows;
    EXPECT_EQ(both.data_as<float>()[0], 0);
  }
}

/// Rows in a block of a layer norm, 0 where it goes over the whole; 32 KiB and 512 KiB of cache.
std::int64_t rows_of_block(Isa isa, int amd_family, std::int64_t columns) {
  CpuFeatures features;
  features.isa = isa;
  features.amd_family = amd_family;
  features.l2_bytes = 512 << 10;
  const Tensor x = new_tensor({100, columns}, DType::f32);
  const auto blocks = plan_row_blocks(std::vector{normed(Expr(x), 1e-5)}, features);
  return blocks.has_value() ? blocks->rows_per_block : 0;
}

TEST(RowBlocks, FitACacheThatTheProcessorGainsFrom) {
  constexpr int intel = 0;
  // Of 4, 8, 20, 60 and 160 KB.
  const std::array<std::int64_t, 5> columns{1000, 2000, 5000, 15'000, 40'000};
  const auto blocks = [&](Isa isa, int amd_family) {
    std::vector<std::int64_t> result;
    for (const std::int64_t count : columns)
      result.push_back(rows_of_block(isa, amd_family, count));
    return result;
  };
  EXPECT_EQ(blocks(Isa::avx2, zen3_family), (std::vector<std::int64_t>{4, 2, 1, 1, 0}));
  EXPECT_EQ(blocks(Isa::avx512, zen3_family), (std::vector<std::int64_t>{32, 16, 6, 2, 0}));
  EXPECT_EQ(blocks(Isa::avx512, zen5_family), (std::vector<std::int64_t>{2, 1, 1, 1, 0}));
  EXPECT_EQ(blocks(Isa::avx2, intel), (std::vector<std::int64_t>{32, 16, 6, 2, 0}));
}

}  // namespace
}  // namespace weft::testing
