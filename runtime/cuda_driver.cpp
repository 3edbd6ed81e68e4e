// What the CUDA driver's results mean.
#include "runtime/cuda_driver.h"

namespace weft {

namespace constant = cuda_driver_constant;

std::string CudaDriver::text(CudaResult result) const {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (GetErrorName == nullptr || GetErrorName(result, &name) != 0 || name == nullptr)
    return detail::concat("CUDA error ", result);
  if (GetErrorString(result, &sentence) != 0 || sentence == nullptr) return name;
  return detail::concat(name, ": ", sentence);
}

std::string CudaDriver::advice(CudaResult result) const {
  switch (result) {
    case constant::error_no_device:
      return "; the driver sees no GPU: see nvidia-smi and CUDA_VISIBLE_DEVICES";
    case constant::error_stub_library:
      return "; this libcuda is the toolkit's stub for linking: WEFT_CUDA_DRIVER names the "
             "driver's";
    case constant::error_system_driver_mismatch:
      return "; libcuda and the kernel module are of different versions: reload the module or "
             "restart the machine";
    case constant::error_illegal_address:
    case constant::error_launch_failed:
      return "; the process can't use the device any more; compute-sanitizer finds the access";
    default: return {};
  }
}

void detail::throw_cuda_error(CudaResult result, std::string_view function,
                              const std::string& doing) {
  const CudaDriver& driver = cuda_driver();
  throw DeviceError(detail::concat(doing, doing.empty() ? "" : ": ", function, " says ",
                                   driver.text(result), driver.advice(result)));
}

}  // namespace weft
