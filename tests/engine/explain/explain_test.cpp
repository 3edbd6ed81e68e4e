// Engine::explain on the specification's worked examples, and what it must not do.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <string>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;
using matchers::IsEmpty;
using matchers::Not;

Tensor layout(const Sizes& sizes, const Sizes& strides, DType dtype = DType::f32) {
  return unbacked(IntSpan(sizes), IntSpan(strides), dtype);
}

ExplainOptions emitting(std::vector<std::string> stages, std::string target = "host",
                        std::string backend = "auto") {
  ExplainOptions options;
  options.emit = std::move(stages);
  options.target = std::move(target);
  options.backend = std::move(backend);
  return options;
}

TEST(engine_explain, example_1_channels_last_plus_contiguous) {
  Engine engine;
  const Expr a = Expr::named("a", layout({2, 3, 4, 5}, {60, 1, 15, 3}));
  const Expr b = Expr::named("b", layout({3, 4, 5}, {20, 5, 1}));
  const Explanation explanation = engine.explain(a + b);
  EXPECT_EQ(explanation.result_dtype, DType::f32);
  EXPECT_EQ(explanation.common_dtype, DType::f32);
  EXPECT_THAT(explanation.result_sizes, ElementsAreArray({2, 3, 4, 5}));
  EXPECT_THAT(explanation.result_strides, ElementsAreArray({60, 1, 15, 3}));
  EXPECT_THAT(explanation.perm, ElementsAreArray({1, 3, 2, 0}));
  EXPECT_EQ(explanation.fast_setup, "none");
  EXPECT_THAT(explanation.shape, ElementsAreArray({3, 20, 2}));
  ASSERT_EQ(explanation.operands.size(), 3u);
  EXPECT_EQ(explanation.operands[0].role, "output");
  EXPECT_EQ(explanation.operands[1].role, "input");
  EXPECT_EQ(explanation.operands[1].name, "a");
  EXPECT_EQ(explanation.operands[2].name, "b");
  EXPECT_THAT(explanation.operands[0].stride_bytes, ElementsAreArray({4, 12, 240}));
  EXPECT_THAT(explanation.operands[1].stride_bytes, ElementsAreArray({4, 12, 240}));
  EXPECT_THAT(explanation.operands[2].stride_bytes, ElementsAreArray({80, 4, 0}));
  for (const auto& operand : explanation.operands) EXPECT_EQ(operand.dtype, DType::f32);
  EXPECT_THAT(explanation.signature, Not(IsEmpty()));
  EXPECT_NE(explanation.signature_hash, 0u);
  EXPECT_THAT(explanation.backend, Not(IsEmpty()));
  EXPECT_THAT(explanation.schedule, Not(IsEmpty()));
  EXPECT_GT(explanation.compile_us, 0.0);
  EXPECT_THAT(explanation.texts, IsEmpty());
}

TEST(engine_explain, example_2_ambiguous_strides) {
  const Explanation explanation = Engine().explain(Expr(layout({2, 3, 1, 1}, {3, 1, 3, 3})) +
                                                   Expr(layout({3, 1, 1}, {1, 1, 1})));
  EXPECT_THAT(explanation.perm, ElementsAreArray({1, 3, 2, 0}));
  EXPECT_THAT(explanation.result_strides, ElementsAreArray({3, 1, 3, 3}));
}

TEST(engine_explain, example_3_channels_last_plus_transposed) {
  const Explanation explanation = Engine().explain(Expr(layout({2, 3, 1, 1}, {3, 1, 3, 3})) +
                                                   Expr(layout({3, 1, 3}, {1, 3, 3})));
  EXPECT_THAT(explanation.perm, ElementsAreArray({1, 2, 3, 0}));
  EXPECT_THAT(explanation.result_sizes, ElementsAreArray({2, 3, 1, 3}));
  EXPECT_THAT(explanation.result_strides, ElementsAreArray({9, 1, 3, 3}));
}

TEST(engine_explain, example_7_contiguous_to_channels_last) {
  const Explanation explanation = Engine().explain(Expr(layout({1, 64, 5, 4}, {1280, 20, 4, 1})),
                                                   layout({1, 64, 5, 4}, {1280, 1, 256, 64}));
  EXPECT_THAT(explanation.perm, ElementsAreArray({1, 3, 2, 0}));
  EXPECT_THAT(explanation.shape, ElementsAreArray({64, 20}));
  ASSERT_EQ(explanation.operands.size(), 2u);
  EXPECT_THAT(explanation.operands[0].stride_bytes, ElementsAreArray({4, 256}));
  EXPECT_THAT(explanation.operands[1].stride_bytes, ElementsAreArray({80, 4}));
}

