// The built-in variables of a kernel, of the CUDA thread that runs on this OS thread.
#pragma once

#include "kernels/emu/dim3.h"

namespace warpline::emu {

extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

}  // namespace warpline::emu
