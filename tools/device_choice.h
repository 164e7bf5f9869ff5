// The device that `--device` and `--check` ask for.
#pragma once

#include <string>

#include "kernels/device.h"

namespace warpline::tools {

// "emu:1" and check, or WARPLINE_CHECK=1 or WARPLINE_PROFILE=1 in the environment: emu_checked:1. Throws
// DeviceError for a device that there is not, with what is missing for it, ValueError for a check of another
// one than `emu`.
Device choose_device(const std::string& text, bool check);

}  // namespace warpline::tools
