// The story of calls: what it says of the plan, that its steps end where the iterator does, and
// what is predicted from it.
#include "tests/matchers.h"
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/iterator.h>

#include <gtest/gtest.h>

#include <string>

namespace weft::testing {
namespace {

using matchers::Contains;
using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::EndsWith;
using matchers::HasSubstr;
using matchers::Not;
using matchers::StartsWith;

Expr operand(const char* name, const char* layout) {
  return Expr::named(name, parse_layout(layout));
}

const Story::Chapter& chapter(const Story& story, const std::string& title) {
  for (const Story::Chapter& found : story.chapters)
    if (found.title == title) return found;
  throw InternalError("no chapter " + title);
}

std::vector<std::int64_t> extents(const Story::Loops& loops) {
  std::vector<std::int64_t> result;
  for (const Story::Loop& loop : loops) result.push_back(loop.extent);
  return result;
}

TEST(story, tells_whether_an_output_is_given_new_or_resized) {
  Engine engine;
  const Expr x = operand("x", "f32[3]") + 1;
  const auto told = [&](const Tensor& out) {
    return chapter(engine.explain(x, out).story, "operands").lines[0];
  };
  EXPECT_THAT(told(parse_layout("f32[3]")), HasSubstr("written, as given"));
  EXPECT_THAT(told(parse_layout("f32[2]")), HasSubstr("written, resized"));
  EXPECT_THAT(told({}), HasSubstr("written, new"));
}

TEST(story, tells_why_at_each_stage) {
  Engine engine;
  const Expr x = operand("x", "u8[1,3,224,224]:channels_last"), m = operand("m", "f32[3,1,1]");
  const Explanation told = engine.explain(x / 255 - m, parse_layout("f32[1,3,224,224]"));
  const Story& story = told.story;
  EXPECT_EQ(story.expression, "x / 255 - m");
  EXPECT_THAT(chapter(story, "operands").lines[0],
              HasSubstr("f32[1,3,224,224], written, as given"));
  EXPECT_THAT(chapter(story, "broadcast").lines,
              Contains("m [3, 1, 1] is repeated along d2, d3 by a stride of 0, not copied"));
  EXPECT_THAT(chapter(story, "promotion").lines,
              Contains("x / 255: u8, i64 number -> computes in f32: div takes integers as floats"));
  EXPECT_THAT(chapter(story, "order of dimensions").lines[0], HasSubstr("differ in shape"));
  EXPECT_THAT(chapter(story, "signature").lines, Contains(StartsWith("$1 in u8 [* 3]: x, ")));
  EXPECT_EQ(story.numel, 3 * 224 * 224);
  EXPECT_EQ(story.read_bytes, 3 * 224 * 224 + 3 * 4);
  EXPECT_EQ(story.written_bytes, 3 * 224 * 224 * 4);
  EXPECT_THAT(extents(story.merging.front()), ElementsAreArray({224, 224, 3, 1}));
  EXPECT_THAT(extents(story.merging.back()), ElementsAreArray({50176, 3}));
  EXPECT_THAT(story.merging.back()[0].dims, ElementsAreArray({3, 2}));
  EXPECT_EQ(story.ir_steps.front().name, "as lowered");
}

TEST(story, merging_ends_at_the_coalesced_shape) {
  Engine engine;
  const char* const layouts[] = {"f32[2,3,4,5]",
                                 "f32[2,3,4,5]:channels_last",
                                 "f32[3,4,5]",
                                 "f32[5]",
                                 "f32[]",
                                 "f32[2,3,4,5]{120,40,10,2}",
                                 "f32[2,1,4,1]",
                                 "f32[0,5]",
                                 "f32[2,3,4,5]{3,1,30,6}",
                                 "f32[1,1,1,1]",
                                 "f32[3,1,1]{1,3,3}"};
  int planned = 0;
  for (const char* first : layouts) {
    for (const char* second : layouts) {
      SCOPED_TRACE(std::string(first) + " and " + second);
      Explanation told;
      try {
        told = engine.explain(operand("a", first) + operand("b", second));
      } catch (const ArgumentError&) {
        continue;  // they don't broadcast
      }
      ++planned;
      const Story::Loops& last = told.story.merging.back();
      EXPECT_EQ(extents(last), told.shape);
      for (std::size_t i = 0; i < told.operands.size(); ++i)
        for (std::size_t at = 0; at < last.size(); ++at)
          EXPECT_EQ(last[at].stride_bytes[i], told.operands[i].stride_bytes[at]);
      std::size_t num_dims = 0;
      for (const Story::Loop& loop : last) num_dims += loop.dims.size();
      EXPECT_EQ(num_dims, told.perm.size());
    }
  }
  EXPECT_GT(planned, 60);
}

/// The strides of an output without elements, and what meta tensors are planned for, are not what
/// the dimensions were merged by.
TEST(story, merging_that_the_operands_do_not_show) {
  Engine engine;
  const Expr empty_rows = operand("a", "f32[2,0]{0,1}");
  const Explanation told = engine.explain(empty_rows + 1);
  EXPECT_EQ(extents(told.story.merging.back()), told.shape);
  const Tensor meta = empty({2, 3}, {DType::f32, {DeviceType::meta, 0}, {}});
  const Explanation planned = engine.explain(Expr::named("m", meta) + 1);
  EXPECT_EQ(extents(planned.story.merging.back()), planned.shape);
}

TEST(story, bytes_beyond_64_bits) {
  Engine engine;
  const Explanation told = engine.explain(ops::neg(operand("a", "f32[1048576,1048576,1048576]")));
  MachineSpeed machine;
  machine.bytes_per_second = 1e9;
  machine.clock_hz = 1e9;
  EXPECT_GT(predict(told.story, machine).memory_ns, 9e18);
}

TEST(story, promotion_reasons) {
  Engine engine;
  const auto lines = [&](const Expr& expr) {
    return chapter(engine.explain(expr).story, "promotion").lines;
  };
  const Expr f = operand("f", "f32[4]"), i = operand("i", "i32[4]"), h = operand("h", "bf16[4]");
  EXPECT_THAT(lines(f * 2 + f), ElementsAre("nothing to do: everything is f32"));
  EXPECT_THAT(lines(f + operand("d", "f64[]")),
              Contains(HasSubstr("only if it is of a higher kind")));
  EXPECT_THAT(lines(operand("e", "f32[]") + operand("d", "f64[]")),
              Contains(EndsWith("computes in f64: the smallest dtype that both convert to")));
  EXPECT_THAT(
      lines(f + h),
      Contains("f + h: f32, bf16 -> computes in f32: the smallest dtype that both convert to"));
  EXPECT_THAT(lines(f < i), Contains(HasSubstr("; gives bool")));
  EXPECT_THAT(lines(cast(f, DType::bf16)), Contains("cast(f, bf16): converted from f32 as asked"));
  EXPECT_THAT(lines(h * h), Contains("bf16 is computed in f32 and rounded once, at the end"));
  Expr deep = f;
  for (int n = 0; n < 500; ++n) deep = deep < i;
  EXPECT_EQ(lines(deep).back(), "and so on");
}

TEST(story, schedules_say_what_the_faster_ones_lack) {
  Engine engine;
  const auto told = [&](const Expr& expr) {
    return chapter(engine.explain(expr).story, "schedule").lines;
  };
  EXPECT_THAT(told(operand("a", "f32[100]") + 1)[0], StartsWith("linear, the fastest"));
  const auto strided = told(operand("a", "f32[100]{2}") + 1);
  EXPECT_EQ(strided[1],
            "not linear: a steps 8 bytes along the innermost loop, and its items have 4");
  EXPECT_EQ(strided[2], "not tile: there is one loop");
  const auto tiled = told(operand("a", "f32[512,512]") + operand("b", "f32[512,512]{1,512}"));
  EXPECT_THAT(tiled[0], StartsWith("tile: "));
  const auto small = told(operand("a", "f32[8,8]") + operand("b", "f32[8,8]{1,8}"));
  EXPECT_THAT(small, Contains("not tile: fewer than 144 elements"));
  const auto narrow = told(operand("a", "f32[8,40]") + operand("b", "f32[8,40]{1,8}"));
  EXPECT_THAT(narrow, Contains("not tile: fewer than 512 elements, and narrow"));
  const auto square = told(operand("a", "f32[12,12]") + operand("b", "f32[12,12]{1,12}"));
  EXPECT_THAT(square[0], StartsWith("tile: "));
  EXPECT_THAT(told(operand("a", "f32[1000,1000]{1001,1}") + operand("b", "f32[1000,1000]{2002,2}")),
              Contains("not tile: no operand is dense along another loop"));
}

TEST(story, streaming_says_what_it_goes_by) {
  Engine engine({.streaming_bytes = 1 << 20});
  const auto last = [&](const char* layout) {
    return chapter(engine.explain(operand("a", layout) + 1).story, "schedule").lines.back();
  };
  EXPECT_THAT(last("f32[1000]"),
              StartsWith("stores: through the caches; the call moves 8000 bytes"));
  EXPECT_EQ(last("f32[1000000]"),
            "stores: past the caches, since the call moves 8.0 MB and 1.0 MB are enough");
}

TEST(story, passes_that_share_blocks_of_rows_are_told) {
  Engine engine({.streaming_bytes = 1 << 20});
  const auto told = [&](const char* layout) {
    const Expr expr =
        parse_expr("a / sum(a, dims=[1], keepdim=true)",
                   std::vector<std::pair<std::string, Tensor>>{{"a", parse_layout(layout)}});
    const auto lines = chapter(engine.explain(expr).story, "schedule").lines;
    return std::pair(lines[lines.size() - 2], lines.back());
  };
  EXPECT_THAT(told("f32[100,50]").second, StartsWith("stores: through the caches"));
  EXPECT_THAT(told("f32[100000,500]").first, StartsWith("stores: past the caches"));
  EXPECT_THAT(told("f32[100000,500]").second, StartsWith("all passes run on "));
}

/// Blocks decide what is kept and what shares a pass, and need an output that lies apart.
TEST(story, passes_of_blocks_are_those_that_run) {
  Engine engine;
  ExplainOptions options;
  options.target = "avx2";
  const Tensor x = parse_layout("f32[30000,500]");
  const std::pair<std::string, Tensor> names[] = {{"a", x}};
  const Explanation softmax = engine.explain(
      parse_expr("exp(a - amax(a, dims=[1], keepdim=true)) / "
                 "sum(exp(a - amax(a, dims=[1], keepdim=true)), dims=[1], keepdim=true)",
                 names),
      {}, options);
  EXPECT_THAT(chapter(softmax.story, "schedule").lines, Contains(StartsWith("all passes run on ")));
  EXPECT_THAT(softmax.passes,
              Contains("elementwise f32[30000, 500]: exp(a - t0), which is read again"));
  const Expr scaled = parse_expr(
      "(a - amin(a, dims=[1], keepdim=true)) / (amax(a, dims=[1], keepdim=true) - 1)", names);
  for (const std::string& pass : engine.explain(scaled, {}, options).passes) {
    EXPECT_THAT(pass, Not(HasSubstr("one pass of")));
  }
  const auto apart = engine.explain(scaled, parse_layout("f32[30000,500]"), options).story;
  EXPECT_THAT(chapter(apart, "schedule").lines, Contains(StartsWith("all passes run on ")));
  const auto in_place = engine.explain(scaled, x, options).story;
  for (const std::string& line : chapter(in_place, "schedule").lines) {
    EXPECT_THAT(line, Not(StartsWith("all passes run on ")));
  }
}

TEST(story, results_of_folds_take_no_memory) {
  const std::pair<std::string, Tensor> names[] = {{"a", parse_layout("f32[1000000000000,64]")}};
  const Explanation explanation =
      Engine().explain(parse_expr("a - mean(a, dims=[1], keepdim=true)", names),
                       parse_layout("f32[1000000000000,64]"));
  EXPECT_FALSE(explanation.passes.empty());
}

TEST(story, scans_of_what_is_written_before_are_told) {
  Engine engine;
  const std::pair<std::string, Tensor> names[] = {{"a", parse_layout("f32[100,200,3]")},
                                                  {"b", parse_layout("f32[3]")}};
  const Explanation apart = engine.explain(parse_expr("cumsum(a * b, dim=0)", names));
  ASSERT_EQ(apart.passes.size(), 1u);
  EXPECT_THAT(apart.passes[0], EndsWith("of what is written before"));
  EXPECT_THAT(chapter(apart.story, "operands").lines[0], HasSubstr("it is written before"));
  const Explanation fused = engine.explain(parse_expr("cumsum(a * a, dim=0)", names));
  EXPECT_THAT(fused.passes[0], Not(HasSubstr("written before")));
}

TEST(story, a_fold_is_told_by_what_it_reduces) {
  Engine engine;
  const Expr a = operand("a", "f32[1000,64]");
  const Explanation told = engine.explain(
      parse_expr("sum(a * a, dims=[0])",
                 std::vector<std::pair<std::string, Tensor>>{{"a", parse_layout("f32[1000,64]")}}));
  EXPECT_EQ(told.story.expression, "sum(a * a, dims=[0])");
  EXPECT_EQ(told.story.written_bytes, 64 * 4);
  EXPECT_THAT(chapter(told.story, "operands").lines, Contains(StartsWith("before: outer fold of")));
}

TEST(story, predictions_take_the_slower_of_memory_and_instructions) {
  Story story;
  story.numel = 1000;
  story.read_bytes = 4000;
  story.written_bytes = 4000;
  MachineSpeed machine;
  machine.bytes_per_second = 8e9;
  machine.clock_hz = 1e9;
  EXPECT_DOUBLE_EQ(predict(story, machine).memory_ns, 1000);
  EXPECT_DOUBLE_EQ(predict(story, machine).ns(), 1000);
  story.hot_loop.instructions = 64;
  story.hot_loop.elements = 8;  // 8 instructions an element, 4 a cycle, 1 ns a cycle
  EXPECT_DOUBLE_EQ(predict(story, machine).compute_ns, 2000);
  EXPECT_DOUBLE_EQ(predict(story, machine).ns(), 2000);
}

TEST(story, llvm_s_code_has_its_lines_and_stays_the_same) {
  Engine engine;
  const Expr call = ops::tan(operand("a", "f32[1000]")) * operand("b", "f32[1000]");
  ExplainOptions options;
  options.backend = "llvm";
  Explanation plain, annotated;
  try {
    plain = engine.explain(call, {}, options);
    options.emit = {"asm", "ir"};
    annotated = engine.explain(call, {}, options);
  } catch (const UnsupportedError& error) {
    return leave_out_without("llvm", error.what());
  }
  const std::string& assembly = annotated.texts.at("asm");
  // What runs and what is shown are two objects; the second has debug information.
  EXPECT_EQ(annotated.story.code_instructions, plain.story.code_instructions);
  EXPECT_EQ(annotated.story.hot_loop.instructions, plain.story.hot_loop.instructions);
  EXPECT_GT(plain.story.code_instructions, 20);
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < annotated.texts.at("ir").size();) {
    const std::size_t end = annotated.texts.at("ir").find('\n', begin);
    const std::string line = annotated.texts.at("ir").substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with("  %") && !line.starts_with("  store")) continue;
    lines += assembly.find("        ; " + line.substr(2) + "\n") != assembly.npos;
  }
  EXPECT_GT(lines, 2u) << assembly;
  EXPECT_THAT(assembly, HasSubstr("; loops and addresses\n"));
}

