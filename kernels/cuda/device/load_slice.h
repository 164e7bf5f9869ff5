// Copies a slice of a matrix to shared memory: slice[p][row] = x(first_row + row, first_depth + p), 0 outside
// the matrix. Neighbouring threads read neighbouring elements whichever way the matrix is stored.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/product.h"
#include "kernels/cuda/device/vector.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

struct ScalarLoads {
  template <int kRows, int kThreads, class T, int kDepth, int kPitch>
  static __device__ void load(T (&slice)[kDepth][kPitch], const Operand<T>& x, std::int64_t first_row,
                              std::int64_t first_depth, int thread) {
    const bool along_rows = x.row_stride == 1;
    for (int i = thread; i < kRows * kDepth; i += kThreads) {
      const int row = along_rows ? i % kRows : i / kDepth;
      const int p = along_rows ? i / kRows : i % kDepth;
      slice[p][row] = x.at_or_zero(first_row + row, first_depth + p);
    }
  }
};

// 16 bytes a load. The matrix begins at a multiple of 16 bytes and so does each of its rows as stored: a
// vector lies inside the matrix or outside. Along the depth, a vector is transposed on its way.
struct VectorLoads {
  template <int kRows, int kThreads, class T, int kDepth, int kPitch>
  static __device__ void load(T (&slice)[kDepth][kPitch], const Operand<T>& x, std::int64_t first_row,
                              std::int64_t first_depth, int thread) {
    constexpr int kWidth = Vector<T>::kWidth;
    const bool along_rows = x.row_stride == 1;
    for (int i = thread; i < kRows * kDepth / kWidth; i += kThreads) {
      const int row = along_rows ? i % (kRows / kWidth) * kWidth : i / (kDepth / kWidth);
      const int p = along_rows ? i / (kRows / kWidth) : i % (kDepth / kWidth) * kWidth;
      Vector<T> vector{};
      if (x.inside(first_row + row, first_depth + p))
        vector = load_vector(x.address(first_row + row, first_depth + p));
      if (along_rows) {
        store_vector(&slice[p][row], vector);
      } else {
        for (int v = 0; v < kWidth; ++v) slice[p + v][row] = vector.values[v];
      }
    }
  }
};

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
