#include "tools/device_choice.h"

#include "kernels/cuda/support.h"
#include "kernels/emu/environment.h"
#include "kernels/emu/profile/environment.h"
#include "kernels/error.h"

namespace warpline::tools {

Device choose_device(const std::string& text, bool check) {
  Device device = parse_device(text);
  const bool by_environment = emu::is_switched_on("WARPLINE_CHECK"),
             counted = emu::profile::wanted_by_environment();
  const bool wanted = check || by_environment || counted;
  if (device.kind == DeviceKind::Emu && wanted) device.kind = DeviceKind::EmuChecked;
  if (check && device.kind != DeviceKind::EmuChecked) {
    fail<ValueError>("--check", "only the kernels of emu can be checked: the device is {}; use --device emu",
                     text);
  }
  if (device.kind == DeviceKind::Cuda) cuda::require_device(device.index);
  return device;
}

}  // namespace warpline::tools
