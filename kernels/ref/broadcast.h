// y = a op b with NumPy's broadcasting: a broadcast axis has stride 0.
#pragma once

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

template <class T, class Combine>
void broadcast(const T* a, const T* b, T* y, const BroadcastArgs& args, Combine combine) {
  for (std::int64_t i = 0; i < args.count; ++i) {
    std::int64_t rest = i, offset_a = 0, offset_b = 0;
    for (int d = args.dims - 1; d >= 0; --d) {
      const auto axis = static_cast<std::size_t>(d);
      const std::int64_t coordinate = rest % args.shape[axis];
      rest /= args.shape[axis];
      offset_a += coordinate * args.stride_a[axis];
      offset_b += coordinate * args.stride_b[axis];
    }
    y[i] = combine(a[offset_a], b[offset_b]);
  }
}

template <class T>
void add(const T* a, const T* b, T* y, const BroadcastArgs& args, const Stream&) {
  broadcast(a, b, y, args, [](T left, T right) { return static_cast<T>(left + right); });
}

template <class T>
void mul(const T* a, const T* b, T* y, const BroadcastArgs& args, const Stream&) {
  broadcast(a, b, y, args, [](T left, T right) { return static_cast<T>(left * right); });
}

}  // namespace warpline::kernels::ref
