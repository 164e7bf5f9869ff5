#include "engine/ops/reduce.h"

#include <algorithm>

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/ops/axis.h"
#include "engine/ops/broadcast.h"
#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

// Neighbouring axes that are both reduced, or both kept, are merged.
ReduceArgs reduce_args(const Shape& shape, const std::vector<bool>& reduced, double factor) {
  ReduceArgs args;
  args.scale = factor;
  args.dims = 1;
  if (element_count(shape) == 0) return args;
  int dims = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (dims > 0 && args.reduced[static_cast<std::size_t>(dims - 1)] == reduced[i]) {
      args.shape[static_cast<std::size_t>(dims - 1)] *= shape[i];
      continue;
    }
    if (dims == kMaxDims) {
      fail<ShapeError>("reduce", "at most {} runs of reduced and kept axes can alternate: shape {}", kMaxDims,
                       to_string(shape));
    }
    const auto next = static_cast<std::size_t>(dims++);
    args.shape[next] = shape[i];
    args.reduced[next] = reduced[i];
  }
  args.dims = std::max(dims, 1);
  if (dims == 0) args.shape[0] = 1;
  return args;
}

// Repeats the gradient along the axes that were summed. Needs no saved tensor.
class ReduceNode final : public Node {
 public:
  ReduceNode(std::string_view op, const Shape& input_shape, const std::vector<bool>& reduced, double factor)
      : op_(op), input_shape_(input_shape), reduced_(reduced), factor_(factor) {}
  std::string_view name() const override { return op_; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    if (!wanted[0]) return {Tensor()};
    const Tensor aligned = Tensor::view_of(gradient, 0, reduced_shape(input_shape_, reduced_, true));
    return {expand(context, aligned, input_shape_, factor_)};
  }

 private:
  std::string_view op_;
  Shape input_shape_;
  std::vector<bool> reduced_;
  double factor_;
};

}  // namespace

Tensor reduce_sum(Context& context, const Tensor& tensor, const std::vector<bool>& reduced, double factor,
                  const Shape& shape) {
  const ReduceArgs args = reduce_args(tensor.shape(), reduced, factor);
  const auto sum = kernels::kernel<kernels::Sum>(context.device().kind, tensor.dtype(), args);
  // Nothing to sum: 0, or 0 / 0 for a mean.
  if (tensor.count() == 0) return Tensor::full(context, shape, 0.0 * factor, tensor.dtype());
  Tensor result = Tensor::empty(context, shape, tensor.dtype());
  sum(tensor.data(), result.data(), args, context.stream());
  return result;
}

std::vector<bool> reduced_axes(std::string_view op, const Shape& shape, const std::vector<int>& dims) {
  std::vector<bool> reduced(shape.size(), dims.empty());
  for (const int dim : dims) {
    const int axis = normalise_axis(op, dim, shape);
    if (shape.empty()) continue;  // a scalar takes dim 0, which changes nothing
    const auto i = static_cast<std::size_t>(axis);
    if (reduced[i])
      fail<ValueError>(op, "each dim may be named once: {} of shape {}", axis, to_string(shape));
    reduced[i] = true;
  }
  return reduced;
}

Tensor reduce(std::string_view op, Context& context, const Tensor& input, const std::vector<int>& dims,
              bool keepdim, bool mean) {
  check_same_device(op, context, {{"input", input}});
  check_floating(op, {{"input", input}});
  const std::vector<bool> reduced = reduced_axes(op, input.shape(), dims);
  double factor = 1.0;
  if (mean) {
    double terms = 1.0;
    for (std::size_t i = 0; i < reduced.size(); ++i) {
      if (reduced[i]) terms *= static_cast<double>(input.shape()[i]);
    }
    factor = 1.0 / terms;
  }
  Tensor output = reduce_sum(context, input, reduced, factor, reduced_shape(input.shape(), reduced, keepdim));
  record<ReduceNode>(context, output, {&input}, op, input.shape(), reduced, factor);
  return output;
}

}  // namespace warpline
