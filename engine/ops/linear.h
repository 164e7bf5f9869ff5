// Affine map of the last axis, as torch.nn.functional.linear.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// Output shape without running: input .., in; weight out, in.
Shape linear_shape(const Shape& input, const Shape& weight);

// input weight^T + bias. input: .., in; weight: out, in; bias: out, or undefined for none. Any size may be 0.
// ShapeError naming the sizes that differ.
Tensor linear(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias);

}  // namespace warpline
