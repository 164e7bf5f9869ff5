// What every kernel source includes: CUDA's names, from nvcc or from the emulator, and
// `launch<kernel>(grid, block, shared_bytes, stream, arguments...)`. A source is compiled once for each
// target; WARPLINE_CUDA_TARGET names the target's namespace in warpline::kernels, so that all of them fit in
// one binary. C++17: older CUDA releases compile it too.
#pragma once

// Before a loop whose rounds index what must stay in registers: nvcc does not unroll all of them by itself.
#ifdef __CUDACC__
#define WARPLINE_UNROLL _Pragma("unroll")
#include "kernels/cuda/nvcc.h"
#else
#define WARPLINE_UNROLL
#include "kernels/emu/cuda.h"
#include "kernels/emu/launch.h"
namespace warpline::kernels::WARPLINE_CUDA_TARGET {
using namespace ::warpline::emu;  // NOLINT(google-build-using-namespace): CUDA's names stand alone in kernels
}
#endif
