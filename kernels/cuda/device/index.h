// Which work a CUDA thread does. Offsets are int64: products of int32 sizes overflow.
#pragma once

#include <cstdint>

#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// Threads of a block in kernels that treat each element by itself.
constexpr int kThreads = 256;

// Place of this thread in the grid, and the threads of the grid, along x: for loops that stride by the grid.
__device__ inline std::int64_t grid_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_threads() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Blocks for a loop that strides by the grid over `count` > 0 elements: no more than keep a GPU busy.
inline dim3 blocks_for(std::int64_t count, int threads = kThreads) {
  constexpr std::int64_t kMost = 4096;
  const std::int64_t blocks = ceil_div(count, threads);
  return dim3(static_cast<unsigned>(blocks < kMost ? blocks : kMost));
}

// A grid has at most 65,535 blocks along y and z: whoever may need more strides by the grid.
inline unsigned blocks_along_y(std::int64_t wanted) {
  return static_cast<unsigned>(wanted < 65535 ? wanted : 65535);
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
