// Which kernels of complex numbers are kernels of twice as many real ones, and what they become.
#include "ir/split_complex.h"

#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::ir {
namespace {

/// A kernel after the passes, of its text up to the body and the body's.
Kernel scheduled_kernel(const std::string& before_body, const std::string& body) {
  Kernel kernel = parse("kernel default unscheduled 32 { " + before_body + " body: " + body + " }");
  run_pipeline(kernel);
  return kernel;
}

constexpr const char* sum_body =
    "%0 = load c64 $1 %1 = load c64 $2 %2 = add c64 %0, %1 %3 = neg c64 %2 store c64 $0 %3";

TEST(SplitComplex, SumsOfNeighboursAreSumsOfReals) {
  for (const bool is_streaming : {false, true}) {
    Kernel kernel = parse(
        std::string("kernel default unscheduled 32 { $0 out c64 [1] $1 in c64 [1] $2 in c64 [1] "
                    "parallel body: ") +
        sum_body + " }");
    kernel.is_streaming = kernel.is_unfenced = is_streaming;
    run_pipeline(kernel);
    ASSERT_TRUE(treats_parts_alike(kernel));
    const SplitKernel split = interleave_parts(kernel);
    EXPECT_TRUE(split.is_interleaved);
    EXPECT_EQ(split.reason, "");
    EXPECT_NO_THROW(verify(split.kernel));
    Kernel reals = parse(
        "kernel default unscheduled 32 { $0 out f32 [1] $1 in f32 [1] $2 in f32 [1] "
        "parallel body: %0 = load f32 $1 %1 = load f32 $2 %2 = add f32 %0, %1 "
        "%3 = neg f32 %2 store f32 $0 %3 }");
    reals.is_streaming = reals.is_unfenced = is_streaming;
    run_pipeline(reals);
    EXPECT_EQ(print(split.kernel), print(reals));
    ASSERT_EQ(split.operands.size(), 3u);
    for (std::uint8_t i = 0; i < 3; ++i) {
      EXPECT_EQ(split.operands[i].source, i);
      EXPECT_EQ(split.operands[i].offset_bytes, 0);
    }
  }
}

TEST(SplitComplex, CastsOfAnyWidthTreatPartsAlike) {
  EXPECT_TRUE(treats_parts_alike(scheduled_kernel(
      "$0 out c128 [1] $1 in c32 [1] parallel",
      "%0 = load c32 $1 %1 = cast c128 %0 %2 = sub c128 %1, %1 store c128 $0 %2")));
}

TEST(SplitComplex, OthersAreNotAlike) {
  const std::string dense = "$0 out c64 [1] $1 in c64 [1] $2 in c64 [1] parallel";
  const std::string loads = "%0 = load c64 $1 %1 = load c64 $2 ";
  for (const char* const op : {"mul", "div"})
    EXPECT_FALSE(treats_parts_alike(
        scheduled_kernel(dense, loads + "%2 = " + op + " c64 %0, %1 store c64 $0 %2")))
        << op;
  EXPECT_FALSE(treats_parts_alike(
      scheduled_kernel(dense, loads + "%2 = conj c64 %0 %3 = add c64 %1, %2 store c64 $0 %3")));
  // A constant has parts of its own.
  EXPECT_FALSE(treats_parts_alike(scheduled_kernel(
      dense, loads + "%2 = constant c64 0x3f800000 %3 = add c64 %1, %2 store c64 $0 %3")));
  // Copies move whole numbers.
  EXPECT_FALSE(treats_parts_alike(scheduled_kernel(dense, loads + "store c64 $0 %0")));
  for (const char* const strides : {"[0]", "[2]", "[*]", "[-1]"})
    EXPECT_FALSE(treats_parts_alike(scheduled_kernel(
        std::string("$0 out c64 [1] $1 in c64 [1] $2 in c64 ") + strides + " parallel", sum_body)))
        << strides;
  EXPECT_FALSE(treats_parts_alike(scheduled_kernel(
      "$0 out c64 [3 1] $1 in c64 [3 1] $2 in c64 [0 1] parallel parallel", sum_body)));
  EXPECT_FALSE(treats_parts_alike(scheduled_kernel(
      "$0 out c64 [1] $1 in f32 [1] $2 in c64 [1] parallel",
      "%0 = load f32 $1 %1 = load c64 $2 %2 = cast c64 %0 %3 = add c64 %1, %2 store c64 $0 %3")));
  EXPECT_FALSE(treats_parts_alike(
      scheduled_kernel("$0 out c64 [0] $1 in c64 [1] reduce tree lanes 32 block 4096",
                       "%0 = load c64 $1 %1 = neg c64 %0 accumulate c64 $0 add %1")));
}

}  // namespace
}  // namespace weft::ir
