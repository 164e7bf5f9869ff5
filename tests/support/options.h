// Options of a test binary beside Catch2's own. A test file offers those that mean something to it with
// `const Offers offers{true, true};` at namespace scope.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/device.h"

namespace warpline::test {

struct Options {
  std::optional<DeviceKind> device;  // --device; none: all that are built in
  std::uint64_t seed = 1;            // --seed
};

const Options& options();

struct Offers {
  Offers(bool device, bool seed);
};

// The kinds of device that a device-independent test runs on: `cuda` where there is a GPU. Builds with a
// sanitizer leave out `emu_checked`, which is as slow again and checks the same kernels.
std::vector<DeviceKind> device_kinds();

}  // namespace warpline::test
