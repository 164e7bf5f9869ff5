// The ways in which ranks talk. A back end is one file that implements PointToPoint
// (parallel/point_to_point.h), one row here, and a test file that runs the communicator suite on it.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/device.h"

namespace warpline::parallel {

struct Backend {
  std::string_view name;
  std::string_view ranks;    // what a rank is
  std::string_view devices;  // that its messages reach
};

const std::vector<Backend>& backends();
const Backend& find_backend(std::string_view name);  // ValueError, which lists those that exist

// ValueError where that many ranks on such devices cannot talk by this back end.
void check_devices(const Backend& backend, DeviceKind kind, int ranks);

}  // namespace warpline::parallel
