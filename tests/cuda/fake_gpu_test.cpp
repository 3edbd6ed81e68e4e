#include "tests/cuda/fake_gpu_test.h"

namespace weft::test {
namespace {

/// Before anything asks for CUDA.  What the environment says already stays.
const bool is_named = [] {
  setenv("WEFT_CUDA_DRIVER", WEFT_FAKE_GPU, 0);
  setenv("WEFT_NVRTC", WEFT_FAKE_GPU, 0);
  return true;
}();

}  // namespace

const FakeGpu& fake_gpu() {
  static const FakeGpu found = [] {
    FakeGpu gpu{};
    void* const handle = dlopen(WEFT_FAKE_GPU, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr || !is_named) std::abort();
    const auto find = [handle](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (function == nullptr) std::abort();
    };
    find("fake_gpu_reset", gpu.reset);
    find("fake_gpu_fail", gpu.fail_with);
    find("fake_gpu_count", gpu.count);
    find("fake_gpu_log", gpu.log);
    find("fake_gpu_fault", gpu.fault);
    find("fake_gpu_set_memory", gpu.set_memory);
    find("fake_gpu_set_pools", gpu.set_pools);
    find("fake_gpu_capture", gpu.capture);
    find("fake_gpu_live_blocks", gpu.live_blocks);
    find("fake_gpu_pending", gpu.pending);
    return gpu;
  }();
  return found;
}

}  // namespace weft::test
