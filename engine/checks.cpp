#include "engine/checks.h"

#include "kernels/error.h"

namespace warpline {

std::string describe(const Tensor& tensor) {
  return fmt::format("{} {}", tensor.name().empty() ? "tensor" : tensor.name(), to_string(tensor.shape()));
}

void check_same_device(std::string_view op, const Context& context, std::initializer_list<Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.tensor.defined() && operand.tensor.device() != context.device()) {
      fail<DeviceError>(op, "{} is on {}, the context on {}: all operands must be there; copy_to() moves one",
                        operand.name, to_string(operand.tensor.device()), to_string(context.device()));
    }
  }
}

void check_dtype(std::string_view op, Operand operand, DType dtype) {
  if (operand.tensor.defined() && operand.tensor.dtype() != dtype) {
    fail<DTypeError>(op, "{} must be {}: it is {}", operand.name, to_string(dtype),
                     to_string(operand.tensor.dtype()));
  }
}

DType check_floating(std::string_view op, std::initializer_list<Operand> operands) {
  const Operand* first = nullptr;
  for (const Operand& operand : operands) {  // NOLINT(clang-analyzer-core.NullDereference): the list is real
    if (!operand.tensor.defined()) continue;
    const DType dtype = operand.tensor.dtype();
    if (dtype != DType::Float32 && dtype != DType::Float64) {
      fail<DTypeError>(op, "{} must be float32 or float64: it is {}", operand.name, to_string(dtype));
    }
    if (first == nullptr) {
      first = &operand;
    } else if (dtype != first->tensor.dtype()) {
      fail<DTypeError>(op, "operands must have one dtype: {} is {}, {} is {}", first->name,
                       to_string(first->tensor.dtype()), operand.name, to_string(dtype));
    }
  }
  if (first == nullptr) fail<AutogradError>(op, "no operand is defined");
  return first->tensor.dtype();
}

void check_shape(std::string_view op, Operand operand, const Shape& shape) {
  if (operand.tensor.defined() && operand.tensor.shape() != shape) {
    fail<ShapeError>(op, "{} must have shape {}: it has {}", operand.name, to_string(shape),
                     to_string(operand.tensor.shape()));
  }
}

void check_same(std::string_view op, const Context& context, Operand a, Operand b) {
  check_same_device(op, context, {a, b});
  if (a.tensor.shape() != b.tensor.shape()) {
    fail<ShapeError>(op, "{} and {} must have one shape: {} and {}", a.name, b.name,
                     to_string(a.tensor.shape()), to_string(b.tensor.shape()));
  }
  check_dtype(op, b, a.tensor.dtype());
}

}  // namespace warpline
