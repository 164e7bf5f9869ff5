// A block's tile of a matrix product.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/block_product.h"
#include "kernels/cuda/device/load_slice.h"
#include "kernels/cuda/device/product.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// Block blockIdx.x of a TileGrid; Loads is how slices get to shared memory.
template <class Tile, class Loads>
__device__ void compute_tile(const Product<typename Tile::T>& product, std::int64_t column_tiles, Loads) {
  using T = typename Tile::T;
  __shared__ typename Tile::Shared shared;
  const std::int64_t first_row = blockIdx.x / column_tiles * Tile::kRows;
  const std::int64_t first_column = blockIdx.x % column_tiles * Tile::kColumns;
  Tile tile;
  tile.add(shared, product.a.depth, [&](typename Tile::Slices& slices, std::int64_t first) {
    Loads::template load<Tile::kRows, Tile::kGroupThreads>(slices.a, product.a, first_row, first,
                                                           tile.thread());
    Loads::template load<Tile::kColumns, Tile::kGroupThreads>(slices.b, product.b, first_column, first,
                                                              tile.thread());
  });
  tile.for_each_cell(
      [&](int row, int column, T sum) { product.store(first_row + row, first_column + column, sum); });
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
