// Where a tensor lives. Devices are values: `cpu:0` and `cpu:1` share the host's memory yet are different
// devices, so that a forgotten transfer between ranks is an error on a laptop as it is on GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpline {

enum class DeviceKind : std::uint8_t {
  Ref,         // slow, obvious loops that accumulate in double: the definition of each op
  Cpu,         // fast native code
  Cuda,        // the CUDA kernels, on a GPU
  Emu,         // the same kernels, on an emulator of the CUDA execution model
  EmuChecked,  // as Emu, every memory access checked: `--check`
};

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;

  // Spelled out: kernel sources include this as C++17.
  friend bool operator==(Device a, Device b) { return a.kind == b.kind && a.index == b.index; }
  friend bool operator!=(Device a, Device b) { return !(a == b); }
  friend bool operator<(Device a, Device b) { return a.kind != b.kind ? a.kind < b.kind : a.index < b.index; }
};

std::string_view to_string(DeviceKind kind);
std::string to_string(Device device);              // "cpu:0"
DeviceKind parse_device_kind(std::string_view s);  // "ref"; throws DeviceError, which lists the kinds
Device parse_device(std::string_view text);        // "cpu" is cpu:0; throws DeviceError

}  // namespace warpline
