// Axis numbers as users write them (a negative one counts from the end), and a tensor seen along one axis.
#pragma once

#include <string_view>
#include <vector>

#include "engine/shape.h"
#include "kernels/args.h"

namespace warpline {

// 0 .. dims - 1; a scalar takes axis 0 and -1, as if it had one axis. ValueError outside.
int normalise_axis(std::string_view op, int axis, const Shape& shape);

// outer x classes x inner around `axis`, which is normalised; a scalar is 1 x 1 x 1.
AxisArgs axis_args(const Shape& shape, int axis);

// shape without the axes marked, or with 1 in their place.
Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, bool keepdim);

}  // namespace warpline
