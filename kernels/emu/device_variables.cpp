#include "kernels/emu/device_variables.h"

// The linker makes these of the section's name.
extern "C" {
__attribute__((weak)) extern char __start_warpline_device[], __stop_warpline_device[];
}

namespace warpline::emu {

DeviceSection device_section() {
  return {__start_warpline_device,
          static_cast<std::size_t>(__stop_warpline_device - __start_warpline_device)};
}

}  // namespace warpline::emu
