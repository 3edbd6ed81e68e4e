#include "ir/text.h"

#include "ir/pass.h"
#include "ir/verifier.h"
#include "tests/ir/random_kernel.h"

#include <weft/error.h>

#include <gtest/gtest.h>

namespace weft::ir {
namespace {

TEST(Text, ParsesWhatItPrints) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    Kernel kernel = random_kernel(random, {.may_reduce = true, .may_scan = true});
    ASSERT_EQ(violations(kernel), std::vector<std::string>{}) << print(kernel);
    ASSERT_EQ(parse(print(kernel)), kernel) << print(kernel);
    run_pipeline(kernel);
    ASSERT_EQ(parse(print(kernel)), kernel) << print(kernel);
    ASSERT_EQ(structural_hash(parse(print(kernel))), structural_hash(kernel));
  }
}

TEST(Text, HashTellsKernelsApart) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Kernel a = random_kernel(random, {.may_reduce = true, .may_scan = true});
    const Kernel b = random_kernel(random, {.may_reduce = true, .may_scan = true});
    EXPECT_EQ(a == b, structural_hash(a) == structural_hash(b));
  }
}

/// parse() returns or throws an ArgumentError that names a place, whatever it reads.
void survive(const std::string& text) {
  try {
    const Kernel kernel = parse(text);
    violations(kernel);
  } catch (const ArgumentError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 5), "line ");
  }
}

TEST(Text, SurvivesDamagedText) {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text = print(random_kernel(random, {.may_reduce = true, .may_scan = true}));
    const std::size_t num_changes = 1 + pick(random, 3);
    for (std::size_t change = 0; change < num_changes && !text.empty(); ++change) {
      const std::size_t at = pick(random, text.size());
      switch (pick(random, 4)) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + pick(random, 8)); break;
        case 2: text.insert(at, text.substr(pick(random, text.size()), pick(random, 12))); break;
        default: text.resize(at);
      }
    }
    survive(text);
  }
}

TEST(Text, SurvivesGarbage) {
  Random random(4);
  constexpr std::string_view letters = "kernel default{}[]$#%=:;*x01-,\n vector body hoisted";
  for (int i = 0; i < 3000; ++i) {
    std::string text = "kernel default scalar 0 {";
    for (std::size_t length = pick(random, 200); length > 0; --length)
      text += letters[pick(random, letters.size())];
    survive(text);
  }
  survive(std::string(1 << 16, '{'));
  survive(std::string("\0\0\0", 3));
}

TEST(Text, PrintsOneInstruction) {
  const Kernel kernel = parse(
      "kernel fast scalar 0 { $0 out f32 [1] $1 in f32 [1] parallel body: %0 = load f32 $1 %1 = "
      "add f32 %0, %0 "
      "store f32 $0 %1 }");
  EXPECT_EQ(print(kernel, 1), "%1 = add f32 %0, %0");
  EXPECT_EQ(print(kernel, 2), "store f32 $0 %1");
}

}  // namespace
}  // namespace weft::ir
