// The built-in variables of a kernel, of the CUDA thread that runs on this OS thread.
#pragma once

#include "kernels/emu/dim3.h"

namespace warpline::emu {

// __thread: nothing to construct, so no call at each use, in C++17 as well.
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

}  // namespace warpline::emu
