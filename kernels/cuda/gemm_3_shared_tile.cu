// Step 3: a block computes 16 x 16 cells, and copies what they need to shared memory first, 32 steps of the
// sum at a time. Each value now leaves global memory once a tile, not once a cell: a sixteenth of the
// traffic.
#include "kernels/cuda/device/load_slice.h"
#include "kernels/cuda/device/product.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

constexpr int kSide = 16, kDepth = 32;

template <class T>
__global__ void gemm_shared_tile_kernel(Product<T> product, std::int64_t column_tiles) {
  __shared__ T a[kDepth][kSide + 1], b[kDepth][kSide + 1];  // [depth][row]; the odd length spreads the banks
  const std::int64_t first_row = blockIdx.x / column_tiles * kSide;
  const std::int64_t first_column = blockIdx.x % column_tiles * kSide;
  const int thread = static_cast<int>(threadIdx.x), row = thread / kSide, column = thread % kSide;
  T sum = 0;
  for (std::int64_t first = 0; first < product.a.depth; first += kDepth) {
    ScalarLoads::load<kSide, kSide * kSide>(a, product.a, first_row, first, thread);
    ScalarLoads::load<kSide, kSide * kSide>(b, product.b, first_column, first, thread);
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) sum += a[p][row] * b[p][column];
    __syncthreads();
  }
  product.store(first_row + row, first_column + column, sum);
}

}  // namespace

template <class T>
void gemm_shared_tile(const T* a, const T* b, T* c, const GemmArgs& args, const Stream& stream) {
  if (args.m == 0 || args.n == 0) return;
  const TileGrid grid(args.m, args.n, kSide, kSide);
  launch<gemm_shared_tile_kernel<T>>(grid.blocks(), dim3(kSide * kSide), 0, stream, product_of(a, b, c, args),
                                     grid.column_tiles);
}

WARPLINE_INSTANTIATE_GEMM(gemm_shared_tile)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
