// Sums over a block in a fixed tree: two runs give the same bits.
#pragma once

#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// Sums each of `values` over the kThreads threads of a one-dimensional block. Afterwards shared[i][0] holds
// sum i, for every thread to read: a block uses it for one call. A warp adds up the block's values first and
// shuffles then, so that one warp shuffles for a sum, not all.
template <int kCount, int kThreads, class T>
__device__ void block_sums(const T (&values)[kCount], T (&shared)[kCount][kThreads]) {
  static_assert(kThreads % 32 == 0, "a shuffle names whole warps");
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int i = 0; i < kCount; ++i) shared[i][thread] = values[i];
  __syncthreads();
  for (int i = thread / 32; i < kCount; i += kThreads / 32) {
    T sum = shared[i][lane];
    for (int other = lane + 32; other < kThreads; other += 32) sum += shared[i][other];
    for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(~0U, sum, delta);
    if (lane == 0) shared[i][0] = sum;
  }
  __syncthreads();
}

// The sum of `value` over the block, in every thread.
template <int kThreads, class T>
__device__ T block_sum(T value, T (&shared)[1][kThreads]) {
  const T values[1] = {value};
  block_sums(values, shared);
  return shared[0][0];
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
