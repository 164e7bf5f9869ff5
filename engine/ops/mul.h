// Broadcasting product of two tensors, as torch.mul.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// Output shape without running: broadcast_shapes(). ShapeError naming both shapes where they do not fit.
Tensor mul(Context& context, const Tensor& input, const Tensor& other);

}  // namespace warpline
