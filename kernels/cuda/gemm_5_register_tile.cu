// Step 5: each thread computes 8 x 8 cells (of double 8 x 4). The 16 values that it reads from shared memory
// serve 64 products, where step 4 read 9 for 8.
#include "kernels/cuda/device/compute_tile.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

template <class T>
__global__ void gemm_register_tile_kernel(Product<T> product, std::int64_t column_tiles) {
  compute_tile<WideTile<T>>(product, column_tiles, ScalarLoads());
}

}  // namespace

template <class T>
void gemm_register_tile(const T* a, const T* b, T* c, const GemmArgs& args, const Stream& stream) {
  if (args.m == 0 || args.n == 0) return;
  using Tile = WideTile<T>;
  const TileGrid grid(args.m, args.n, Tile::kRows, Tile::kColumns);
  launch<gemm_register_tile_kernel<T>>(grid.blocks(), dim3(Tile::kBlockThreads), 0, stream,
                                       product_of(a, b, c, args), grid.column_tiles);
}

WARPLINE_INSTANTIATE_GEMM(gemm_register_tile)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
