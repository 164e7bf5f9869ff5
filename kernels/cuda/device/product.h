// A matrix product as its kernels see it: both sides as rows x depth, so that c[i, j] is the sum over p of
// a(i, p) * b(j, p), whichever way the matrices are stored.
#pragma once

#include <cstdint>

#include "kernels/args.h"
#include "kernels/cuda/device/index.h"
#include "kernels/cuda/device/scalar.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// One of the strides is 1.
template <class T>
struct Operand {
  const T* data;
  std::int64_t rows, depth, row_stride, depth_stride;

  __device__ bool inside(std::int64_t row, std::int64_t p) const { return row < rows && p < depth; }
  __device__ const T* address(std::int64_t row, std::int64_t p) const {
    return data + row * row_stride + p * depth_stride;
  }
  __device__ T at(std::int64_t row, std::int64_t p) const { return *address(row, p); }
  // What a tile holds outside the matrix: zeros add nothing to a sum.
  __device__ T at_or_zero(std::int64_t row, std::int64_t p) const {
    return inside(row, p) ? at(row, p) : T{0};
  }
};

template <class T>
struct Product {
  Operand<T> a, b;
  T* c;
  T alpha, beta;

  __device__ bool inside(std::int64_t row, std::int64_t column) const {
    return row < a.rows && column < b.rows;
  }
  // beta = 0 never reads c, which may hold NaN.
  __device__ void store(std::int64_t row, std::int64_t column, T sum) const {
    if (!inside(row, column)) return;
    T& cell = c[row * b.rows + column];
    cell = beta == T{0} ? alpha * sum : alpha * sum + beta * cell;
  }
};

// alpha = 0 reads neither a nor b: the sums are empty.
template <class T>
Product<T> product_of(const T* a, const T* b, T* c, const GemmArgs& args) {
  const T alpha = factor<T>(args.alpha);
  const std::int64_t depth = alpha == T{0} ? 0 : args.k;
  const Operand<T> left =
      args.transpose_a ? Operand<T>{a, args.m, depth, 1, args.m} : Operand<T>{a, args.m, depth, args.k, 1};
  const Operand<T> right =
      args.transpose_b ? Operand<T>{b, args.n, depth, args.k, 1} : Operand<T>{b, args.n, depth, 1, args.n};
  return {left, right, c, alpha, factor<T>(args.beta)};
}

// The blocks of a grid that covers rows x columns cells with tiles: all along x, which alone is long enough
// for any matrix. Tiles of one row of tiles follow each other.
struct TileGrid {
  std::int64_t row_tiles, column_tiles;
  TileGrid(std::int64_t rows, std::int64_t columns, int tile_rows, int tile_columns)
      : row_tiles(ceil_div(rows, tile_rows)), column_tiles(ceil_div(columns, tile_columns)) {}
  dim3 blocks(std::int64_t times = 1) const {
    return dim3(static_cast<unsigned>(times * row_tiles * column_tiles));
  }
};

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET

#define WARPLINE_INSTANTIATE_GEMM(gemm)                                                              \
  template void gemm<float>(const float*, const float*, float*, const GemmArgs&, const Stream&);     \
  template void gemm<double>(const double*, const double*, double*, const GemmArgs&, const Stream&); \
  template void gemm<std::uint32_t>(const std::uint32_t*, const std::uint32_t*, std::uint32_t*,      \
                                    const GemmArgs&, const Stream&);
