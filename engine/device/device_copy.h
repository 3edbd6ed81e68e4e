// Copies between the CPU and CUDA devices, and from one device to another.
#pragma once

#include <weft/engine.h>

namespace weft {

/// Whether copies of this thread may return before they are done, while this lives.
class [[nodiscard]] NonBlockingCopies {
 public:
  explicit NonBlockingCopies(bool is_non_blocking);
  ~NonBlockingCopies();
  NonBlockingCopies(const NonBlockingCopies&) = delete;
  NonBlockingCopies& operator=(const NonBlockingCopies&) = delete;

  static bool are_asked_for();

 private:
  bool before_;
};

/// compute_copy() for tensors of different devices.  What is dense and alike on both sides is moved
/// as it is; otherwise one side packs its elements or takes them apart, and converts them, the one
/// that has fewer bytes moved by it, or the device if the call is not to wait.
void copy_between_devices(Engine::State& state, const Tensor& dst, const Tensor& src,
                          bool is_non_blocking);

}  // namespace weft
