// The runtime of `cuda`: a GPU's memory, streams and copies. A build without nvcc has absent.cpp in its
// place.
#pragma once

#include "kernels/runtime.h"

namespace warpline::cuda {

// Throws DeviceError where this build or this machine has no CUDA, and says what is missing.
Runtime& runtime();

}  // namespace warpline::cuda
