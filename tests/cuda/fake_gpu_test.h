// Tests on the stand-in for a GPU: the functions of tests/cuda/fake_gpu.h, and a fixture that sees
// to it that no kernel touched what it may not.
#pragma once

#include "tests/cuda/fake_gpu.h"
#include "tests/message_of.h"

#include <weft/cuda.h>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace weft::test {

/// fake_gpu.h's functions, out of the library that weft has opened as libcuda.
struct FakeGpu {
  decltype(&fake_gpu_reset) reset;
  decltype(&fake_gpu_fail) fail_with;
  decltype(&fake_gpu_count) count;
  decltype(&fake_gpu_log) log;
  decltype(&fake_gpu_fault) fault;
  decltype(&fake_gpu_set_memory) set_memory;
  decltype(&fake_gpu_set_pools) set_pools;
  decltype(&fake_gpu_capture) capture;
  decltype(&fake_gpu_live_blocks) live_blocks;
  decltype(&fake_gpu_pending) pending;

  /// The next call of `symbol`, after `skipped` others.
  void fail(const char* symbol, int result, int skipped = 0, int times = 1) const {
    fail_with(symbol, result, skipped, times);
  }
};
const FakeGpu& fake_gpu();

class OnFakeGpu : public testing::Test {
 protected:
  void SetUp() override { fake_gpu().reset(); }
  void TearDown() override {
    EXPECT_STREQ(fake_gpu().fault(), "");
    fake_gpu().reset();
  }
};

}  // namespace weft::test
