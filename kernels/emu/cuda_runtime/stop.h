// Ways for a kernel to end by itself, with an error that the next synchronisation returns.
#pragma once

#include <string>

#include "kernels/emu/cuda_runtime/driver_types.h"

namespace warpline::cuda {

// For the running CUDA thread. `check`: the word that opens the report.
[[noreturn]] void stop_kernel(cudaError_t error, const char* check, const std::string& why);

}  // namespace warpline::cuda
