// One value of the 32 that the lanes of a warp hold. In step 1 lane i meets lane i ^ 16, then i ^ 8, 4, 2 and
// 1: a tree in which both sides compute each node, so that every lane ends with the result, and with the same
// bits:
//
//   i ^ 16     0+16  1+17  ..  15+31  16+0  ..  31+15
//   i ^ 8      (0+16)+(8+24)  ..
#pragma once

#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

constexpr int kWarp = 32;

// All lanes of the warp must call it. combine(a, b) = combine(b, a).
template <class T, class Combine>
__device__ T warp_reduce(T value, Combine combine) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(~0U, value, distance));
  }
  return value;
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
