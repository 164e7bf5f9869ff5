// Largest value along an axis and where it is, as torch.max and torch.argmax. Both are for reading results:
// they record nothing, so nothing flows back through them.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// Output shape without running: `dim` is dropped, or stays with size 1.
Shape max_shape(const Shape& input, int dim, bool keepdim = false);

struct MaxResult {
  Tensor values;
  Tensor indices;  // int64, along dim
};

// The first maximum; NaN beats numbers, and the first NaN wins. ValueError for a dim that does not exist,
// ShapeError where it has size 0.
MaxResult max(Context& context, const Tensor& input, int dim, bool keepdim = false);
Tensor argmax(Context& context, const Tensor& input, int dim, bool keepdim = false);

}  // namespace warpline
