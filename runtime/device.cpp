// Names of devices.
#include <weft/device.h>

namespace weft {

std::string text(Device device) {
  switch (device.type) {
    case DeviceType::cpu: return "cpu";
    case DeviceType::cuda: return "cuda:" + std::to_string(device.index);
    case DeviceType::meta: return "meta";
  }
  __builtin_unreachable();
}

}  // namespace weft
