// Where a tensor lives. Devices are values: `cpu:0` and `cpu:1` share the host's memory yet are different
// devices, so that a forgotten transfer between ranks is an error on a laptop as it is on GPUs.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpline {

enum class DeviceKind : std::uint8_t {
  Ref,  // slow, obvious loops that accumulate in double: the definition of each op
  Cpu,  // fast native code
};

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;
  auto operator<=>(const Device&) const = default;
};

std::string_view to_string(DeviceKind kind);
std::string to_string(Device device);              // "cpu:0"
DeviceKind parse_device_kind(std::string_view s);  // "ref", "cpu"; throws DeviceError, which lists the kinds
Device parse_device(std::string_view text);        // "cpu" is cpu:0; throws DeviceError

}  // namespace warpline
