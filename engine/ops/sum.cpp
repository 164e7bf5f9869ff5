#include "engine/ops/sum.h"

#include "engine/ops/axis.h"
#include "engine/ops/reduce.h"

namespace warpline {

Shape sum_shape(const Shape& input, const std::vector<int>& dims, bool keepdim) {
  return reduced_shape(input, reduced_axes("sum", input, dims), keepdim);
}

Tensor sum(Context& context, const Tensor& input, const std::vector<int>& dims, bool keepdim) {
  return reduce("sum", context, input, dims, keepdim, false);
}

}  // namespace warpline
