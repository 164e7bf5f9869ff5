// What sum, mean and broadcast gradients share.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tensor.h"

namespace warpline {

// factor * (sum over the marked axes) as a tensor of `shape`. Records nothing. ShapeError where more than
// kMaxDims runs of marked and unmarked axes alternate.
Tensor reduce_sum(Context& context, const Tensor& tensor, const std::vector<bool>& reduced, double factor,
                  const Shape& shape);

// Which axes `dims` names: all of them where it is empty. ValueError for one that does not exist or is named
// twice.
std::vector<bool> reduced_axes(std::string_view op, const Shape& shape, const std::vector<int>& dims);

// The recorded op: the sum over `dims`, divided by the number of elements summed where `mean` is set. `op`
// outlives the graph.
Tensor reduce(std::string_view op, Context& context, const Tensor& input, const std::vector<int>& dims,
              bool keepdim, bool mean);

}  // namespace warpline