TEST(engine_explain, common_and_result_dtype) {
  const Tensor ints = layout({4}, {1}, DType::i32);
  const Explanation less = Engine().explain(Expr(ints) < 2.5);
  EXPECT_EQ(less.common_dtype, DType::f32);
  EXPECT_EQ(less.result_dtype, DType::boolean);
  EXPECT_EQ(less.fast_setup, "none");  // a number counts as a 0-dim tensor
  const Explanation sum = Engine().explain(Expr(ints) + Expr(ints));
  EXPECT_EQ(sum.fast_setup, "contiguous");
  EXPECT_EQ(sum.operands.size(), 2u);  // one tensor, read once
}

TEST(engine_explain, every_stage_as_text) {
  Engine engine;
  const Expr expr = Expr(layout({64}, {1})) * 2 + 1;
  const Explanation explanation =
      engine.explain(expr, {}, emitting({"iter", "signature", "ir", "llvm", "asm"}));
  EXPECT_EQ(explanation.texts.size(), 5u);
  for (const char* stage : {"iter", "signature", "ir", "llvm", "asm"})
    EXPECT_THAT(explanation.texts.at(stage), Not(IsEmpty())) << stage;
  EXPECT_THAT(explanation.texts.at("ir"), HasSubstr("mul"));
  EXPECT_EQ(explanation.texts.at("signature"), explanation.signature + "\n");
  // Nothing depends on addresses or time.
  const Explanation again =
      engine.explain(expr, {}, emitting({"iter", "signature", "ir", "llvm", "asm"}));
  EXPECT_EQ(again.texts, explanation.texts);
  EXPECT_EQ(again.signature_hash, explanation.signature_hash);
}

TEST(engine_explain, the_signature_leaves_sizes_out) {
  Engine engine;
  const auto signature = [&](std::int64_t size) {
    return engine.explain(Expr(layout({size}, {1})) + 1).signature;
  };
  EXPECT_EQ(signature(100), signature(1000));
  EXPECT_NE(signature(100), engine.explain(Expr(layout({100}, {2})) + 1).signature);
  EXPECT_NE(signature(100), engine.explain(Expr(layout({100}, {1})) - 1).signature);
}

TEST(engine_explain, other_targets) {
  Engine engine;
  const Expr expr = Expr(layout({64}, {1})) + Expr(layout({64}, {1}));
  const Explanation narrow = engine.explain(expr, {}, emitting({"asm"}, "avx2"));
  if (narrow.texts.at("asm").find("; no disassembler") != std::string::npos)
    return leave_out_without("llvm", "it is the disassembler");
  EXPECT_THAT(narrow.texts.at("asm"), HasSubstr("ymm"));
  EXPECT_THAT(narrow.texts.at("asm"), Not(HasSubstr("zmm")));
  const Explanation wide = engine.explain(expr, {}, emitting({"asm"}, "avx512"));
  EXPECT_THAT(wide.texts.at("asm"), HasSubstr("zmm"));
  EXPECT_NE(narrow.signature, wide.signature);
}

TEST(engine_explain, parts_of_complex_numbers_are_stored_together) {
  Engine engine;
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Expr expr = Expr(layout({64}, {1}, dtype)) / Expr(layout({64}, {1}, dtype));
    const std::string text = engine.explain(expr, {}, emitting({"asm"}, "avx2")).texts.at("asm");
    if (text.find("; no disassembler") != std::string::npos)
      return leave_out_without("llvm", "it is the disassembler");
    const std::size_t begin = text.find("hot loop"), end = text.find("jae", begin);
    ASSERT_NE(end, std::string::npos);
    const std::string loop = text.substr(begin, end - begin);
    EXPECT_THAT(loop, HasSubstr("vperm2f128"));
    EXPECT_THAT(loop, Not(HasSubstr("vpextr")));
  }
}

