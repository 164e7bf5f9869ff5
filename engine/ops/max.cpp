#include "engine/ops/max.h"

#include "engine/checks.h"
#include "engine/ops/axis.h"
#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "max";

Shape shape_along(const Shape& input, int axis, bool keepdim) {
  if (!input.empty() && input[static_cast<std::size_t>(axis)] == 0) {
    fail<ShapeError>(kName, "dim {} must not be empty: shape {}", axis, to_string(input));
  }
  std::vector<bool> reduced(input.size(), false);
  if (!input.empty()) reduced[static_cast<std::size_t>(axis)] = true;
  return reduced_shape(input, reduced, keepdim);
}

}  // namespace

Shape max_shape(const Shape& input, int dim, bool keepdim) {
  return shape_along(input, normalise_axis(kName, dim, input), keepdim);
}

MaxResult max(Context& context, const Tensor& input, int dim, bool keepdim) {
  check_same_device(kName, context, {{"input", input}});
  const DType dtype = check_floating(kName, {{"input", input}});
  const int axis = normalise_axis(kName, dim, input.shape());
  const Shape shape = shape_along(input.shape(), axis, keepdim);
  const AxisArgs args = axis_args(input.shape(), axis);
  const auto run = kernels::kernel<kernels::Max>(context.device().kind, dtype, args);
  MaxResult result{Tensor::empty(context, shape, dtype), Tensor::empty(context, shape, DType::Int64)};
  if (input.count() != 0) {
    run(input.data(), result.values.data(), static_cast<std::int64_t*>(result.indices.data()), args,
        context.stream());
  }
  return result;
}

Tensor argmax(Context& context, const Tensor& input, int dim, bool keepdim) {
  return max(context, input, dim, keepdim).indices;
}

}  // namespace warpline
