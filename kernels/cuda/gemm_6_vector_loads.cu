// Step 6: global memory is read 16 bytes at a time, a quarter of step 5's load instructions for float; what
// lies along the depth is transposed on its way to shared memory. Rows must be multiples of 16 bytes.
#include <cstdint>

#include "kernels/cuda/device/compute_tile.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

template <class T>
__global__ void gemm_vector_loads_kernel(Product<T> product, std::int64_t column_tiles) {
  compute_tile<WideTile<T>>(product, column_tiles, VectorLoads());
}

bool begins_a_vector(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }

}  // namespace

template <class T>
bool gemm_vector_loads_supports(const GemmArgs& args) {
  const std::int64_t row_of_a = args.transpose_a ? args.m : args.k,
                     row_of_b = args.transpose_b ? args.k : args.n;
  return row_of_a % Vector<T>::kWidth == 0 && row_of_b % Vector<T>::kWidth == 0;
}

// A contiguous view may begin at any element, which `supports` cannot see: step 5 takes those.
template <class T>
void gemm_vector_loads(const T* a, const T* b, T* c, const GemmArgs& args, const Stream& stream) {
  if (!begins_a_vector(a) || !begins_a_vector(b)) return gemm_register_tile(a, b, c, args, stream);
  if (args.m == 0 || args.n == 0) return;
  using Tile = WideTile<T>;
  const TileGrid grid(args.m, args.n, Tile::kRows, Tile::kColumns);
  launch<gemm_vector_loads_kernel<T>>(grid.blocks(), dim3(Tile::kBlockThreads), 0, stream,
                                      product_of(a, b, c, args), grid.column_tiles);
}

WARPLINE_INSTANTIATE_GEMM(gemm_vector_loads)
template bool gemm_vector_loads_supports<float>(const GemmArgs&);
template bool gemm_vector_loads_supports<double>(const GemmArgs&);
template bool gemm_vector_loads_supports<std::uint32_t>(const GemmArgs&);

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
