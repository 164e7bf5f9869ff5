#include "engine/shape.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/error.h"

namespace warpline {

std::int64_t element_count(const Shape& shape) {
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; })) {
    fail<ShapeError>("shape", "no size may be negative: {}", to_string(shape));
  }
  // Zero wins over any overflow: [0, 2^62, 4] holds nothing.
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) {
      fail<ShapeError>("shape", "the number of elements must fit int64: {}", to_string(shape));
    }
  }
  return count;
}

std::int64_t byte_count(const Shape& shape, DType dtype) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(shape), static_cast<std::int64_t>(size_of(dtype)), &bytes)) {
    fail<ShapeError>("shape", "the number of bytes must fit int64: {} of {}", to_string(shape),
                     to_string(dtype));
  }
  return bytes;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const std::size_t dims = std::max(a.size(), b.size());
  Shape result(dims);
  for (std::size_t i = 0; i < dims; ++i) {  // i counts from the last axis, where both shapes are aligned
    const std::int64_t in_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t in_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      fail<ShapeError>("broadcast", "sizes must agree or be 1: {} and {} differ at axis {} from the end",
                       to_string(a), to_string(b), i + 1);
    }
    result[dims - 1 - i] = in_a == 1 ? in_b : in_a;
  }
  return result;
}

}  // namespace warpline
