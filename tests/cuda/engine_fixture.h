// Tensors and calls on the stand-in for a GPU, for tests of the engine.
#pragma once

#include "tests/cuda/fake_gpu_test.h"
#include "tests/device_tensors.h"

namespace weft::test {

inline constexpr Device gpu0{DeviceType::cuda, 0}, gpu1{DeviceType::cuda, 1}, cpu{};

class EngineOnFakeGpu : public WithTensors<OnFakeGpu> {
 protected:
  static int num_launches() { return fake_gpu().count("cuLaunchKernel"); }
};

}  // namespace weft::test
