// Vectors by a factor. No shortcut for alpha = 0 or 1: NaN and infinities follow the arithmetic.
#pragma once

#include "kernels/ops.h"
#include "kernels/ref/scalar.h"

namespace warpline::kernels::ref {

// y = alpha * x; x and y may be the same.
template <class T>
void scale(const T* x, T* y, const CountArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const Acc alpha = from_double<Acc>(args.alpha);
  for (std::int64_t i = 0; i < args.count; ++i) y[i] = static_cast<T>(alpha * x[i]);
}

// y += alpha * x.
template <class T>
void axpy(const T* x, T* y, const CountArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const Acc alpha = from_double<Acc>(args.alpha);
  for (std::int64_t i = 0; i < args.count; ++i) y[i] = static_cast<T>(y[i] + alpha * x[i]);
}

// y = alpha.
template <class T>
void fill(T* y, const CountArgs& args, const Stream&) {
  for (std::int64_t i = 0; i < args.count; ++i) y[i] = from_double<T>(args.alpha);
}

}  // namespace warpline::kernels::ref
