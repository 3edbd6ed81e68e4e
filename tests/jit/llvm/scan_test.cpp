// Kernels that scan, by LLVM: rows and columns of all dtypes and strides, against the interpreter.
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "jit/llvm/backend.h"
#include "tests/ir/random_kernel.h"
#include "tests/jit/llvm/support.h"

#include <random>
#include <string>
#include <vector>

namespace weft::jit::test {
namespace {

using Extents = std::vector<std::vector<std::int64_t>>;

struct Scanned {
  std::string dtype, combine = "add";
  std::string kept = {};  ///< in what partial results are kept, if in another dtype
};

const Scanned what[] = {
    {"f32", "add", "f64"}, {"f32", "mul", "f64"},  {"f64", "add"},        {"f64", "mul"},
    {"f32", "add"},        {"f32", "maximum"},     {"f64", "minimum"},    {"i64", "add"},
    {"i64", "mul"},        {"i32", "add"},         {"i32", "mul"},        {"u8", "minimum"},
    {"u8", "add"},         {"i16", "maximum"},     {"u64", "maximum"},    {"bool", "maximum"},
    {"bool", "mul"},       {"i32", "bitwise_and"}, {"u16", "bitwise_or"}, {"i8", "bitwise_xor"},
};

/// `a * 2 + b` of the scanned dtype: $1 as `along` says, $2 stands still along `still`.
ir::Kernel kernel_of(const Scanned& scanned, bool is_row, const std::string& out_along,
                     const std::string& along, bool has_outer, Isa isa) {
  const std::string &dtype = scanned.dtype, outer = has_outer ? "* " : "";
  const std::string middle = is_row ? outer : outer + "* ";
  const std::string still = is_row ? outer + "0" : outer + "0 1";
  std::string text = "kernel default unscheduled " +
                     std::to_string(target_for(isa).vector_bytes()) + " { $0 out " + dtype + " [" +
                     middle + out_along + "] $1 in " + dtype + " [" + middle + along + "] $2 in " +
                     dtype + " [" + still + "] ";
  text += std::string(has_outer ? "parallel " : "") + (is_row ? "scan " : "scan parallel ");
  text += "body: %0 = load " + dtype + " $1 %1 = load " + dtype + " $2 %2 = add " + dtype +
          " %0, %1 %3 = mul " + dtype + " %2, %0 ";
  if (scanned.kept.empty())
    text += "accumulate " + dtype + " $0 " + scanned.combine + " %3 }";
  else
    text += "%4 = cast " + scanned.kept + " %3 accumulate " + scanned.kept + " $0 " +
            scanned.combine + " %4 }";
  ir::Kernel kernel = ir::parse(text);
  ir::verify(kernel);
  ir::run_pipeline(kernel);
  return kernel;
}

class LlvmScans : public ::testing::Test {
 protected:
  void SetUp() override { need_llvm(); }
};

TEST_F(LlvmScans, OfRowsAreTheInterpreters) {
  Extents extents;
  for (const std::int64_t rows : {1, 3, 4, 8, 9, 13})
    for (const std::int64_t count : {1, 2, 7, 8, 33, 100}) extents.push_back({rows, count});
  for (const Isa isa : isas())
    for (const Scanned& scanned : what)
      for (const auto& [out_along, along] :
           {std::pair("1", "1"), {"1", "-1"}, {"*", "1"}, {"2", "*"}, {"-1", "3"}, {"1", "0"}})
        expect_same(kernel_of(scanned, true, out_along, along, true, isa), target_for(isa),
                    extents);
}

TEST_F(LlvmScans, OfColumnsAreTheInterpreters) {
  Extents extents;
  for (const std::int64_t count : {1, 2, 9})
    for (const std::int64_t columns : {1, 3, 8, 15, 32, 70, 100})
      extents.push_back({2, count, columns});
  for (const Isa isa : isas())
    for (const Scanned& scanned : what)
      for (const auto& [out_along, along] :
           {std::pair("1", "1"), {"1", "-1"}, {"*", "1"}, {"2", "*"}, {"-1", "3"}, {"1", "0"}})
        expect_same(kernel_of(scanned, false, out_along, along, true, isa), target_for(isa),
                    extents);
}

TEST_F(LlvmScans, OfOneLoopAndOfManyColumns) {
  for (const Isa isa : isas()) {
    expect_same(kernel_of(what[0], true, "1", "1", false, isa), target_for(isa),
                {{1}, {5}, {1000}, {70'001}});
    // More columns than have room beside one another.
    for (const std::size_t index : {0u, 7u, 11u})
      expect_same(kernel_of(what[index], false, "1", "1", false, isa), target_for(isa),
                  {{3, 8191}, {3, 8192}, {3, 8193}, {2, 16'500}});
  }
}

TEST_F(LlvmScans, OfKnownShapesAreTheInterpreters) {
  for (const Isa isa : isas())
    for (const bool is_row : {true, false})
      for (const std::size_t index : {0u, 5u, 9u}) {
        Extents extents{{6, 20}, {1, 3}, {9, 64}};
        if (!is_row) extents = {{2, 6, 20}, {1, 1, 3}, {2, 9, 64}};
        expect_same_shapes(kernel_of(what[index], is_row, "1", "1", true, isa), target_for(isa),
                           extents);
      }
}

TEST_F(LlvmScans, OfRandomKernelsAreTheInterpreters) {
  std::mt19937_64 random(19);
  int num_taken = 0;
  for (int number = 0; number < 600; ++number) {
    ir::Kernel kernel = ir::random_kernel(random, {.max_loops = 3, .may_scan = true});
    const Isa isa = isas()[random() % isas().size()];
    kernel.vector_bytes = target_for(isa).vector_bytes();
    ir::run_pipeline(kernel);
    if (!ir::is_scan(kernel) || !llvm_backend().refuses(kernel, target_for(isa)).empty()) continue;
    ++num_taken;
    Extents extents;
    for (const std::int64_t inner : {1, 7, 50}) {
      extents.push_back(std::vector<std::int64_t>(kernel.loops.size(), 5));
      extents.back().back() = inner;
    }
    expect_same(kernel, target_for(isa), extents);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(num_taken, 40);
}

TEST_F(LlvmScans, WithoutVectorsAreTheInterpreters) {
  for (const bool is_row : {true, false}) {
    ir::Kernel kernel = kernel_of(what[0], is_row, "1", "1", true, isas()[0]);
    kernel.vector_bytes = 0;
    expect_same(kernel, target_for(isas()[0]), is_row ? Extents{{3, 40}} : Extents{{2, 3, 40}});
  }
}

TEST_F(LlvmScans, AreRefusedByName) {
  const auto refusal = [](const std::string& text) {
    ir::Kernel kernel = ir::parse("kernel default unscheduled 32 { " + text + " }");
    ir::verify(kernel);
    ir::run_pipeline(kernel);
    return llvm_backend().refuses(kernel, target_for(isas()[0]));
  };
  EXPECT_EQ(refusal("$0 out c64 [1] $1 in c64 [1] scan body: %0 = load c64 $1 "
                    "accumulate c64 $0 add %0"),
            "complex numbers are scanned");
  EXPECT_EQ(refusal("$0 out f32 [1] $1 out f32 [1] $2 in f32 [1] scan body: %0 = load f32 $2 "
                    "accumulate f32 $0 add %0 accumulate f32 $1 mul %0"),
            "several outputs are scanned");
  EXPECT_EQ(refusal("$0 out i64 [1] $1 in f32 [1] $2 place i64 [1] scan body: %0 = load f32 $1 "
                    "%1 = load i64 $2 accumulate_place f32 $0 maximum %0, %1"),
            "places are loaded or accumulated");
  EXPECT_EQ(refusal("$0 out f32 [1] $1 in f32 [1] scan body: %0 = load f32 $1 "
                    "accumulate f32 $0 logaddexp %0"),
            "%1 accumulate f32 by logaddexp has no lowering");
}

}  // namespace
}  // namespace weft::jit::test
