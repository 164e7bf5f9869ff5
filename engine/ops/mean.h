// Mean over any set of axes, as torch.mean.
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace warpline {

// Output shape without running: see sum_shape.
Shape mean_shape(const Shape& input, const std::vector<int>& dims = {}, bool keepdim = false);

// The mean of nothing is NaN.
Tensor mean(Context& context, const Tensor& input, const std::vector<int>& dims = {}, bool keepdim = false);

}  // namespace warpline
