// Sums over any subset of axes, and maxima along one.
#pragma once

#include <vector>

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

// y = scale * sum. Every element of x is added to the cell that its kept coordinates name; a mean of nothing
// is 0 * inf, NaN, by its scale 1 / 0.
template <class T>
void sum(const T* x, T* y, const ReduceArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  std::int64_t count = 1, kept = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(args.dims); ++d) {
    count *= args.shape[d];
    if (!args.reduced[d]) kept *= args.shape[d];
  }
  std::vector<Acc> sums(static_cast<std::size_t>(kept), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, cell = 0, stride = 1;
    for (int d = args.dims - 1; d >= 0; --d) {
      const auto axis = static_cast<std::size_t>(d);
      if (!args.reduced[axis]) {
        cell += rest % args.shape[axis] * stride;
        stride *= args.shape[axis];
      }
      rest /= args.shape[axis];
    }
    sums[static_cast<std::size_t>(cell)] += x[i];
  }
  for (std::int64_t i = 0; i < kept; ++i) {
    y[i] = static_cast<T>(from_double<Acc>(args.scale) * sums[static_cast<std::size_t>(i)]);
  }
}

// The first maximum and its index. NaN beats numbers, and the first NaN stays.
template <class T>
void max(const T* x, T* values, std::int64_t* indices, const AxisArgs& args, const Stream&) {
  for (std::int64_t outer = 0; outer < args.outer; ++outer) {
    for (std::int64_t inner = 0; inner < args.inner; ++inner) {
      const auto at = [&](std::int64_t c) { return x[(outer * args.classes + c) * args.inner + inner]; };
      std::int64_t best = 0;
      for (std::int64_t c = 1; c < args.classes; ++c) {
        if (is_nan(at(best))) break;
        if (at(c) > at(best) || is_nan(at(c))) best = c;
      }
      values[outer * args.inner + inner] = at(best);
      indices[outer * args.inner + inner] = best;
    }
  }
}

}  // namespace warpline::kernels::ref
