// Kernels that reduce, against the order that docs/reductions.md and ir::Tree describe, written
// once more in plain C++; and what compiles them against the interpreter.
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/ir/random_kernel.h"
#include "tests/jit/fold/fused_fold.h"
#include "tests/jit/xbyak/harness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

namespace weft::jit::testing {
namespace {

/// The elements of one output, row by row, combined as a tree.
template <class T>
class Oracle {
 public:
  using Combine = std::function<T(T, T)>;
  using Row = std::function<T(std::int64_t row, std::int64_t i)>;

  Oracle(ir::Tree tree, T identity, Combine combine)
      : tree_(tree), identity_(identity), combine_(std::move(combine)) {}

  T fold(std::int64_t num_rows, std::int64_t row_extent, const Row& row) const {
    std::vector<std::vector<T>> leaves;
    if (row_extent >= tree_.block) {
      for (std::int64_t r = 0; r < num_rows; ++r)
        for (std::int64_t first = 0; first < row_extent; first += tree_.block) {
          leaves.emplace_back(tree_.lanes, identity_);
          take(leaves.back(), row, r, first, std::min(row_extent, first + tree_.block));
        }
    } else {
      std::int64_t padded = row_extent;
      while (padded % tree_.lanes != 0) ++padded;
      for (std::int64_t r = 0, used = 0; r < num_rows; ++r, used += padded) {
        if (leaves.empty() || used + padded > tree_.block) {
          leaves.emplace_back(tree_.lanes, identity_);
          used = 0;
        }
        take(leaves.back(), row, r, 0, row_extent);
      }
    }
    std::vector<T> lanes = tree(leaves, 0, leaves.size());
    for (; lanes.size() > 1; lanes.resize(lanes.size() / 2))
      for (std::size_t i = 0; i < lanes.size() / 2; ++i)
        lanes[i] = combine_(lanes[i], lanes[i + lanes.size() / 2]);
    return lanes[0];
  }

 private:
  void take(std::vector<T>& leaf, const Row& row, std::int64_t r, std::int64_t first,
            std::int64_t end) const {
    for (std::int64_t i = first; i < end; ++i) {
      T& lane = leaf[static_cast<std::size_t>(i % tree_.lanes)];
      lane = combine_(lane, row(r, i));
    }
  }

  std::vector<T> tree(const std::vector<std::vector<T>>& leaves, std::size_t begin,
                      std::size_t end) const {
    if (end - begin == 1) return leaves[begin];
    const std::size_t middle = begin + std::bit_floor(end - begin - 1);
    std::vector<T> left = tree(leaves, begin, middle);
    const std::vector<T> right = tree(leaves, middle, end);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = combine_(left[i], right[i]);
    return left;
  }

  ir::Tree tree_;
  T identity_;
  Combine combine_;
};

struct Extents {
  std::int64_t kept, rows, inner;
};
constexpr Extents inner_extents[] = {{1, 1, 1},   {2, 1, 63},   {1, 3, 64},   {3, 2, 65},
                                     {1, 130, 7}, {2, 70, 200}, {1, 5, 1023}, {1, 3, 2500}};
constexpr Extents outer_extents[] = {
    {1, 1, 1}, {2, 3, 5}, {1, 127, 63}, {1, 129, 64}, {2, 700, 66}};

ir::Kernel kernel_of(const std::string& text) {
  const ir::Kernel kernel = ir::parse(text);
  ir::verify(kernel);
  return kernel;
}

/// "OP" is replaced.
std::string with_op(std::string text, const std::string& op) {
  for (std::size_t at; (at = text.find("OP")) != text.npos;) text.replace(at, 2, op);
  return text;
}

const char* const inner_text = R"(kernel default unscheduled 0 {
  $0 out f32 [* 0 0]  $1 in f32 [* * 1]  $2 in f32 [* 0 1]
  parallel reduce reduce
  tree lanes 64 block 512
body:
  %0 = load f32 $1  %1 = load f32 $2
  %2 = sub f32 %0, %1  %3 = mul f32 %2, %2
  accumulate f32 $0 OP %3 })";
