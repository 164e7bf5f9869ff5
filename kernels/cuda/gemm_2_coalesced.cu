// Step 2: neighbouring threads compute neighbouring *columns* of c. The 32 loads of a warp from b now fall
// into whole sectors, those from a into one address, and its stores are contiguous.
#include "kernels/cuda/device/product.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

constexpr int kHigh = 8, kWide = 32;

template <class T>
__global__ void gemm_coalesced_kernel(Product<T> product, std::int64_t column_tiles) {
  const std::int64_t row = blockIdx.x / column_tiles * kHigh + threadIdx.y;
  const std::int64_t column = blockIdx.x % column_tiles * kWide + threadIdx.x;
  if (!product.inside(row, column)) return;
  T sum = 0;
  for (std::int64_t p = 0; p < product.a.depth; ++p) {
    const T left = product.a.at(row, p);
    const T right = product.b.at(column, p);
    sum += left * right;
  }
  product.store(row, column, sum);
}

}  // namespace

template <class T>
void gemm_coalesced(const T* a, const T* b, T* c, const GemmArgs& args, const Stream& stream) {
  if (args.m == 0 || args.n == 0) return;
  const TileGrid grid(args.m, args.n, kHigh, kWide);
  launch<gemm_coalesced_kernel<T>>(grid.blocks(), dim3(kWide, kHigh), 0, stream, product_of(a, b, c, args),
                                   grid.column_tiles);
}

WARPLINE_INSTANTIATE_GEMM(gemm_coalesced)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
