#include "engine/ops/gemm.h"

#include "kernels/table.h"

namespace warpline {

Tensor gemm(Context& context, const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b,
            std::int64_t m, std::int64_t n, std::int64_t k, const Shape& shape) {
  const GemmArgs args{m, n, k, transpose_a, transpose_b};
  const auto run = kernels::kernel<kernels::Gemm>(context.device().kind, a.dtype(), args);
  if (k == 0) return Tensor::zeros(context, shape, a.dtype());
  Tensor result = Tensor::empty(context, shape, a.dtype());
  if (result.count() != 0) run(a.data(), b.data(), result.data(), args, context.stream());
  return result;
}

}  // namespace warpline
