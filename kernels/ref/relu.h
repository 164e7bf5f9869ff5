// ReLU. The comparisons are written so that NaN passes both ways: x <= 0 is false for it.
#pragma once

#include "kernels/ops.h"

namespace warpline::kernels::ref {

template <class T>
void relu_forward(const T* x, T* y, const CountArgs& args, const Stream&) {
  for (std::int64_t i = 0; i < args.count; ++i) y[i] = x[i] <= 0 ? T{0} : x[i];
}

// Overwrites dx. Selects, never multiplies: a NaN that arrives at a negative input becomes 0.
template <class T>
void relu_backward(const T* dy, const T* y, T* dx, const CountArgs& args, const Stream&) {
  for (std::int64_t i = 0; i < args.count; ++i) dx[i] = y[i] <= 0 ? T{0} : dy[i];
}

}  // namespace warpline::kernels::ref
