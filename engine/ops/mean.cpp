#include "engine/ops/mean.h"

#include "engine/ops/axis.h"
#include "engine/ops/reduce.h"

namespace warpline {

Shape mean_shape(const Shape& input, const std::vector<int>& dims, bool keepdim) {
  return reduced_shape(input, reduced_axes("mean", input, dims), keepdim);
}

Tensor mean(Context& context, const Tensor& input, const std::vector<int>& dims, bool keepdim) {
  return reduce("mean", context, input, dims, keepdim, true);
}

}  // namespace warpline
