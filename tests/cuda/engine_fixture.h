// Tensors and calls on the stand-in for a GPU, for tests of the engine.
#pragma once

#include "tests/cuda/fake_gpu_test.h"

#include <weft/engine.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::test {

inline constexpr Device gpu0{DeviceType::cuda, 0}, gpu1{DeviceType::cuda, 1}, cpu{};

class EngineOnFakeGpu : public OnFakeGpu {
 protected:
  /// 0, 1, 2 ... in the order of the indices, of any dtype.
  Tensor numbers(std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
    std::int64_t numel = 1;
    for (const std::int64_t size : sizes) numel *= size;
    return engine_.to(arange(numel), dtype).view(sizes);
  }
  Tensor on(Device device, const Tensor& tensor) {
    ToOptions options;
    options.device = device;
    return engine_.to(tensor, options);
  }
  /// Whether both tensors, wherever they are, have the same elements.
  void expect_same(const Tensor& a, const Tensor& b) {
    const Tensor x = engine_.contiguous(on(cpu, a)), y = engine_.contiguous(on(cpu, b));
    ASSERT_EQ(x.dtype(), y.dtype());
    ASSERT_TRUE(std::ranges::equal(x.sizes(), y.sizes())) << describe(a) << " " << describe(b);
    EXPECT_EQ(std::memcmp(x.data(), y.data(),
                          static_cast<std::size_t>(x.numel()) * itemsize_bytes(x.dtype())),
              0)
        << describe(a) << " and " << describe(b);
  }
  static int num_launches() { return fake_gpu().count("cuLaunchKernel"); }

  Engine engine_;
};

}  // namespace weft::test
