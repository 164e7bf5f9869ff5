// Sum over any set of axes, as torch.sum.
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace warpline {

// Output shape without running: the axes in `dims` (all of them where it is empty) are dropped, or stay with
// size 1. ValueError for a dim that does not exist or is named twice.
Shape sum_shape(const Shape& input, const std::vector<int>& dims = {}, bool keepdim = false);

Tensor sum(Context& context, const Tensor& input, const std::vector<int>& dims = {}, bool keepdim = false);

}  // namespace warpline
