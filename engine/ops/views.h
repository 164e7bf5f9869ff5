// Tensors that share the storage of another one and carry its gradients. They copy nothing; a batch is split
// into micro-batches with narrow(). An in-place change through a view or its base counts for both.
#pragma once

#include "engine/tensor.h"

namespace warpline {

// The shape that reshape() gives: one size may be -1 and follows from the rest. ShapeError unless the number
// of elements stays.
Shape reshape_shape(const Shape& input, const Shape& shape);
Tensor reshape(Context& context, const Tensor& input, const Shape& shape);

// Rows [start, start + length) along axis 0. ShapeError unless they lie within the input, which has an axis.
Tensor narrow(Context& context, const Tensor& input, std::int64_t start, std::int64_t length);

// Axes from start_axis on become one; a negative start_axis counts from the end. From 0 on a scalar becomes
// [1].
Shape flatten_shape(const Shape& input, int start_axis = 1);
Tensor flatten(Context& context, const Tensor& input, int start_axis = 1);

}  // namespace warpline