TEST(engine_explain, refusals_say_why) {
  Engine engine;
  const Expr complex = ops::tanh(Expr(layout({8}, {1}, DType::c128)));
  const Explanation explanation = engine.explain(complex);
  EXPECT_EQ(explanation.backend, "interp");
  ASSERT_THAT(explanation.refusals, Not(IsEmpty()));
  EXPECT_THAT(explanation.refusals[0], HasSubstr("xbyak: functions of complex numbers"));
  EXPECT_EQ(engine.explain(complex, {}, emitting({}, "host", "xbyak")).backend, "xbyak");
  Expr sum(layout({8}, {1}, DType::c128));
  for (int i = 0; i < 40; ++i) sum = sum + Expr(layout({1}, {1}, DType::c128));
  try {
    engine.explain(sum, {}, emitting({}, "host", "xbyak"));
    FAIL() << "xbyak takes 84 parts";
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("xbyak: "));
  }
}

TEST(engine_explain, unknown_stages_targets_and_backends) {
  Engine engine;
  const Expr expr(layout({4}, {1}));
  const auto message = [&](const ExplainOptions& options) -> std::string {
    try {
      engine.explain(expr, {}, options);
    } catch (const Error& error) {
      return std::string(error.kind()) + ": " + error.what();
    }
    return "";
  };
  EXPECT_EQ(message(emitting({"object"})),
            "argument: unknown emit 'object'; the stages are iter, signature, ir, llvm, asm, "
            "cuda, ptx, sass");
  EXPECT_EQ(message(emitting({}, "sse2")),
            "argument: unknown target 'sse2'; the targets are host, avx2 and avx512");
  EXPECT_THAT(message(emitting({}, "host", "gcc")), HasSubstr("argument: unknown backend 'gcc'"));
}

TEST(engine_explain, writes_cuda_source_without_a_device) {
  Engine engine;
  ExplainOptions options = emitting({"cuda", "ir", "asm"}, "host", "nvrtc");
  const Expr sum = Expr(layout({64, 100}, {100, 1})) + Expr(layout({64, 100}, {1, 64}));
  Explanation explanation = engine.explain(sum, {}, options);
  EXPECT_EQ(explanation.backend, "nvrtc");
  EXPECT_EQ(explanation.schedule, "tile");
  EXPECT_GT(explanation.compile_us, 0);
  EXPECT_THAT(explanation.signature, HasSubstr("nvrtc sm_90"));
  EXPECT_THAT(explanation.texts.at("cuda"), HasSubstr("__shared__"));
  EXPECT_THAT(explanation.texts.at("asm"), HasSubstr("nvrtc makes no asm"));
  options.arch = "sm_80";
  EXPECT_NE(engine.explain(sum, {}, options).signature_hash, explanation.signature_hash);
  // A base that is not aligned to 16 bytes, and one that is.
  options.emit = {"cuda"};
  const auto items_of = [&](std::int64_t offset) {
    const std::int64_t size = 1000, stride = 1;
    const Tensor a = unbacked({&size, 1}, {&stride, 1}, DType::f32, offset);
    return engine.explain(Expr(a) + 1, {}, options).texts.at("cuda").substr(0, 19);
  };
  EXPECT_EQ(items_of(4), "// Items at once: 4");
  EXPECT_EQ(items_of(2), "// Items at once: 2");
  EXPECT_EQ(items_of(3), "// Items at once: 1");
  // No elements, along the outer of two loops.
  const Expr none = Expr(layout({2, 0, 16}, {0, 16, 1})) + Expr(layout({16}, {1}));
  EXPECT_EQ(engine.explain(none, {}, options).backend, "nvrtc");
  options.arch = "sm_12";
  EXPECT_THROW(engine.explain(sum, {}, options), ArgumentError);
  options.arch = "sm_90";
  const Expr row = Expr(layout({4}, {1}));
  const Explanation sum_of_row = engine.explain(ops::sum(row), {}, options);
  EXPECT_THAT(sum_of_row.texts.at("cuda"), HasSubstr("__shfl_"));
  EXPECT_EQ(sum_of_row.story.written_bytes, 4);
  EXPECT_THAT(engine.explain(ops::cumsum(row, {.dims = {0}}), {}, options).texts.at("cuda"),
              HasSubstr("__shfl_up_sync"));
  EXPECT_THAT(engine.explain(ops::logcumsumexp(row, {.dims = {0}}), {}, options).texts.at("cuda"),
              HasSubstr("combined_by_logaddexp_f32"));
  EXPECT_THROW(engine.explain(ops::sum(row, {.numerics = Numerics::exact}), {}, options),
               UnsupportedError);
  options.backend = "auto";
  EXPECT_THROW(engine.explain(sum, {}, options), ArgumentError);
}