const char* const outer_text = R"(kernel default unscheduled 0 {
  $0 out f32 [* 0 1]  $1 in f32 [* * 1]  $2 in f32 [* 0 1]
  parallel reduce parallel
  tree lanes 1 block 128
body:
  %0 = load f32 $1  %1 = load f32 $2
  %2 = sub f32 %0, %1  %3 = mul f32 %2, %2
  accumulate f32 $0 OP %3 })";

std::vector<float> random_floats(std::int64_t count, Random& random) {
  std::vector<float> result(static_cast<std::size_t>(count));
  for (float& x : result) x = static_cast<float>(random() % 2'000'001) / 1e6F - 1;
  return result;
}

/// What runs a kernel: the interpreter, or code for an instruction set.
struct Runner {
  std::string backend;
  Isa isa;
};

std::vector<Runner> compiling_runners() {
  std::vector<Runner> result;
  for (const char* const backend : {"xbyak", "llvm"})
    if (find_backend(backend) != nullptr)
      for (const Isa isa : runnable_isas()) result.push_back({backend, isa});
  return result;
}

std::vector<Runner> runners() {
  std::vector<Runner> result = compiling_runners();
  result.push_back({"interp", Isa::generic});
  return result;
}

/// What a backend makes of such a kernel; `a` is dense, `b` one row an output.
std::vector<float> run(const Runner& runner, const ir::Kernel& given, const Extents& extents,
                       const std::vector<float>& a, const std::vector<float>& b,
                       std::size_t num_outputs) {
  const ir::Kernel kernel = scheduled(given, runner.isa);
  const Backend& backend = *find_backend(runner.backend);
  EXPECT_EQ(backend.refuses(kernel, target_for(runner.isa)), "");
  const auto code = backend.compile(kernel, target_for(runner.isa));
  std::vector<float> out(num_outputs, -1);
  const auto copy = [](const std::vector<float>& from) {
    return reinterpret_cast<std::byte*>(const_cast<float*>(from.data()));
  };
  std::byte* const base[] = {copy(out), copy(a), copy(b)};
  const bool is_inner = kernel.loops.back().kind == ir::LoopKind::reduce;
  const std::int64_t n = extents.inner, row = 4 * n;
  const std::int64_t stride_bytes[] = {
      is_inner ? 4 : row, row * extents.rows, row, 0, row, 0, is_inner ? 0 : 4, 4, 4};
  const std::int64_t sizes[] = {extents.kept, extents.rows, n};
  const KernelArgs args{base, sizes, stride_bytes, nullptr, code->context};
  code->entry(&args);
  return out;
}

TEST(Reduction, SumsInTheOrderOfTheTree) {
  Random random{seed()};
  for (const bool is_inner : {true, false}) {
    const ir::Kernel kernel = kernel_of(with_op(is_inner ? inner_text : outer_text, "add"));
    const Oracle<float> oracle(kernel.tree, 0.0F, [](float x, float y) { return x + y; });
    const std::span<const Extents> all =
        is_inner ? std::span<const Extents>(inner_extents) : outer_extents;
    for (const Extents& extents : all) {
      const std::int64_t n = extents.inner;
      const std::vector<float> a = random_floats(extents.kept * extents.rows * n, random);
      const std::vector<float> b = random_floats(extents.kept * n, random);
      const auto value = [&](std::int64_t kept, std::int64_t row, std::int64_t i) {
        const float difference = a[static_cast<std::size_t>((kept * extents.rows + row) * n + i)] -
                                 b[static_cast<std::size_t>(kept * n + i)];
        return difference * difference;
      };
      std::vector<float> expected;
      for (std::int64_t kept = 0; kept < extents.kept; ++kept) {
        if (is_inner)
          expected.push_back(oracle.fold(extents.rows, n, [&](std::int64_t row, std::int64_t i) {
            return value(kept, row, i);
          }));
        for (std::int64_t column = 0; !is_inner && column < n; ++column)
          expected.push_back(oracle.fold(extents.rows, 1, [&](std::int64_t row, std::int64_t) {
            return value(kept, row, column);
          }));
      }
      for (const Runner& runner : runners())
        EXPECT_EQ(run(runner, kernel, extents, a, b, expected.size()), expected)
            << runner.backend << " " << name(runner.isa) << ": " << extents.kept << ", "
            << extents.rows << ", " << n;
    }
  }
}

