// The tile of a product that one block computes. Both sides come through shared memory, a slice of the depth
// at a time; each thread keeps high x wide cells in registers, so that every value it reads from shared
// memory serves 4 or 8 products. What a slice holds is the caller's: matrices, or the windows of a
// convolution.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/vector.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// Several groups of threads may share one tile: each sums its share of the depth, and a fixed tree joins
// them.
template <class Scalar, int kTileRows, int kTileColumns, int kHigh, int kWide, int kGroupCount = 1>
class BlockProduct {
 public:
  using T = Scalar;
  static constexpr int kRows = kTileRows, kColumns = kTileColumns, kDepth = 16, kGroups = kGroupCount;
  static constexpr int kGroupThreads = (kRows / kHigh) * (kColumns / kWide);
  static constexpr int kBlockThreads = kGroupThreads * kGroups;

  // side[p][row]: 16 bytes of padding spread the rows' banks where a slice is stored transposed, and keep
  // runs aligned.
  template <int kLength>
  using Slice = T[kDepth][kLength + Vector<T>::kWidth];
  struct alignas(16) Slices {
    Slice<kRows> a;
    Slice<kColumns> b;
  };
  // The sums reuse the slices' memory: add() ends with a barrier.
  union Shared {
    Slices slices[kGroups];
    T sums[kGroups > 1 ? kGroups / 2 : 1][kHigh * kWide][kGroups > 1 ? kGroupThreads : 1];
  };

  __device__ BlockProduct()
      : thread_(static_cast<int>(threadIdx.x) % kGroupThreads),
        group_(static_cast<int>(threadIdx.x) / kGroupThreads) {}

  // Within the group.
  __device__ int thread() const { return thread_; }

  // Where this group's share of the depth begins.
  __device__ std::int64_t first_depth(std::int64_t depth) const { return group_ * slices_of(depth) * kDepth; }

  // load(slices, first) fills the group's slices with depths first .. first + kDepth - 1, and with zeros
  // behind the end. All groups go through as many slices, for the barriers' sake.
  template <class Load>
  __device__ void add(Shared& shared, std::int64_t depth, const Load& load) {
    Slices& slices = shared.slices[group_];
    const std::int64_t begin = first_depth(depth), end = begin + slices_of(depth) * kDepth;
    for (std::int64_t first = begin; first < end; first += kDepth) {
      load(slices, first);
      __syncthreads();
      multiply(slices);
      __syncthreads();
    }
    if constexpr (kGroups > 1) join(shared);
  }

  // store(row, column, sum) for each cell of this thread, counted from the tile's corner; column by column.
  template <class Store>
  __device__ void for_each_cell(const Store& store) const {
    if (group_ != 0) return;
    WARPLINE_UNROLL
    for (int j = 0; j < kWide; ++j) {
      WARPLINE_UNROLL
      for (int i = 0; i < kHigh; ++i) store(row(i), column(j), cells_[i][j]);
    }
  }

 private:
  static __device__ std::int64_t slices_of(std::int64_t depth) {
    return (depth + kDepth * kGroups - 1) / (kDepth * kGroups);
  }

  // A thread's cells lie in runs of 16 bytes; neighbouring threads' runs are neighbours, so that a warp reads
  // shared memory without bank conflicts.
  template <int kLength, int kCells>
  static __device__ int place(int thread, int i) {
    constexpr int kRun = Vector<T>::kWidth;
    return i / kRun * (kLength / kCells * kRun) + thread * kRun + i % kRun;
  }
  __device__ int row(int i) const { return place<kRows, kHigh>(thread_ / (kColumns / kWide), i); }
  __device__ int column(int j) const { return place<kColumns, kWide>(thread_ % (kColumns / kWide), j); }

  __device__ void multiply(const Slices& slices) {
    constexpr int kRun = Vector<T>::kWidth;
    for (int p = 0; p < kDepth; ++p) {
      Vector<T> left[kHigh / kRun], right[kWide / kRun];
      for (int i = 0; i < kHigh / kRun; ++i) left[i] = load_vector(&slices.a[p][row(i * kRun)]);
      for (int j = 0; j < kWide / kRun; ++j) right[j] = load_vector(&slices.b[p][column(j * kRun)]);
      for (int i = 0; i < kHigh; ++i) {
        for (int j = 0; j < kWide; ++j) {
          cells_[i][j] += left[i / kRun].values[i % kRun] * right[j / kRun].values[j % kRun];
        }
      }
    }
  }

  // The upper half of the groups hands its sums to the lower half, until group 0 holds them all.
  __device__ void join(Shared& shared) {
    for (int half = kGroups / 2; half > 0; half /= 2) {
      if (group_ >= half && group_ < 2 * half) {
        for (int i = 0; i < kHigh * kWide; ++i) {
          shared.sums[group_ - half][i][thread_] = cells_[i / kWide][i % kWide];
        }
      }
      __syncthreads();
      if (group_ < half) {
        for (int i = 0; i < kHigh * kWide; ++i) {
          cells_[i / kWide][i % kWide] += shared.sums[group_][i][thread_];
        }
      }
      __syncthreads();
    }
  }

  int thread_, group_;
  T cells_[kHigh][kWide] = {};
};

// 8 x 8 cells a thread; 8 x 4 of double, which takes twice the registers.
template <class T>
using WideTile = BlockProduct<T, 64, 64, 8, sizeof(T) == 8 ? 4 : 8>;
// For products with few cells and long sums.
template <class T>
using DeepTile = BlockProduct<T, 32, 32, 4, 4, 4>;

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
