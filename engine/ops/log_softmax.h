// Logarithm of the softmax along one axis, as torch.nn.functional.log_softmax.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// Output shape without running: the input's. ValueError for a dim that does not exist.
Shape log_softmax_shape(const Shape& input, int dim);

// input - log(sum(exp(input))) along `dim` (negative: from the end), computed without overflow. A slice of
// only -inf, or with +inf or NaN in it, is NaN throughout.
Tensor log_softmax(Context& context, const Tensor& input, int dim);

}  // namespace warpline