constexpr Fused fused[] = {
    {"f32", "add", "%2 = mul f32 %0, %1", "f32"},
    {"f32", "mul", "%2 = add f32 %0, %1", "f32"},
    {"f32", "maximum", "%2 = abs f32 %0 %3 = sub f32 %2, %1", "f32"},
    {"f32", "minimum", "%2 = abs f32 %1 %3 = mul f32 %0, %2", "f32"},
    {"f64", "add", "%2 = cast f64 %0 %3 = cast f64 %1 %4 = mul f64 %2, %3", "f32"},
    {"f64", "maximum", "%2 = div f64 %0, %1", "f64"},
    {"f32", "add", "%2 = cast f32 %0 %3 = cast f32 %1 %4 = mul f32 %2, %3", "bf16"},
    {"f32", "minimum", "%2 = cast f32 %0 %3 = cast f32 %1 %4 = sub f32 %2, %3", "u8"},
    {"f32", "add", "%2 = cast f64 %0 %3 = sqrt f64 %2 %4 = cast f32 %3", "f32"},
    {"i64", "add", "%2 = cast i64 %0 %3 = cast i64 %1 %4 = mul i64 %2, %3", "i16"},
    {"i64", "minimum", "%2 = sub i64 %0, %1", "i64"},
    {"u64", "maximum", "%2 = sub u64 %0, %1", "u64"},
    {"i32", "mul", "%2 = bitwise_or i32 %0, %1", "i32"},
    {"i32", "bitwise_xor", "%2 = sub i32 %0, %1", "i32"},
    {"i16", "maximum", "%2 = sub i16 %0, %1", "i16"},
    {"u8", "minimum", "%2 = add u8 %0, %1", "u8"},
    {"i8", "mul", "%2 = bitwise_or i8 %0, %1", "i8"},
    {"f32", "add", "%2 = lt f32 %0, %1 %3 = where f32 %2, %0, %1", "f32"},
};
/// What xbyak has no code for.
constexpr Fused fused_by_llvm[] = {
    {"f64", "add", "%2 = tan f64 %0 %3 = mul f64 %2, %1", "f64"},
    {"f32", "maximum", "%2 = exp f32 %0 %3 = sub f32 %2, %1", "f32"},
    {"i64", "mul", "%2 = bitwise_or i64 %0, %1", "i64"},
    {"u64", "gcd", "%2 = add u64 %0, %1", "u64"},
    {"i16", "mul", "%2 = quotient i16 %0, %1", "i16"},
    {"u8", "mul", "%2 = bitwise_or u8 %0, %1", "u8"},
    {"bool", "maximum", "%2 = lt f16 %0, %1", "f16"},
    {"bool", "minimum", "%2 = ne u8 %0, %1", "u8"},
    {"bool", "bitwise_xor", "%2 = bitwise_and bool %0, %1", "bool"},
    {"f64", "add", "%2 = cast f64 %0 %3 = cast f64 %1 %4 = mul f64 %2, %3", "bf16"},
};

ir::Tree tree_of(const Fused& row, bool is_inner) {
  const int lanes = 256 / static_cast<int>(itemsize_bytes(*parse_dtype(row.dtype)));
  return is_inner ? ir::Tree{lanes, 2 * lanes} : ir::Tree{1, 8};
}

std::string text_of(const Fused& row, bool is_inner, const char* second) {
  return text_of(row, is_inner ? "* 0 0" : "* 0 1", "* * 1", second,
                 is_inner ? "parallel reduce reduce" : "parallel reduce parallel",
                 tree_of(row, is_inner));
}

