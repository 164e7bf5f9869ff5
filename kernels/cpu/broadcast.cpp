// Add and mul with NumPy's broadcasting: neighbouring axes that walk alike are merged, so that what is left
// is an outer walk over rows whose operands are contiguous or constant.
#include <algorithm>
#include <array>
#include <functional>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

struct Axis {
  std::int64_t size, a, b;  // strides of a and b
};

struct Walk {
  std::array<Axis, kMaxDims> axes{};
  int dims = 0;  // the last axis is the row
};

Walk merge(const BroadcastArgs& args) {
  Walk walk;
  for (int d = 0; d < args.dims; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const Axis axis{args.shape[i], args.stride_a[i], args.stride_b[i]};
    if (axis.size == 1) continue;
    if (walk.dims > 0) {
      Axis& outer = walk.axes[static_cast<std::size_t>(walk.dims - 1)];
      if (outer.a == axis.a * axis.size && outer.b == axis.b * axis.size) {
        outer = {outer.size * axis.size, axis.a, axis.b};
        continue;
      }
    }
    walk.axes[static_cast<std::size_t>(walk.dims++)] = axis;
  }
  if (walk.dims == 0) walk.axes[static_cast<std::size_t>(walk.dims++)] = {1, 1, 1};
  return walk;
}

// both: a row of each; one: a row and a number; single: two numbers, for rows of any other strides.
template <class Both, class One, class Single>
void broadcast(const float* a, const float* b, float* y, const BroadcastArgs& args, const Stream& stream,
               Both both, One one, Single single) {
  if (args.count == 0) return;
  const Walk walk = merge(args);
  const Axis row = walk.axes[static_cast<std::size_t>(walk.dims - 1)];
  const auto compute = [&](const float* from_a, const float* from_b, float* to, std::int64_t count) {
    if (row.a == 1 && row.b == 1) {
      both(count, from_a, from_b, to);
    } else if (row.a == 1 && row.b == 0) {
      one(count, from_a, *from_b, to);
    } else if (row.a == 0 && row.b == 1) {
      one(count, from_b, *from_a, to);
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = single(from_a[i * row.a], from_b[i * row.b]);
    }
  };
  if (walk.dims == 1) {
    split_elements(stream, row.size, [&](std::int64_t at, std::int64_t count) {
      compute(a + at * row.a, b + at * row.b, y + at, count);
    });
    return;
  }
  const std::int64_t rows = args.count / row.size;
  split(stream, rows, std::max<std::int64_t>(1, kGrain / row.size), [&](Range range, int) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      std::int64_t rest = r, at_a = 0, at_b = 0;
      for (int d = walk.dims - 2; d >= 0; --d) {
        const Axis& axis = walk.axes[static_cast<std::size_t>(d)];
        at_a += rest % axis.size * axis.a;
        at_b += rest % axis.size * axis.b;
        rest /= axis.size;
      }
      compute(a + at_a, b + at_b, y + r * row.size, row.size);
    }
  });
}

}  // namespace

void add(const float* a, const float* b, float* y, const BroadcastArgs& args, const Stream& stream) {
  broadcast(a, b, y, args, stream, simd().add, simd().add_scalar, std::plus<>{});
}

void mul(const float* a, const float* b, float* y, const BroadcastArgs& args, const Stream& stream) {
  const auto scaled = [](std::int64_t count, const float* x, float by, float* to) {
    simd().scale(count, by, x, to);
  };
  broadcast(a, b, y, args, stream, simd().mul, scaled, std::multiplies<>{});
}

}  // namespace warpline::kernels::cpu
