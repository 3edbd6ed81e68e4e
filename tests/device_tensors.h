// Tensors of a device, real or not, for tests of the engine.
#pragma once

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::test {

/// A fixture with an engine, and with tensors that it makes, moves and compares.
template <class Fixture>
class WithTensors : public Fixture {
 protected:
  /// 0, 1, 2 ... in the order of the indices, of any dtype.
  Tensor numbers(std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
    std::int64_t numel = 1;
    for (const std::int64_t size : sizes) numel *= size;
    return engine_.to(arange(numel), dtype).view(sizes);
  }
  Tensor on(Device device, const Tensor& tensor, bool is_non_blocking = false) {
    ToOptions options;
    options.device = device;
    options.non_blocking = is_non_blocking;
    return engine_.to(tensor, options);
  }
  /// Whether both tensors, wherever they are, have the same elements.
  void expect_same(const Tensor& a, const Tensor& b) {
    const Tensor x = engine_.contiguous(on(Device{}, a)), y = engine_.contiguous(on(Device{}, b));
    ASSERT_EQ(x.dtype(), y.dtype());
    ASSERT_TRUE(std::ranges::equal(x.sizes(), y.sizes())) << describe(a) << " " << describe(b);
    EXPECT_EQ(std::memcmp(x.data(), y.data(),
                          static_cast<std::size_t>(x.numel()) * itemsize_bytes(x.dtype())),
              0)
        << describe(a) << " and " << describe(b);
  }

  Engine engine_;
};

}  // namespace weft::test
