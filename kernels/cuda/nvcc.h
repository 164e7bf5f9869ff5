// Launches a kernel on a GPU, and gives the names that the emulator has beside CUDA's own.
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "kernels/cuda/launch.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

template <auto Kernel, class... Arguments>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, const Stream& stream, Arguments... arguments) {
  cuda::before_launch(stream);
  Kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream.native)>>>(arguments...);
  cuda::after_launch(__PRETTY_FUNCTION__, stream);
}

// The dynamic shared memory of the block.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char warpline_dynamic_shared[];
  return reinterpret_cast<T*>(warpline_dynamic_shared);
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
