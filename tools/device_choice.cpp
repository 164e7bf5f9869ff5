#include "tools/device_choice.h"

#include <cstdlib>
#include <string_view>

#include "kernels/cuda/support.h"
#include "kernels/emu/profile/environment.h"
#include "kernels/error.h"

namespace warpline::tools {

Device choose_device(const std::string& text, bool check) {
  Device device = parse_device(text);
  const char* const variable = std::getenv("WARPLINE_CHECK");
  const bool wanted = check || (variable != nullptr && variable == std::string_view("1")) ||
                      emu::profile::wanted_by_environment();
  if (device.kind == DeviceKind::Emu && wanted) device.kind = DeviceKind::EmuChecked;
  if (check && device.kind != DeviceKind::EmuChecked) {
    fail<ValueError>("--check", "only the kernels of emu can be checked: the device is {}; use --device emu",
                     text);
  }
  if (device.kind == DeviceKind::Cuda) cuda::require_device(device.index);
  return device;
}

}  // namespace warpline::tools
