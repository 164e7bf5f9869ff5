// Ways to make one value of two, for element-wise kernels and for reductions. Each gives the same value with
// its operands swapped, as warp_reduce wants. Larger and Smaller are for numbers: what they make of NaN
// depends on its side.
#pragma once

#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Times {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};

struct Smaller {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