class CompiledReduction : public ::testing::TestWithParam<Runner> {
 protected:
  static Comparison comparison_of(const ir::Kernel& kernel) {
    return Comparison(kernel, target_for(GetParam().isa), GetParam().backend);
  }
  static ir::Kernel scheduled(const ir::Kernel& kernel) {
    return testing::scheduled(kernel, GetParam().isa);
  }
  /// xbyak has no registers on AVX2 for the lanes of f32 if vectors have as many elements as of
  /// f64.
  static bool is_too_wide(const ir::Kernel& kernel) {
    const ir::Loop& inner = kernel.loops.back();
    return GetParam().backend == "xbyak" && inner.kind == ir::LoopKind::reduce && inner.unroll > 8;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CompiledReduction);  // other processors run none

TEST_P(CompiledReduction, AgreesWithTheInterpreter) {
  Random random{seed()};
  const auto agrees = [&](const ir::Kernel& kernel) {
    const Comparison comparison = comparison_of(kernel);
    ASSERT_EQ(comparison.refusal(),
              is_too_wide(kernel) ? "16 vectors of partial results are more than 8" : "")
        << ir::print(kernel);
    if (is_too_wide(kernel)) return;
    for (const std::int64_t inner : interesting_sizes(kernel))
      for (const std::int64_t rows : {1, 3, 9})
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          ASSERT_TRUE(
              comparison.agree({.extents = {2, rows, inner}, .placement = placement}, random));
  };
  for (const bool is_inner : {true, false}) {
    for (const Fused& row : fused)
      for (const char* second : {"* * 1", "* * 0", "0 * 1"})
        agrees(scheduled(kernel_of(text_of(row, is_inner, second))));
    if (GetParam().backend != "llvm") continue;
    for (const Fused& row : fused_by_llvm)
      for (const char* second : {"* * *", is_inner ? "* 0 2" : "* * -1"})
        agrees(scheduled(kernel_of(text_of(row, is_inner, second))));
  }
}

TEST_P(CompiledReduction, WholeRowsAreWhatTheTreeMakesOfThem) {
  Random random{seed()};
  for (const Fused& row : fused) {
    const ir::Kernel kernel = scheduled(
        kernel_of(text_of(row, "* 0", "* 1", "* 1", "parallel reduce", tree_of(row, true))));
    if (is_too_wide(kernel)) continue;  // refused, as AgreesWithTheInterpreter checks
    const Comparison comparison = comparison_of(kernel);
    ASSERT_TRUE(comparison.has_rows());
    for (std::int64_t count = 1; count <= kernel.tree.block; count += 1 + count / 9)
      for (const bool takes_whole_rows : {false, true})
        ASSERT_TRUE(comparison.agree({.extents = {3, count}, .takes_whole_rows = takes_whole_rows},
                                     random));
  }
}

TEST_P(CompiledReduction, RandomKernelsAgreeWithTheInterpreter) {
  constexpr int num_kernels = 400;
  constexpr DType real_dtypes[] = {DType::boolean, DType::u8,  DType::i8,   DType::i16,
                                   DType::i32,     DType::u32, DType::i64,  DType::u64,
                                   DType::f16,     DType::f32, DType::bf16, DType::f64};
  Random random{seed()};
  int num_compiled = 0;
  for (int i = 0; i < num_kernels; ++i) {
    const ir::Kernel kernel =
        scheduled(ir::random_kernel(random, {.dtypes = real_dtypes,
                                             .max_instructions = 1 + static_cast<int>(random() % 9),
                                             .may_reduce = true}));
    if (!ir::is_reduction(kernel)) continue;
    const Comparison comparison = comparison_of(kernel);
    if (!comparison.refusal().empty()) continue;
    ++num_compiled;
    std::vector<std::int64_t> extents(kernel.loops.size());
    for (const std::int64_t inner : interesting_sizes(kernel)) {
      for (std::int64_t& extent : extents) extent = 1 + static_cast<std::int64_t>(random() % 4);
      extents.back() = inner;
      const bool is_leaf_each = comparison.has_rows() && inner <= kernel.tree.block;
      ASSERT_TRUE(comparison.agree({.extents = extents,
                                    .open_stride = random() % 2 == 0 ? 5 : -3,
                                    .placement = Placement(random() % 2),
                                    .takes_whole_rows = is_leaf_each && random() % 2 == 0},
                                   random))
          << "kernel " << i;
    }
  }
  EXPECT_GT(num_compiled, 0);
}

/// One row of `in`, folded to `out`.
std::string row_text(const std::string& in, const std::string& out, const std::string& body) {
  return "kernel default unscheduled 0 { $0 out " + out + " [0] $1 in " + in +
         " reduce tree lanes " + std::to_string(256 / itemsize_bytes(*parse_dtype(out))) +
         " block 1024 body: %0 = load " + body + " }";
}

TEST_P(CompiledReduction, RefusesByName) {
  struct Row {
    const char *in, *out, *body, *xbyak, *llvm;
  };
  constexpr Row rows[] = {
      {"f32 [2]", "f32", "f32 $1 accumulate f32 $0 add %0",
       "$1 is not dense along the innermost loop", ""},
      {"bool [1]", "bool", "bool $1 accumulate bool $0 maximum %0",
       "accumulate bool maximum has no row", ""},
      {"f64 [1]", "f64", "f64 $1 %1 = library_tan f64 %0 accumulate f64 $0 add %1",
       "library_tan f64 is a call", ""},
      {"f64 [1]", "f64", "f64 $1 accumulate f64 $0 hypot %0", "accumulate f64 hypot has no row",
       "%1 accumulate f64 by hypot has no lowering"},
      {"f32 [1]", "f32", "f32 $1 accumulate f32 $0 logaddexp %0",
       "accumulate f32 logaddexp has no row", "%1 accumulate f32 by logaddexp has no lowering"},
      {"f16 [1]", "f16", "f16 $1 accumulate f16 $0 add %0", "accumulate f16 add has no row",
       "%1 accumulate f16 by add has no lowering"},
      {"c64 [1]", "c64", "c64 $1 accumulate c64 $0 add %0", "complex numbers are reduced",
       "complex numbers are reduced"},
  };
  const auto refusal = [&](const ir::Kernel& kernel) {
    return find_backend(GetParam().backend)->refuses(kernel, target_for(GetParam().isa));
  };
  const bool is_llvm = GetParam().backend == "llvm";
  for (const Row& row : rows)
    EXPECT_EQ(refusal(scheduled(kernel_of(row_text(row.in, row.out, row.body)))),
              is_llvm ? row.llvm : row.xbyak);
  ir::Kernel odd = kernel_of(
      "kernel default inner_reduce 64 { $0 out f32 [0] $1 in f32 [1] reduce 64 x1 tree lanes 64 "
      "block 64 body: %0 = load f32 $1 accumulate f32 $0 add %0 }");
  odd.vector_bytes = target_for(GetParam().isa).vector_bytes();
  EXPECT_EQ(refusal(odd), is_llvm ? "" : "vectors of 64 lanes are no registers");
  ir::Kernel wide = kernel_of(
      "kernel default outer_reduce 64 { $0 out f32 [0 1] $1 in f32 [* 1] reduce vector 64 x1 "
      "tree lanes 1 block 64 body: %0 = load f32 $1 accumulate f32 $0 add %0 }");
  wide.vector_bytes = odd.vector_bytes;
  EXPECT_EQ(refusal(wide), is_llvm ? "%1 accumulate f32 of 64 columns is no part of 64 bytes"
                                   : "vectors of 64 lanes are no registers");
}

/// One op on what is loaded, and its result reduced with full lanes.
ir::Kernel reduced_op(Op op, DType dtype, bool is_hoisted) {
  const DType result = ir::result_dtype({.op = op, .dtype = dtype});
  ir::Kernel kernel = op_kernel(op, dtype, result);
  for (std::size_t i = 0; i < kernel.operands.size(); ++i)
    kernel.operands[i].strides = {i == 0 || is_hoisted ? ir::StrideClass{0} : ir::StrideClass{1}};
  kernel.loops[0].kind = ir::LoopKind::reduce;
  const int lanes = static_cast<int>(ir::max_partial_bytes / itemsize_bytes(result));
  kernel.tree = {lanes, 2 * lanes};
  kernel.body.back().op = Op::accumulate;
  kernel.body.back().combine = is_floating(result) ? Op::maximum : Op::bitwise_xor;
  return kernel;
}

INSTANTIATE_TEST_SUITE_P(Backends, CompiledReduction, ::testing::ValuesIn(compiling_runners()),
                         [](const auto& param) {
                           return param.param.backend + "_" + std::string(name(param.param.isa));
                         });

/// The remainder of bytes and short integers is several instructions, here the same ones for every
/// column, beside the columns' partial results.
TEST(Reduction, WhatFindsNoRegistersIsRefusedByXbyak) {
  const Backend& xbyak = *find_backend("xbyak");
  for (const Isa isa : runnable_isas())
    for (const std::string type : {"u8", "i8", "u16", "i16"}) {
      const std::string remainder = "%2 = remainder " + type + " %1, %1";
      const Fused row{type.c_str(), "bitwise_xor", remainder.c_str(), type.c_str()};
      const ir::Kernel kernel = scheduled(kernel_of(text_of(row, false, "* * 0")), isa);
      const Target target = target_for(isa);
      const std::string refusal = xbyak.refuses(kernel, target);
      if (isa == Isa::avx2 && type == "u8") {
        EXPECT_EQ(refusal, "values find no registers beside the partial results");
      }
      if (refusal.empty()) {
        EXPECT_NO_THROW(xbyak.compile(kernel, target)) << ir::print(kernel);
      }
    }
}

// No other backend keeps registers by itself.
TEST(Reduction, EveryRowOfXbyakFindsRegistersBesidePartialResults) {
  const Backend& xbyak = *find_backend("xbyak");
  for (const Runner& runner : compiling_runners()) {
    if (runner.backend != xbyak.name) continue;
    const Target target = target_for(runner.isa);
    int num_compiled = 0;
    for (const bool is_hoisted : {false, true})
      for (const Op op : all_ops())
        for (const DType dtype : all_dtypes) {
          if (!computes_in(info(op).domain, info(op).result, dtype) || is_complex(dtype)) continue;
          const ir::Kernel given = reduced_op(op, dtype, is_hoisted);
          if (is_complex(given.operands[0].dtype)) continue;
          const ir::Kernel kernel = scheduled(given, runner.isa);
          if (!xbyak.refuses(kernel, target).empty()) continue;
          ++num_compiled;
          EXPECT_NO_THROW(xbyak.compile(kernel, target)) << ir::print(kernel);
        }
    EXPECT_GT(num_compiled, 100);
  }
}

TEST(Reduction, SeveralOutputsTakeOnePass) {
  Random random{seed()};
  const ir::Kernel given = kernel_of(R"(kernel default unscheduled 0 {
    $0 out f32 [0]  $1 out f32 [0]  $2 in f32 [1]
    reduce
    tree lanes 64 block 128
  body:
    %0 = load f32 $2
    %1 = mul f32 %0, %0
    accumulate f32 $0 minimum %0
    accumulate f32 $1 add %1 })");
  constexpr std::int64_t count = 777;
  const std::vector<float> a = random_floats(count, random);
  const Oracle<float> least(given.tree, HUGE_VALF, [](float x, float y) { return std::min(x, y); });
  const Oracle<float> squares(given.tree, 0, [](float x, float y) { return x + y; });
  const auto at = [&](std::int64_t i) { return a[static_cast<std::size_t>(i)]; };
  for (const Runner& runner : runners()) {
    const ir::Kernel kernel = scheduled(given, runner.isa);
    const Target target = target_for(runner.isa);
    const Backend& backend = *find_backend(runner.backend);
    EXPECT_EQ(backend.refuses(kernel, target), "");
    const auto code = backend.compile(kernel, target);
    std::vector<float> out(2), data = a;
    std::byte* const base[] = {reinterpret_cast<std::byte*>(&out[0]),
                               reinterpret_cast<std::byte*>(&out[1]),
                               reinterpret_cast<std::byte*>(data.data())};
    const std::int64_t extents[] = {count}, stride_bytes[] = {0, 0, 4};
    const KernelArgs args{base, extents, stride_bytes, nullptr, code->context};
    code->entry(&args);
    EXPECT_EQ(out[0], least.fold(1, count, [&](std::int64_t, std::int64_t i) { return at(i); }));
    EXPECT_EQ(out[1],
              squares.fold(1, count, [&](std::int64_t, std::int64_t i) { return at(i) * at(i); }));
  }
}

}  // namespace
}  // namespace weft::jit::testing
