// One value of those that the threads of a block hold, in an order that depends on the block's size only:
// each warp makes one, then every thread reads these and combines them, from the first warp to the last.
#pragma once

#include "kernels/cuda/device/warp_reduce.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// All threads of the block must call it; each gets the result. Threads: the block's, along x.
template <int Threads, class T, class Combine>
__device__ T block_reduce(T value, Combine combine) {
  static_assert(Threads % kWarp == 0, "each warp is whole");
  __shared__ T of_warp[Threads / kWarp];
  value = warp_reduce(value, combine);
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = of_warp[0];
  for (int warp = 1; warp < Threads / kWarp; ++warp) value = combine(value, of_warp[warp]);
  __syncthreads();  // the next call overwrites of_warp
  return value;
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
