// Step 1: one thread computes one cell of c and reads a whole row of a and column of b for it. Neighbouring
// threads take neighbouring *rows*, so each of a warp's 32 loads of a touches another 32-byte sector.
#include "kernels/cuda/device/index.h"
#include "kernels/cuda/device/scalar.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

constexpr int kHigh = 32, kWide = 8;

template <class T>
__global__ void gemm_naive_kernel(const T* a, const T* b, T* c, GemmArgs args, T alpha, T beta) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kHigh + threadIdx.x;
  for (std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * kWide + threadIdx.y; column < args.n;
       column += static_cast<std::int64_t>(gridDim.y) * kWide) {
    if (row >= args.m) return;
    T sum = 0;
    if (alpha != T{0}) {
      for (std::int64_t p = 0; p < args.k; ++p) {
        const T left = args.transpose_a ? a[p * args.m + row] : a[row * args.k + p];
        const T right = args.transpose_b ? b[column * args.k + p] : b[p * args.n + column];
        sum += left * right;
      }
      sum *= alpha;
    }
    T& cell = c[row * args.n + column];
    cell = beta == T{0} ? sum : sum + beta * cell;
  }
}

}  // namespace

template <class T>
void gemm_naive(const T* a, const T* b, T* c, const GemmArgs& args, const Stream& stream) {
  if (args.m == 0 || args.n == 0) return;
  const dim3 grid(static_cast<unsigned>(ceil_div(args.m, kHigh)), blocks_along_y(ceil_div(args.n, kWide)));
  launch<gemm_naive_kernel<T>>(grid, dim3(kHigh, kWide), 0, stream, a, b, c, args, factor<T>(args.alpha),
                               factor<T>(args.beta));
}

template void gemm_naive<float>(const float*, const float*, float*, const GemmArgs&, const Stream&);
template void gemm_naive<double>(const double*, const double*, double*, const GemmArgs&, const Stream&);
template void gemm_naive<std::uint32_t>(const std::uint32_t*, const std::uint32_t*, std::uint32_t*,
                                        const GemmArgs&, const Stream&);

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
