// Detection against the compiler's own, and the override by WEFT_ISA in processes of their own.
#include "runtime/cpu_features.h"

#include "runtime/cpu_model.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace weft {
namespace {

#if defined(__x86_64__)
TEST(CpuFeatures, AgreeWithTheCompilersDetection) {
  __builtin_cpu_init();
  // F16C is left out: clang 14 does not know it, and every processor with AVX2 has it.
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  const CpuFeatures machine = target_features(Isa::avx512);
  if (has_avx512) {
    EXPECT_EQ(machine.isa, Isa::avx512);
    EXPECT_EQ(machine.avx512_vbmi, __builtin_cpu_supports("avx512vbmi") != 0);
    EXPECT_EQ(machine.avx512_bf16, __builtin_cpu_supports("avx512bf16") != 0);
  } else {
    EXPECT_FALSE(machine.avx512_vbmi || machine.avx512_bf16 || machine.avx512_fp16);
  }
  if (std::getenv("WEFT_ISA") == nullptr) {
    EXPECT_EQ(host_features().isa, has_avx512 ? Isa::avx512 : has_avx2 ? Isa::avx2 : Isa::generic);
  }
}
#endif

TEST(CpuFeatures, CachesHavePlausibleSizes) {
  const CpuFeatures& host = host_features();
  EXPECT_GE(host.l1d_bytes, 4 << 10);
  EXPECT_GE(host.l2_bytes, host.l1d_bytes);
  EXPECT_LE(host.l3_bytes, std::int64_t{16} << 30);
}

TEST(CpuFeatures, TextIsPartOfSignatures) {
  CpuFeatures features;
  EXPECT_EQ(features.text(), "generic");
  features.isa = Isa::avx512;
  features.avx512_vbmi = features.avx512_bf16 = true;
  EXPECT_EQ(features.text(), "avx512+vbmi+bf16");
  features.avx512_fp16 = true;
  EXPECT_EQ(features.text(), "avx512+vbmi+bf16+fp16");
}

TEST(CpuFeatures, PagesAreWalkedInTurnWherePrefetchersStopAtThem) {
  const bool is_amd = cpu_model().starts_with("AuthenticAMD");
  for (const Isa isa : {Isa::generic, host_features().isa}) {
    EXPECT_EQ(target_features(isa).pages_in_turn, !is_amd);
    EXPECT_EQ(target_features(isa).amd_family >= 15, is_amd);
  }
}

TEST(CpuFeatures, TargetsHaveTheIsaAskedFor) {
  for (Isa isa : {Isa::generic, Isa::avx2, Isa::avx512}) EXPECT_EQ(target_features(isa).isa, isa);
  EXPECT_EQ(target_features(Isa::avx2).text(), "avx2");
}

/// Ends the process with what host_features() says under this setting.
[[noreturn]] void report_features(const char* isa) {
  setenv("WEFT_ISA", isa, 1);
  try {
    std::cerr << host_features().text();
  } catch (const ArgumentError& error) {
    std::cerr << error.what();
  }
  std::exit(0);
}

// host_features() is detected once a process, so each setting needs a new one, and nothing here may
// call it before.
TEST(CpuFeaturesDeathTest, EnvironmentLowersTheIsa) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(report_features("generic"), testing::ExitedWithCode(0), "^generic$");
  EXPECT_EXIT(report_features("avx2"), testing::ExitedWithCode(0),
              "^avx2$|WEFT_ISA asks for avx2, but this machine has only generic.");
  EXPECT_EXIT(report_features("sse9"), testing::ExitedWithCode(0),
              "WEFT_ISA is 'sse9', expected generic, avx2 or avx512.");
}

}  // namespace
}  // namespace weft
