// Rectified linear unit, as torch.nn.functional.relu.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// max(input, 0) element by element. NaN stays NaN and its gradient passes; the gradient at 0 is 0.
Tensor relu(Context& context, const Tensor& input);

}  // namespace warpline
