// The ops that change a tensor where it lies. They record nothing, so they refuse a tensor with a gradient
// while the context records (AutogradError; wrap the call in NoGrad), and they count the change in the
// storage's version, so that a backward pass which still needs the old values says so.
//
// Tensors of one call have the same shape, dtype and device, which is the context's (ShapeError, DTypeError,
// DeviceError).
#pragma once

#include "engine/tensor.h"

namespace warpline {

void copy_into(Context& context, Tensor& destination, const Tensor& source);  // destination = source
// destination += alpha * source
void add_into(Context& context, Tensor& destination, const Tensor& source, double alpha = 1.0);
void fill_(Context& context, Tensor& tensor, double value);
void scale_(Context& context, Tensor& tensor, double factor);  // tensor *= factor

// For op files that write into a tensor themselves (optimisers): the check above, then the version count.
void begin_in_place(std::string_view op, Context& context, Tensor& tensor);

}  // namespace warpline
