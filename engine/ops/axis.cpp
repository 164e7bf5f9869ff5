#include "engine/ops/axis.h"

#include <algorithm>

#include "kernels/error.h"

namespace warpline {

int normalise_axis(std::string_view op, int axis, const Shape& shape) {
  const int dims = std::max(static_cast<int>(shape.size()), 1);
  if (axis < -dims || axis >= dims) {
    fail<ValueError>(op, "dim must lie between {} and {} for shape {}: it is {}", -dims, dims - 1,
                     to_string(shape), axis);
  }
  return axis < 0 ? axis + dims : axis;
}

AxisArgs axis_args(const Shape& shape, int axis) {
  AxisArgs args{1, 1, 1};
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    std::int64_t& part = i < axis ? args.outer : i == axis ? args.classes : args.inner;
    // Only an empty tensor can have a part that leaves int64, and nothing is launched for one.
    if (__builtin_mul_overflow(part, shape[static_cast<std::size_t>(i)], &part)) part = 0;
  }
  return args;
}

Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, bool keepdim) {
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(shape[i]);
    } else if (keepdim) {
      result.push_back(1);
    }
  }
  return result;
}

}  // namespace warpline
