// Step 4: each thread computes a column of 8 cells. A value of b that it reads from shared memory stays in a
// register for 8 products: step 3 was bound by its two shared-memory reads for each product.
#include "kernels/cuda/device/load_slice.h"
#include "kernels/cuda/device/product.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

constexpr int kRows = 64, kColumns = 64, kDepth = 8, kHigh = 8, kBlockThreads = kRows / kHigh * kColumns;

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    gemm_register_column_kernel(Product<T> product, std::int64_t column_tiles) {
  __shared__ T a[kDepth][kRows + 1], b[kDepth][kColumns + 1];
  const std::int64_t first_row = blockIdx.x / column_tiles * kRows;
  const std::int64_t first_column = blockIdx.x % column_tiles * kColumns;
  const int thread = static_cast<int>(threadIdx.x), row = thread / kColumns * kHigh,
            column = thread % kColumns;
  T sums[kHigh] = {};
  for (std::int64_t first = 0; first < product.a.depth; first += kDepth) {
    ScalarLoads::load<kRows, kBlockThreads>(a, product.a, first_row, first, thread);
    ScalarLoads::load<kColumns, kBlockThreads>(b, product.b, first_column, first, thread);
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      const T right = b[p][column];
      for (int i = 0; i < kHigh; ++i) sums[i] += a[p][row + i] * right;
    }
    __syncthreads();
  }
  for (int i = 0; i < kHigh; ++i) product.store(first_row + row + i, first_column + column, sums[i]);
}

}  // namespace

template <class T>
void gemm_register_column(const T* a, const T* b, T* c, const GemmArgs& args, const Stream& stream) {
  if (args.m == 0 || args.n == 0) return;
  const TileGrid grid(args.m, args.n, kRows, kColumns);
  launch<gemm_register_column_kernel<T>>(grid.blocks(), dim3(kBlockThreads), 0, stream,
                                         product_of(a, b, c, args), grid.column_tiles);
}

WARPLINE_INSTANTIATE_GEMM(gemm_register_column)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
