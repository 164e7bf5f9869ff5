// Launches a kernel on a GPU, and gives the names that the emulator has beside CUDA's own.
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "kernels/stream.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// Throws Failure with CUDA's words for a launch that was refused; the runtime of target `cuda`, which
// is still to come, defines it.
void check_launch(const char* kernel);

template <auto Kernel, class... Arguments>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, const Stream& stream, Arguments... arguments) {
  Kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream.native)>>>(arguments...);
  check_launch(__PRETTY_FUNCTION__);
}

// The dynamic shared memory of the block.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char warpline_dynamic_shared[];
  return reinterpret_cast<T*>(warpline_dynamic_shared);
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
