// The matrix product that linear, matmul and their gradients share. Records nothing.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// op(a)[m,k] op(b)[k,n] as a fresh tensor of `shape`, which has m n elements; op transposes where the flag is
// set. k = 0 gives zeros; m or n = 0 launches nothing.
Tensor gemm(Context& context, const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b,
            std::int64_t m, std::int64_t n, std::int64_t k, const Shape& shape);

}  // namespace warpline
