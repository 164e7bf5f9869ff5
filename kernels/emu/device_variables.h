// Variables under `__device__`: tools/emu-nvcc puts them into one section of the program. The one copy of
// them serves all devices.
#pragma once

#include <cstddef>

namespace warpline::emu {

struct DeviceSection {
  char* begin = nullptr;
  std::size_t bytes = 0;  // 0: the program has none
};
DeviceSection device_section();

inline bool is_device_variable(const void* address) {
  const DeviceSection section = device_section();
  const auto* const byte = static_cast<const char*>(address);
  return byte >= section.begin && byte < section.begin + section.bytes;
}

}  // namespace warpline::emu
