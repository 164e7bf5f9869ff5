// Broadcasting sum of two tensors, as torch.add.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// Output shape without running: broadcast_shapes(). ShapeError naming both shapes where they do not fit.
Tensor add(Context& context, const Tensor& input, const Tensor& other);

}  // namespace warpline
