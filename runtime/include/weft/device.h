// Where a tensor's bytes are.
#pragma once

#include <cstdint>
#include <string>

namespace [[gnu::visibility("default")]] weft {

enum class DeviceType : std::uint8_t {
  cpu,
  cuda,
  meta,  ///< nowhere: sizes, strides and dtype only
};

struct Device {
  DeviceType type = DeviceType::cpu;
  std::int16_t index = 0;
  friend constexpr bool operator==(Device, Device) = default;
};

std::string text(Device device);  ///< "cpu", "cuda:0", "meta"

}  // namespace weft