TEST(story, the_hot_loop_s_cycles_or_why_there_are_none) {
  Engine engine;
  const Expr a = operand("a", "f32[1000]");
  const Explanation told = engine.explain(a + a);
  if (told.story.hot_loop.instructions == 0)
    return leave_out_without("llvm", "there is no machine code, or nothing that reads it");
  EXPECT_THAT(chapter(told.story, "code").lines,
              Contains(matchers::AnyOf(
                  matchers::MatchesRegex("LLVM's model of [a-z0-9-]+: [0-9.]+ cycles an iteration, "
                                         "[0-9.]+ an element, if nothing waits for memory"),
                  StartsWith("no cycles by LLVM's models: "))));
}

TEST(story, measures_something_that_makes_sense) {
  Story story;
  story.read_bytes = story.written_bytes = 1 << 20;
  const MachineSpeed machine = measure_machine(story);
  EXPECT_EQ(machine.copied_bytes, 2 << 20);
  EXPECT_GT(machine.bytes_per_second, 1e6);
  EXPECT_GT(machine.clock_hz, 1e6);
  EXPECT_THAT(machine.source, HasSubstr("2.1 MB"));
  story.read_bytes = std::int64_t{1} << 60;  // bytes that no machine has
  EXPECT_EQ(measure_machine(story).copied_bytes, 64 << 20);
}

TEST(story, text_is_plain_unless_colours_are_asked_for) {
  Engine engine;
  const Explanation told = engine.explain(operand("a", "f32[100]") + 1);
  MachineSpeed machine;
  machine.bytes_per_second = machine.clock_hz = 1e9;
  machine.source = "a figure for the test";
  const std::string plain = story_text(told, machine);
  EXPECT_THAT(plain, StartsWith("a + 1  ->  f32[100]\n\noperands\n"));
  EXPECT_THAT(plain, HasSubstr("at 1 GB/s (a figure for the test)"));
  EXPECT_THAT(plain, Not(HasSubstr("\033")));
  const std::string coloured = story_text(told, machine, {.colours = true});
  EXPECT_THAT(coloured, HasSubstr("\033[1;36moperands\033[0m\n"));
  for (std::size_t begin = 0; begin < plain.size();) {
    const std::size_t end = plain.find('\n', begin);
    EXPECT_LE(end - begin, 100u) << plain.substr(begin, end - begin);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace weft::testing
