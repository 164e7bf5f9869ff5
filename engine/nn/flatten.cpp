#include "engine/nn/flatten.h"

#include "engine/ops/axis.h"
#include "engine/ops/views.h"
#include "kernels/error.h"

namespace warpline {

std::string Flatten::describe() const {
  if (start_dim_ == 1 && end_dim_ == -1) return "Flatten()";
  return fmt::format("Flatten({}, {})", start_dim_, end_dim_);
}

Shape Flatten::output_shape(const Shape& input) const {
  const int start = normalise_axis("Flatten", start_dim_, input);
  const int end = normalise_axis("Flatten", end_dim_, input);
  if (end < start) {
    fail<ValueError>("Flatten", "the end must not come before the start: dims {} to {} of shape {}", start,
                     end, to_string(input));
  }
  if (input.empty()) return {1};
  const auto first = input.begin() + start, last = input.begin() + end + 1;
  Shape shape(input.begin(), first);
  shape.push_back(element_count(Shape(first, last)));
  shape.insert(shape.end(), last, input.end());
  return shape;
}

Tensor Flatten::forward(Context& context, const Tensor& x) const {
  return reshape(context, x, output_shape(x.shape()));
}

}  // namespace warpline
