#include "kernels/device.h"

#include <charconv>

#include "kernels/error.h"

namespace warpline {

std::string_view to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Ref:
      return "ref";
    case DeviceKind::Cpu:
      return "cpu";
    case DeviceKind::Cuda:
      return "cuda";
    case DeviceKind::Emu:
      return "emu";
    case DeviceKind::EmuChecked:
      return "emu_checked";
  }
  return "?";
}

std::string to_string(Device device) { return fmt::format("{}:{}", to_string(device.kind), device.index); }

DeviceKind parse_device_kind(std::string_view text) {
  for (DeviceKind kind :
       {DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Emu, DeviceKind::EmuChecked}) {
    if (text == to_string(kind)) return kind;
  }
  fail<DeviceError>("device", "no device kind is called '{}'; there are ref, cpu, cuda, emu and emu_checked",
                    text);
}

Device parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  Device device{parse_device_kind(text.substr(0, colon)), 0};
  if (colon == std::string_view::npos) return device;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), device.index);
  if (error != std::errc{} || end != digits.data() + digits.size() || device.index < 0) {
    fail<DeviceError>("device", "'{}' has no index after its colon; write cpu or cpu:1", text);
  }
  return device;
}

}  // namespace warpline
