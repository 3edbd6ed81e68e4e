// Kernels that reduce, against the order that docs/reductions.md and ir::Tree describe, written
// once more in plain C++; and what compiles them against the interpreter.
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/jit/xbyak_harness.h"

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

std::vector<Runner> runners() {
  std::vector<Runner> result{{"interp", Isa::generic}};
  if (find_backend("xbyak") == nullptr) return result;
  for (const Isa isa : runnable_isas()) result.push_back({"xbyak", isa});
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

/// The dtype, the op, what is computed in front, and the dtype that is read.
struct Fused {
  const char* dtype;
  const char* combine;
  const char* body;
  const char* input;
};
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

std::string text_of(const Fused& row, bool is_inner, const char* second) {
  const int lanes = 256 / static_cast<int>(itemsize_bytes(*parse_dtype(row.dtype)));
  const std::string inner = is_inner ? "reduce" : "parallel", input = row.input;
  const std::string body = row.body;
  const std::string last = body.substr(body.rfind('%', body.rfind('=')), 2);
  return "kernel default unscheduled 0 { $0 out " + std::string(row.dtype) +
         (is_inner ? " [* 0 0]" : " [* 0 1]") + " $1 in " + input + " [* * 1] $2 in " + input +
         " " + second + " parallel reduce " + inner + " tree lanes " +
         std::to_string(is_inner ? lanes : 1) + " block " +
         std::to_string(is_inner ? 2 * lanes : 8) + " body: %0 = load " + input + " $1 %1 = load " +
         input + " $2 " + body + " accumulate " + row.dtype + " $0 " + row.combine + " " + last +
         " }";
}

class XbyakReduction : public ::testing::TestWithParam<Isa> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(XbyakReduction);  // other processors run none

TEST_P(XbyakReduction, AgreesWithTheInterpreter) {
  Random random{seed()};
  for (const Fused& row : fused)
    for (const bool is_inner : {true, false})
      for (const char* second : {"[* * 1]", "[* * 0]", "[0 * 1]"}) {
        const ir::Kernel kernel = scheduled(kernel_of(text_of(row, is_inner, second)), GetParam());
        const Comparison comparison(kernel, GetParam());
        // AVX2 has no registers for the lanes of f32 if vectors have as many elements as of f64.
        const bool is_too_wide = is_inner && kernel.loops.back().unroll > 8;
        ASSERT_EQ(comparison.refusal(),
                  is_too_wide ? "16 vectors of partial results are more than 8" : "")
            << ir::print(kernel);
        if (is_too_wide) continue;
        for (const std::int64_t inner : interesting_sizes(kernel))
          for (const std::int64_t rows : {1, 3, 9})
            for (const Placement placement : {Placement::at_end, Placement::at_start})
              ASSERT_TRUE(
                  comparison.agree({.extents = {2, rows, inner}, .placement = placement}, random));
      }
}

/// The text of the same kernel without a loop over rows that are reduced.
std::string without_rows(std::string text) {
  const auto replace = [&](std::string_view what, std::string_view with) {
    for (std::size_t at; (at = text.find(what)) != text.npos;) text.replace(at, what.size(), with);
  };
  replace("[* 0 0]", "[* 0]");
  replace("[* * 1]", "[* 1]");
  replace("parallel reduce reduce", "parallel reduce");
  return text;
}

TEST_P(XbyakReduction, WholeRowsAreWhatTheTreeMakesOfThem) {
  Random random{seed()};
  for (const Fused& row : fused) {
    const ir::Kernel kernel =
        scheduled(kernel_of(without_rows(text_of(row, true, "[* * 1]"))), GetParam());
    const Target target = target_for(GetParam());
    if (kernel.loops.back().unroll > 8) continue;  // refused, as AgreesWithTheInterpreter checks
    ASSERT_EQ(find_backend("xbyak")->refuses(kernel, target), "");
    const auto code = find_backend("xbyak")->compile(kernel, target);
    ASSERT_NE(code->rows, nullptr);
    const Comparison comparison(kernel, GetParam());
    constexpr std::int64_t num_rows = 3;
    for (std::int64_t count = 1; count <= kernel.tree.block; count += 1 + count / 9) {
      ASSERT_TRUE(comparison.agree({.extents = {num_rows, count}}, random));
      // The same numbers by the code for whole rows.
      const auto in = static_cast<std::int64_t>(itemsize_bytes(kernel.operands[1].dtype));
      const auto out = static_cast<std::int64_t>(itemsize_bytes(kernel.operands[0].dtype));
      std::vector<std::byte> a(static_cast<std::size_t>(num_rows * count * in)), b = a;
      for (auto* bytes : {&a, &b})
        for (std::byte& byte : *bytes) byte = static_cast<std::byte>(random() % 64);
      std::vector<std::byte> expected(static_cast<std::size_t>(3 * num_rows * out)),
          actual = expected;
      const std::int64_t extents[] = {num_rows, count};
      const std::int64_t stride_bytes[] = {2 * out, count * in, count * in, 0, in, in};
      std::byte* base[] = {expected.data(), a.data(), b.data()};
      const KernelArgs args{base, extents, stride_bytes, nullptr, code->context};
      code->entry(&args);
      base[0] = actual.data();
      code->rows(&args);
      ASSERT_EQ(actual, expected) << count << " elements\n" << ir::print(kernel);
    }
  }
}

TEST_P(XbyakReduction, RefusesByName) {
  const auto refusal = [&](std::string text) {
    return find_backend("xbyak")->refuses(scheduled(kernel_of(text), GetParam()),
                                          target_for(GetParam()));
  };
  const auto kernel = [](std::string in, std::string out, std::string body) {
    return "kernel default unscheduled 0 { $0 out " + out + " [0] $1 in " + in +
           " reduce tree lanes " + std::to_string(256 / itemsize_bytes(*parse_dtype(out))) +
           " block 1024 body: %0 = load " + body + " }";
  };
  EXPECT_EQ(refusal(kernel("f32 [2]", "f32", "f32 $1 accumulate f32 $0 add %0")),
            "$1 is not dense along the innermost loop");
  EXPECT_EQ(refusal(kernel("bool [1]", "bool", "bool $1 accumulate bool $0 maximum %0")),
            "accumulate bool maximum has no row");
  EXPECT_EQ(refusal(kernel("f64 [1]", "f64", "f64 $1 accumulate f64 $0 hypot %0")),
            "accumulate f64 hypot has no row");
  EXPECT_EQ(refusal(kernel("c64 [1]", "c64", "c64 $1 accumulate c64 $0 add %0")),
            "complex numbers are reduced");
  ir::Kernel odd = kernel_of(
      "kernel default inner_reduce 64 { $0 out f32 [0] $1 in f32 [1] reduce 64 x1 tree lanes 64 "
      "block 64 body: %0 = load f32 $1 accumulate f32 $0 add %0 }");
  odd.vector_bytes = target_for(GetParam()).vector_bytes();
  EXPECT_EQ(find_backend("xbyak")->refuses(odd, target_for(GetParam())),
            "vectors of 64 lanes are no registers");
  EXPECT_EQ(refusal(kernel("f64 [1]", "f64", "f64 $1 %1 = tan f64 %0 accumulate f64 $0 add %1")),
            "tan f64 is a call");
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

TEST_P(XbyakReduction, EveryRowFindsRegistersBesidePartialResults) {
  const Backend& xbyak = *find_backend("xbyak");
  const Target target = target_for(GetParam());
  int num_compiled = 0;
  for (const bool is_hoisted : {false, true})
    for (const Op op : all_ops())
      for (const DType dtype : all_dtypes) {
        if (!computes_in(info(op).domain, info(op).result, dtype) || is_complex(dtype)) continue;
        const ir::Kernel kernel = scheduled(reduced_op(op, dtype, is_hoisted), GetParam());
        if (!xbyak.refuses(kernel, target).empty()) continue;
        ++num_compiled;
        EXPECT_NO_THROW(xbyak.compile(kernel, target)) << ir::print(kernel);
      }
  EXPECT_GT(num_compiled, 100);
}

INSTANTIATE_TEST_SUITE_P(Isas, XbyakReduction, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

TEST(Reduction, SeveralOutputsTakeOnePass) {
  Random random{seed()};
  const ir::Kernel kernel = kernel_of(R"(kernel default unscheduled 0 {
    $0 out f32 [0]  $1 out f32 [0]  $2 in f32 [1]
    reduce
    tree lanes 4 block 8
  body:
    %0 = load f32 $2
    %1 = mul f32 %0, %0
    accumulate f32 $0 minimum %0
    accumulate f32 $1 add %1 })");
  const std::vector<float> a = random_floats(77, random);
  const Oracle<float> least(kernel.tree, HUGE_VALF,
                            [](float x, float y) { return std::min(x, y); });
  const Oracle<float> squares(kernel.tree, 0, [](float x, float y) { return x + y; });
  const auto code = find_backend("interp")->compile(kernel, Target{host_features()});
  std::vector<float> out(2), data = a;
  std::byte* const base[] = {reinterpret_cast<std::byte*>(&out[0]),
                             reinterpret_cast<std::byte*>(&out[1]),
                             reinterpret_cast<std::byte*>(data.data())};
  const std::int64_t extents[] = {77}, stride_bytes[] = {0, 0, 4};
  const KernelArgs args{base, extents, stride_bytes, nullptr, code->context};
  code->entry(&args);
  const auto at = [&](std::int64_t i) { return a[static_cast<std::size_t>(i)]; };
  EXPECT_EQ(out[0], least.fold(1, 77, [&](std::int64_t, std::int64_t i) { return at(i); }));
  EXPECT_EQ(out[1],
            squares.fold(1, 77, [&](std::int64_t, std::int64_t i) { return at(i) * at(i); }));
}

TEST(Reduction, BackendsThatDoNotReduceSaySo) {
  const Isa isa = host_features().isa;
  if (isa == Isa::generic) return;
  const ir::Kernel kernel = scheduled(kernel_of(with_op(inner_text, "add")), isa);
  for (const Backend* backend : backends()) {
    if (backend->name != "llvm") continue;
    EXPECT_EQ(backend->refuses(kernel, target_for(isa)), "the kernel reduces");
  }
}

}  // namespace
}  // namespace weft::jit::testing
