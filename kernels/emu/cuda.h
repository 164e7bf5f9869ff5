// What a kernel's source includes on the host: CUDA's names, meaning the emulator.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/emu/atomic.h"
#include "kernels/emu/index.h"
#include "kernels/emu/warp.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
// A block runs on one OS thread, which runs one block at a time.
#define __shared__ static thread_local

namespace warpline::emu {

inline void __syncthreads(Site site = Site::here(__builtin_FILE(), __builtin_LINE())) { barrier(site); }

// The dynamic shared memory of the block.
template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(warpline_dynamic_shared);
}

}  // namespace warpline::emu
