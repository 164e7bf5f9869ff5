// The arithmetic of reductions. Sums of float32, which gradients are, go through the kernel table; the rest
// are plain loops on host memory.
#pragma once

#include "engine/tensor.h"
#include "parallel/signature.h"

namespace warpline::parallel {

// to = to op from, element by element; counts, dtypes and devices agree. NaN wins a maximum, so that its
// order does not matter.
void combine(ReduceOp op, const Tensor& to, const Tensor& from, Context& context);

}  // namespace warpline::parallel
