// Thresholds change how calls run, and never what they compute.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/tune.h>
#include <weft/tuning.h>

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

using matchers::HasSubstr;

constexpr std::int64_t most = std::int64_t{1} << 50;

Tensor filled(const Sizes& sizes) {
  const Tensor tensor = new_tensor(sizes, DType::f32);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    put<float>(tensor, i, static_cast<float>(i % 1013) / 7 - 60);
  return tensor;
}

/// Calls on both sides of every threshold: vectors, transposes, conflicting layouts, pixels, folds.
std::vector<Tensor> results(const Tuning& tuning, int num_threads) {
  const TuningScope scope(tuning);
  Engine engine({.num_threads = num_threads});
  const Tensor a = filled({300, 517}), b = filled({517, 300});
  const Tensor image = filled({1, 40, 50, 3}).permute(std::vector<int>{0, 3, 1, 2});
  const Tensor planes = filled({1, 3, 40, 50});
  return {engine.eval(Expr(a) * Expr(a) + 1),
          engine.contiguous(b.t()),
          engine.eval(Expr(a) + Expr(b.t())),
          engine.eval(Expr(image) - Expr(planes)),
          engine.contiguous(image),
          engine.reduce(Reduction::sum, a),
          engine.eval(Expr(a) / 3)};
}

TEST(tuning, never_changes_a_result) {
  const Tuning extremes[] = {{1, 1, 1, 100, 100, 10},
                             {most, most, most, 100'000'000, 100'000'000, 1'000'000'000},
                             {1, most, 1, 100, 100, 10},
                             {most, 1, most, 100, 100, 10}};
  const std::vector<Tensor> expected = results({}, 1);
  for (const Tuning& tuning : extremes)
    for (const int num_threads : {1, 2, 0}) {
      const std::vector<Tensor> actual = results(tuning, num_threads);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(actual[i].strides().size(), expected[i].strides().size());
        EXPECT_TRUE(std::equal(actual[i].strides().begin(), actual[i].strides().end(),
                               expected[i].strides().begin()));
        EXPECT_EQ(std::memcmp(actual[i].data(), expected[i].data(),
                              static_cast<std::size_t>(expected[i].numel()) * sizeof(float)),
                  0)
            << "result " << i << " with " << num_threads << " threads";
      }
    }
}

std::string chapter(const Explanation& told, const std::string& title) {
  std::string text;
  for (const Story::Chapter& found : told.story.chapters)
    if (found.title == title)
      for (const std::string& line : found.lines) text += line + "\n";
  return text;
}

TEST(tuning, is_explained) {
  const Expr call = Expr(filled({100, 100})) + 1;
  Tuning tuning;
  tuning.streaming_bytes = 80'000;
  tuning.thread_work_ns = 777;
  Engine engine;
  EXPECT_THAT(chapter(engine.explain(call), "thresholds"), HasSubstr("weft's defaults"));
  const TuningScope scope(tuning);
  const Explanation told = engine.explain(call);
  EXPECT_THAT(chapter(told, "thresholds"), HasSubstr("those of a measurement"));
  EXPECT_THAT(chapter(told, "thresholds"), HasSubstr("past the caches from 80.0 kB moved"));
  EXPECT_THAT(chapter(told, "thresholds"), HasSubstr("a thread for 777 ns"));
  EXPECT_THAT(chapter(told, "schedule"), HasSubstr("stores: past the caches"));
}

TEST(tuning, is_the_innermost_scope_s_and_the_thread_s) {
  const Tuning machine = current_tuning();
  Tuning one = machine, two = machine;
  one.thread_work_ns = 111;
  two.thread_work_ns = 222;
  {
    const TuningScope outer(one);
    {
      const TuningScope inner(two);
      EXPECT_EQ(current_tuning(), two);
      std::thread([&] { EXPECT_EQ(current_tuning(), machine); }).join();
    }
    EXPECT_EQ(current_tuning(), one);
  }
  EXPECT_EQ(current_tuning(), machine);
}

TEST(tuning, measurements_are_within_what_files_may_say) {
  TuneOptions options;
  options.most_bytes = 2 << 20;
  options.rounds = 1;
  std::set<std::string> told;
  options.progress = [&](std::string_view threshold, double fraction) {
    told.insert(std::string(threshold));
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
  };
  const TuneReport report = measure_tuning(options);
  ASSERT_EQ(report.findings.size(), tuning_fields().size());
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const TuningField& field = tuning_fields()[i];
    EXPECT_EQ(report.findings[i].threshold, field.name);
    EXPECT_EQ(report.findings[i].measured, report.tuning.*field.value);
    EXPECT_GE(report.tuning.*field.value, field.least);
    EXPECT_LE(report.tuning.*field.value, field.most);
    EXPECT_NE(report.findings[i].how, "");
  }
  EXPECT_TRUE(told.contains("streaming_bytes"));
  EXPECT_THROW(measure_tuning({.most_bytes = 0}), ArgumentError);
  EXPECT_THROW(measure_tuning({.rounds = 0}), ArgumentError);
}

}  // namespace
}  // namespace weft::testing
