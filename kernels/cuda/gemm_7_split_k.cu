// Step 7: products with few cells and long sums (a small batch, weight gradients) have too few tiles to fill
// a GPU. Smaller tiles, and four groups of threads in a block that each sum a quarter of the depth:
// the block joins them in a fixed tree, so two runs give the same bits and no workspace is needed.
#include "kernels/cuda/device/compute_tile.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

template <class T>
__global__ void gemm_split_k_kernel(Product<T> product, std::int64_t column_tiles) {
  compute_tile<DeepTile<T>>(product, column_tiles, ScalarLoads());
}

}  // namespace

// Few tiles of step 6, and at least 4 slices for each group.
bool gemm_split_k_supports(const GemmArgs& args) {
  return args.k >= 256 && ceil_div(args.m, 64) * ceil_div(args.n, 64) <= 32;
}

template <class T>
void gemm_split_k(const T* a, const T* b, T* c, const GemmArgs& args, const Stream& stream) {
  if (args.m == 0 || args.n == 0) return;
  using Tile = DeepTile<T>;
  const TileGrid grid(args.m, args.n, Tile::kRows, Tile::kColumns);
  launch<gemm_split_k_kernel<T>>(grid.blocks(), dim3(Tile::kBlockThreads), 0, stream,
                                 product_of(a, b, c, args), grid.column_tiles);
}

WARPLINE_INSTANTIATE_GEMM(gemm_split_k)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
