// What this build and this machine have of CUDA, and what is missing for `--device cuda`.
#pragma once

#include <string>
#include <vector>

namespace warpline::cuda {

struct Support {
  std::string runtime = {};            // the CUDA release that is linked into this build; empty: none
  std::string architectures = {};      // of the device code in this build: "80, 90"
  std::string driver = {};             // the newest CUDA that the driver serves; empty: no driver
  std::vector<std::string> gpus = {};  // by device index: "NVIDIA A100, compute capability 8.0, 40 GiB"
  std::string missing = {};  // what keeps `cuda` devices away, and the next step; empty: nothing does
};

// The machine is asked once.
const Support& support();

// DeviceError where there is no such device.
void require_device(int index);

}  // namespace warpline::cuda
