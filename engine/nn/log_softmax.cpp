#include "engine/nn/log_softmax.h"

#include <fmt/core.h>

#include "engine/ops/log_softmax.h"

namespace warpline {

std::string LogSoftmax::describe() const { return fmt::format("LogSoftmax(dim {})", dim_); }

Shape LogSoftmax::output_shape(const Shape& input) const { return log_softmax_shape(input, dim_); }

Tensor LogSoftmax::forward(Context& context, const Tensor& x) const { return log_softmax(context, x, dim_); }

}  // namespace warpline
