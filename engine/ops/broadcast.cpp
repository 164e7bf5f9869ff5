#include "engine/ops/broadcast.h"

#include <algorithm>

#include "engine/ops/reduce.h"
#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

// Strides in elements of `from` seen as a tensor with `dims` axes: 0 on axes that it is repeated along.
Shape broadcast_strides(const Shape& from, std::size_t dims) {
  Shape strides(dims, 0);
  std::int64_t step = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {  // from the last axis
    const std::int64_t size = from[from.size() - 1 - i];
    if (size != 1) strides[dims - 1 - i] = step;
    step *= size;
  }
  return strides;
}

template <class Op>
Tensor run(Context& context, const Tensor& a, const Tensor& b, const Shape& shape) {
  const BroadcastArgs args = broadcast_args(a.shape(), b.shape(), shape);
  const auto kernel = kernels::kernel<Op>(context.device().kind, a.dtype(), args);
  Tensor result = Tensor::empty(context, shape, a.dtype());
  if (args.count != 0) kernel(a.data(), b.data(), result.data(), args, context.stream());
  return result;
}

}  // namespace

BroadcastArgs broadcast_args(const Shape& a, const Shape& b, const Shape& shape) {
  BroadcastArgs args;
  args.dims = 1;
  args.count = element_count(shape);
  if (args.count == 0) return args;
  const Shape stride_a = broadcast_strides(a, shape.size()), stride_b = broadcast_strides(b, shape.size());
  int dims = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const auto last = static_cast<std::size_t>(dims - 1);
    if (dims > 0 && args.stride_a[last] == stride_a[i] * shape[i] &&
        args.stride_b[last] == stride_b[i] * shape[i]) {
      args.shape[last] *= shape[i];
      args.stride_a[last] = stride_a[i];
      args.stride_b[last] = stride_b[i];
      continue;
    }
    if (dims == kMaxDims) {
      fail<ShapeError>("broadcast", "at most {} axes can differ in how they repeat: {} and {}", kMaxDims,
                       to_string(a), to_string(b));
    }
    const auto next = static_cast<std::size_t>(dims++);
    args.shape[next] = shape[i];
    args.stride_a[next] = stride_a[i];
    args.stride_b[next] = stride_b[i];
  }
  args.dims = std::max(dims, 1);
  if (dims == 0) args.shape[0] = 1;
  return args;
}

Tensor broadcast_add(Context& context, const Tensor& a, const Tensor& b, const Shape& shape) {
  return run<kernels::Add>(context, a, b, shape);
}

Tensor broadcast_mul(Context& context, const Tensor& a, const Tensor& b, const Shape& shape) {
  return run<kernels::Mul>(context, a, b, shape);
}

Tensor expand(Context& context, const Tensor& tensor, const Shape& shape, double factor) {
  return broadcast_mul(context, tensor, Tensor::full(context, {}, factor, tensor.dtype()), shape);
}

Tensor sum_to_shape(Context& context, const Tensor& tensor, const Shape& shape) {
  const Shape& from = tensor.shape();
  if (from == shape) return tensor;
  const std::size_t added = from.size() - shape.size();
  std::vector<bool> reduced(from.size(), true);
  for (std::size_t i = added; i < from.size(); ++i) reduced[i] = shape[i - added] != from[i];
  return reduce_sum(context, tensor, reduced, 1.0, shape);
}

}  // namespace warpline
