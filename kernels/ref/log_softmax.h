// Log-softmax along the middle axis of outer x classes x inner. Shifted by the maximum, so [1e4, 0] and
// [3e38, 3e38] are exact; a row of only -inf, or with +inf or NaN in it, becomes NaN throughout by
// arithmetic.
#pragma once

#include <cmath>

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

template <class T>
void log_softmax_forward(const T* x, T* y, const AxisArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  for (std::int64_t outer = 0; outer < args.outer; ++outer) {
    for (std::int64_t inner = 0; inner < args.inner; ++inner) {
      const auto at = [&](std::int64_t c) { return (outer * args.classes + c) * args.inner + inner; };
      Acc largest = kLowest<Acc>;
      for (std::int64_t c = 0; c < args.classes; ++c) {
        if (x[at(c)] > largest) largest = x[at(c)];
      }
      Acc sum = 0;
      for (std::int64_t c = 0; c < args.classes; ++c) sum += std::exp(x[at(c)] - largest);
      for (std::int64_t c = 0; c < args.classes; ++c) {
        y[at(c)] = static_cast<T>(x[at(c)] - largest - std::log(sum));
      }
    }
  }
}

// Overwrites dx with dy - exp(y) * sum(dy).
template <class T>
void log_softmax_backward(const T* dy, const T* y, T* dx, const AxisArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  for (std::int64_t outer = 0; outer < args.outer; ++outer) {
    for (std::int64_t inner = 0; inner < args.inner; ++inner) {
      const auto at = [&](std::int64_t c) { return (outer * args.classes + c) * args.inner + inner; };
      Acc sum = 0;
      for (std::int64_t c = 0; c < args.classes; ++c) sum += dy[at(c)];
      for (std::int64_t c = 0; c < args.classes; ++c) {
        dx[at(c)] = static_cast<T>(dy[at(c)] - std::exp(Acc{y[at(c)]}) * sum);
      }
    }
  }
}

}  // namespace warpline::kernels::ref
