// The threads that share one piece of work, such as a row to sum: one thread, a warp or a block. A kernel
// written for a Team is all three: members take elements rank(), rank() + kSize, .. and reduce() makes one
// value of theirs, which each of them gets. Threads suit many short rows, blocks a few long ones. Blocks have
// kThreads threads along x.
//
// Teams stride by the grid over their work. Their members go through that loop together, so reduce() may
// wait.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/block_reduce.h"
#include "kernels/cuda/device/index.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

struct ThreadTeam {
  static constexpr int kSize = 1;
  static __device__ int rank() { return 0; }
  template <class T, class Combine>
  static __device__ T reduce(T value, Combine) {
    return value;
  }
};

struct WarpTeam {
  static constexpr int kSize = kWarp;
  static __device__ int rank() { return static_cast<int>(threadIdx.x % kWarp); }
  template <class T, class Combine>
  static __device__ T reduce(T value, Combine combine) {
    return warp_reduce(value, combine);
  }
};

struct BlockTeam {
  static constexpr int kSize = kThreads;
  static __device__ int rank() { return static_cast<int>(threadIdx.x); }
  template <class T, class Combine>
  static __device__ T reduce(T value, Combine combine) {
    return block_reduce<kThreads>(value, combine);
  }
};

// Place of this thread's team in the grid, and the teams of the grid.
template <class Team>
__device__ std::int64_t grid_team() {
  return grid_thread() / Team::kSize;
}
template <class Team>
__device__ std::int64_t grid_teams() {
  return grid_threads() / Team::kSize;
}

// Blocks for `count` > 0 teams.
template <class Team>
dim3 blocks_for_teams(std::int64_t count) {
  return blocks_for(count, kThreads / Team::kSize);
}

// Rows of this length are work enough for a warp: each lane has one element or more; and for a block: a few a
// thread, which outweigh its barriers.
constexpr std::int64_t kLongForThread = kWarp;
constexpr std::int64_t kLongForWarp = 4 * kThreads;

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
