// The checks that every op makes before it allocates or writes anything, so that all targets raise the same
// error for the same bad call. `op` is the tag of the message; operands are named as in the op's signature.
// Undefined operands (an omitted bias) are passed over.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/tensor.h"

namespace warpline {

struct Operand {
  std::string_view name;
  const Tensor& tensor;
};

// "conv1.weight [20, 1, 5, 5]": the tensor's name, where it has one, and its shape.
std::string describe(const Tensor& tensor);

// DeviceError naming both devices unless every operand is on the context's device:
//   check_same_device("conv2d", context, {{"input", x}, {"weight", w}, {"bias", b}});
void check_same_device(std::string_view op, const Context& context, std::initializer_list<Operand> operands);

// DTypeError unless the operand has this dtype.
void check_dtype(std::string_view op, Operand operand, DType dtype);

// DTypeError unless all operands have one floating dtype, which is returned.
DType check_floating(std::string_view op, std::initializer_list<Operand> operands);

// ShapeError unless the operand has exactly this shape.
void check_shape(std::string_view op, Operand operand, const Shape& shape);

// Same shape and dtype, both on the context's device.
void check_same(std::string_view op, const Context& context, Operand a, Operand b);

}  // namespace warpline