/// Loops for another instruction set are looked up, and not run.
TEST(engine_explain, reductions_for_other_targets) {
  Engine engine;
  for (const char* const target : {"avx2", "avx512"})
    for (const DType dtype : {DType::u8, DType::i64, DType::f16, DType::f32, DType::f64}) {
      const Expr a = Expr(layout({30, 40}, {40, 1}, dtype));
      const ReduceOptions rows{.dims = {1}};
      std::vector<Expr> folds{ops::sum(a, rows), ops::prod(a), ops::amax(a, rows),
                              ops::argmin(a, rows), ops::cumsum(a, {.dims = {0}})};
      if (is_floating(dtype)) {
        folds.push_back(ops::mean(a, {.dims = {0}}));
        folds.push_back(ops::sum(a, {.numerics = Numerics::exact}));
        folds.push_back(ops::logsumexp(a, rows));
      }
      for (const Expr& fold : folds)
        EXPECT_FALSE(engine.explain(fold * 2, {}, emitting({"ir"}, target)).texts.at("ir").empty())
            << name(dtype);
    }
}

TEST(engine_explain, given_outputs_of_reductions) {
  Engine engine;
  const Tensor a = layout({5, 4}, {4, 1});
  const Expr sum = ops::sum(Expr(a), {.dims = {0}});
  for (const Tensor& out : {layout({4}, {2}), layout({4}, {1}, DType::f64)}) {
    const Explanation explanation = engine.explain(sum, out);
    EXPECT_EQ(explanation.result_dtype, out.dtype());
    EXPECT_EQ(explanation.result_strides, Sizes(out.strides().begin(), out.strides().end()));
  }
  EXPECT_THAT(
      engine.explain(ops::cumsum(Expr(a), {.dims = {1}}), layout({5, 4}, {1, 5})).result_strides,
      ElementsAre(1, 5));
  EXPECT_THROW(engine.explain(sum, layout({4}, {1}, DType::i32)), ArgumentError);
  EXPECT_THROW(engine.explain(sum, layout({4}, {0})), ArgumentError);
}

/// What is written over its inputs is computed before, and not unrolled.
TEST(engine_explain, outputs_that_reductions_read) {
  Engine engine;
  const Tensor c = tensor_of<float>({1, 2, 3, 4, 5, 6}).view({2, 3});
  const Expr sum = ops::sum(Expr(c), {.dims = {0}, .keepdim = true});
  const Tensor row = c.narrow(0, 0, 1);
  EXPECT_THAT(engine.explain(sum, row).result_sizes, ElementsAre(1, 3));
  engine.eval(sum, row);
  EXPECT_THAT(elements<float>(c), ElementsAreArray({5, 7, 9, 4, 5, 6}));
}

TEST(engine_explain, changes_nothing) {
  Engine engine;
  const Tensor a = tensor_of<float>({1, 2, 3});
  const Tensor out = tensor_of<float>({7, 8});
  const Explanation explanation = engine.explain(Expr(a) + 1, out);
  EXPECT_THAT(explanation.result_sizes, ElementsAre(3));
  EXPECT_EQ(out.numel(), 2);
  EXPECT_THAT(elements<float>(out), ElementsAreArray({7, 8}));
  engine.explain(Expr(a) + 1, a);
  EXPECT_THAT(elements<float>(a), ElementsAreArray({1, 2, 3}));
  EXPECT_EQ(engine.stats().kernel_misses, 0u);
  // As the call itself would: an output that is an input is not resized.
  EXPECT_THROW(engine.explain(Expr(a) + Expr(layout({2, 3}, {3, 1})), a), ArgumentError);
  EXPECT_THROW(engine.explain(Expr(a) + 1, layout({3}, {1}, DType::i32)), ArgumentError);
}

TEST(engine_explain, layouts_larger_than_memory) {
  const std::int64_t million = 1 << 20;
  const Tensor a = layout({million, million, 16}, {16 * million, 16, 1});
  const Explanation explanation = Engine().explain(Expr(a) + Expr(a));
  EXPECT_THAT(explanation.shape, ElementsAre(16 * million * million));
}

}  // namespace
}  // namespace weft::testing
