// The fuzzer itself: that cases repeat, cover what they should, survive being written down, and
// that differences are noticed.
#include "engine/fuzz/case.h"
#include "engine/fuzz/check.h"
#include "engine/fuzz/generate.h"
#include "engine/fuzz/shrink.h"
#include "engine/fuzz/storage.h"
#include "tests/matchers.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

namespace weft::fuzzing {
namespace {

TEST(FuzzCases, RepeatAndReachEverything) {
  std::set<Op> ops;
  std::set<DType> dtypes;
  std::set<std::size_t> ranks;
  std::set<CaseOutput::Kind> outputs;
  bool has_negative_stride = false, has_spread = false, has_empty = false;
  bool has_conj = false, has_neg = false, is_ahead = false, is_behind = false;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Case made = generate_case(5, i);
    ASSERT_EQ(command_text(made, "interp"), command_text(generate_case(5, i), "interp"));
    for (const CaseNode& node : made.nodes)
      if (node.kind == CaseNode::Kind::op) ops.insert(node.op);
    for (const CaseOutput& output : made.outputs) {
      outputs.insert(output.kind);
      if (output.kind != CaseOutput::Kind::shared) continue;
      const auto place = made.inputs[static_cast<std::size_t>(output.input)].offset;
      is_ahead |= output.tensor.offset > place;
      is_behind |= output.tensor.offset < place;
    }
    for (const CaseTensor& input : made.inputs) {
      has_conj |= input.is_conj;
      has_neg |= input.is_neg;
      dtypes.insert(input.dtype);
      ranks.insert(input.sizes.size());
      for (std::size_t dim = 0; dim < input.sizes.size(); ++dim) {
        has_negative_stride |= input.strides[dim] < 0;
        has_spread |= input.strides[dim] == 0 && input.sizes[dim] > 1;
        has_empty |= input.sizes[dim] == 0;
      }
    }
  }
  EXPECT_EQ(ops.size(), all_ops().size());
  EXPECT_EQ(dtypes.size(), num_dtypes);
  EXPECT_EQ(ranks.size(), 7U);
  EXPECT_TRUE(has_negative_stride && has_spread && has_empty);
  EXPECT_TRUE(has_conj && has_neg);
  EXPECT_EQ(outputs.size(), 5U);
  EXPECT_TRUE(is_ahead && is_behind) << "outputs in an input's storage, on either side of it";
}

TEST(FuzzCases, AreReadBackAsWritten) {
  FuzzReplay replay;
  replay.expressions = "floor(a) + b * 2; -a";
  replay.operands = {"a=f32[3,2]{1,-3}@3#7", "b=f64[2]#0*"};
  replay.outputs = {"-", "f32[3,2]{2,1}#0"};
  replay.seed = 9;
  const Case read = parse_case(replay);
  EXPECT_EQ(command_text(read, "interp"),
            "weft fuzz --replay='floor(a) + b * 2; -a' 'a=f32[3,2]{1,-3}@3#7' 'b=f64[2]#0*' "
            "--out='-' --out='f32[3,2]#0' --seed=9 --numerics=strict --backend=interp");
  EXPECT_EQ(replay_fuzz_case(replay), std::nullopt);
  replay.outputs = {"a"};
  EXPECT_THROW(parse_case(replay), ArgumentError);
}

TEST(FuzzCases, SharedStoragesAreWrittenDownWhole) {
  FuzzReplay replay;
  replay.expressions = "a * 2";
  replay.operands = {"a=f32[4]{2}@1#1"};
  replay.outputs = {"a:f32[4]{2}@2#0"};
  EXPECT_EQ(replay_fuzz_case(replay), std::nullopt);
  const std::string text = cxx_text(parse_case(replay), "interp");
  const std::string sizes = "std::vector<std::int64_t>{4}, std::vector<std::int64_t>{2}";
  EXPECT_THAT(text, matchers::HasSubstr("static std::uint32_t a_storage[9] = {"));
  EXPECT_THAT(text, matchers::HasSubstr(
                        "const Tensor a = from_blob(a_storage, std::vector<std::int64_t>{9}, "
                        "std::vector<std::int64_t>{1}, DType::f32).as_strided(" +
                        sizes + ", 1);\n"));
  EXPECT_THAT(text, matchers::HasSubstr("const Tensor out0 = a.as_strided(" + sizes + ", 2);\n"));
}

TEST(FuzzCheck, CallsOneOpEagerlyAgainAndWithOtherAliasing) {
  FuzzReplay replay;
  replay.expressions = "a + b";
  replay.operands = {"a=f32[4]#1", "b=f32[4]#9"};
  replay.outputs = {"a"};
  const Case in_place = parse_case(replay);
  Engines engines;
  Outcome outcome{};
  EXPECT_FALSE(check_case(in_place, "interp", engines, outcome));
  EXPECT_EQ(outcome, Outcome::compared);
  const EngineStats stats = engines.get("interp", in_place.numerics).stats();
  EXPECT_EQ(stats.plan_misses, 3U);  // eval(), binary() in place, and binary() into its own memory
  EXPECT_EQ(stats.plan_hits, 5U);    // two of each after the first, but for binary() apart: one
}

TEST(FuzzStorage, NoticesWritesBesideTheElements) {
  CaseTensor layout;
  layout.name = "a";
  layout.dtype = DType::i16;
  layout.sizes = {3};
  layout.strides = {2};
  layout.offset = 1;
  GuardedTensor guarded(layout, 3);
  auto* const elements = reinterpret_cast<std::int16_t*>(guarded.tensor().data());
  EXPECT_TRUE(guarded.is_intact({}));
  elements[2] = static_cast<std::int16_t>(elements[2] + 1);
  EXPECT_FALSE(guarded.is_intact({}));
  EXPECT_TRUE(guarded.is_intact(std::span(&guarded.tensor(), 1)));
  elements[1] = static_cast<std::int16_t>(elements[1] + 1);
  EXPECT_FALSE(guarded.is_intact(std::span(&guarded.tensor(), 1)));
  guarded.restore();
  EXPECT_TRUE(guarded.is_intact({}));
  elements[-1] = static_cast<std::int16_t>(elements[-1] + 1);  // storage before the first element
  EXPECT_FALSE(guarded.is_intact(std::span(&guarded.tensor(), 1)));
}

/// Fails wherever b is negative and an exponential is computed.
std::optional<Finding> fails_for_negative(const Case& fuzz_case) {
  const auto is_exp = [](const CaseNode& node) {
    return node.kind == CaseNode::Kind::op && node.op == Op::exp;
  };
  const auto b = std::ranges::find(fuzz_case.inputs, "b", &CaseTensor::name);
  if (b == fuzz_case.inputs.end() || std::ranges::none_of(fuzz_case.nodes, is_exp)) return {};
  const GuardedTensor guarded(*b, fuzz_case.seed);
  for (std::int64_t i = 0; i < b->sizes[0]; ++i)
    for (std::int64_t j = 0; j < b->sizes[1]; ++j)
      if (guarded.tensor().select(0, i).select(0, j).item().as_double() < 0)
        return Finding{Finding::Kind::value, "llvm", "negative", {i, j}};
  return {};
}

TEST(FuzzShrink, CutsDownToTheElementThatFails) {
  FuzzReplay replay;
  replay.expressions = "floor(a) + exp(b * 2) - a; abs(b)";
  replay.operands = {"a=f32[6]{2}#7", "b=f32[9,6]{-7,1}@60#0"};
  replay.outputs = {"f32[9,6]{6,1}#0", "-"};
  Finding finding = *fails_for_negative(parse_case(replay));
  const Case smallest = shrink(parse_case(replay), finding, fails_for_negative);
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(smallest.inputs.size(), 1U);
  EXPECT_THAT(command_text(smallest, "llvm"),
              matchers::StartsWith("weft fuzz --replay='exp(b)' 'b=f32[1,1]"));
}

TEST(FuzzShrink, BackendsThatDoNotExist) {
  FuzzReplay replay;
  replay.expressions = "-a";
  replay.operands = {"a=f32[4]#0"};
  replay.backend = "nonesuch";
  EXPECT_THROW(replay_fuzz_case(replay), ArgumentError);
}

TEST(Fuzz, FindsNothingInAFewCases) {
  FuzzOptions options;
  options.seconds = 1e6;  // the number of cases is the limit, however slow the machine is
  options.max_cases = 100;
  const FuzzReport report = fuzz(options);
  EXPECT_EQ(report.num_cases, 100U);
  ASSERT_TRUE(!report.failure) << report.failure->what << '\n' << report.failure->command;
}

}  // namespace
}  // namespace weft::fuzzing
