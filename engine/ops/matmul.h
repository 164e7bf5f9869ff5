// Product of two matrices, as torch.matmul of two; transposes are flags, since layouts are always contiguous.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// Output shape without running.
Shape matmul_shape(const Shape& input, const Shape& other, bool transpose_a = false,
                   bool transpose_b = false);

// op(input) op(other), both with two axes; op transposes where the flag is set. Any size may be 0. ShapeError
// naming both shapes.
Tensor matmul(Context& context, const Tensor& input, const Tensor& other, bool transpose_a = false,
              bool transpose_b = false);

}  // namespace warpline
