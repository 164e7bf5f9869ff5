// Sizes of a tensor's axes, outermost first. Row-major contiguous is the only layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dtype.h"

namespace warpline {

using Shape = std::vector<std::int64_t>;

// Product of the sizes (1 for a scalar); throws ShapeError for a negative size or a product that leaves
// int64.
std::int64_t element_count(const Shape& shape);
// Of that many elements; throws ShapeError also where the bytes leave int64.
std::int64_t byte_count(const Shape& shape, DType dtype);
std::string to_string(const Shape& shape);  // "[64, 1, 28, 28]"

// NumPy's rule; throws ShapeError that names both shapes and the axis.
Shape broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace warpline
