// Several sums over a block at once, in a fixed tree; block_reduce.h has one of any kind.
#pragma once

#include "kernels/cuda/device/combine.h"
#include "kernels/cuda/device/warp_reduce.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// Sums each of `values` over the kThreads threads of a one-dimensional block. Afterwards shared[i][0] holds
// sum i, for every thread to read: a block uses it for one call. A warp adds up the block's values first and
// shuffles then, so that one warp shuffles for a sum, not all.
template <int kCount, int kThreads, class T>
__device__ void block_sums(const T (&values)[kCount], T (&shared)[kCount][kThreads]) {
  static_assert(kThreads % kWarp == 0, "each warp is whole");
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp;
  for (int i = 0; i < kCount; ++i) shared[i][thread] = values[i];
  __syncthreads();
  for (int i = thread / kWarp; i < kCount; i += kThreads / kWarp) {
    T sum = shared[i][lane];
    for (int other = lane + kWarp; other < kThreads; other += kWarp) sum += shared[i][other];
    sum = warp_reduce(sum, Plus{});
    if (lane == 0) shared[i][0] = sum;
  }
  __syncthreads();
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
