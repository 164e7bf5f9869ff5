// Broadcasting by NumPy's rule, and its adjoint: a broadcast operand's gradient is summed back to its own
// shape. Records nothing: add, mul, linear and the reductions build on it.
#pragma once

#include "engine/tensor.h"
#include "kernels/args.h"

namespace warpline {

// a and b seen as `shape`, which is what they broadcast to; neighbouring axes that both walk alike are
// merged. ShapeError where more than kMaxDims remain.
BroadcastArgs broadcast_args(const Shape& a, const Shape& b, const Shape& shape);

Tensor broadcast_add(Context& context, const Tensor& a, const Tensor& b, const Shape& shape);
Tensor broadcast_mul(Context& context, const Tensor& a, const Tensor& b, const Shape& shape);

// factor * tensor, repeated to `shape`.
Tensor expand(Context& context, const Tensor& tensor, const Shape& shape, double factor = 1.0);

// The sum of `tensor` over the axes along which `shape` was broadcast to it; `tensor` itself where none was.
Tensor sum_to_shape(Context& context, const Tensor& tensor, const Shape& shape);

}  // namespace warpline
