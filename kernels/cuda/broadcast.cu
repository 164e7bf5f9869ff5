// y = a op b with NumPy's broadcasting, a thread an element of y. Three steps: any strides, which cost a
// division an axis; b repeated along a's outer and inner axes, as a bias of rows or of channels is, two
// divisions; both tensors as y, none.
#include "kernels/cuda/device/axes.h"
#include "kernels/cuda/device/combine.h"
#include "kernels/cuda/device/index.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

template <class T, class Combine>
__global__ void broadcast_kernel(const T* a, const T* b, T* y, Axes<2> axes, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Offsets<2> at = axes.at(i);
    y[i] = Combine{}(a[at.of[0]], b[at.of[1]]);
  }
}

// a: outer x length x inner, b: length.
template <class T, class Combine>
__global__ void broadcast_bias_kernel(const T* a, const T* b, T* y, std::int64_t length, std::int64_t inner,
                                      std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads())
    y[i] = Combine{}(a[i], b[i / inner % length]);
}

template <class T, class Combine>
__global__ void broadcast_same_kernel(const T* a, const T* b, T* y, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) y[i] = Combine{}(a[i], b[i]);
}

Axes<2> axes_of(const BroadcastArgs& args) {
  Axes<2> axes;
  for (int d = args.dims - 1; d >= 0; --d) {
    const auto axis = static_cast<std::size_t>(d);
    axes.add(args.shape[axis], {{args.stride_a[axis], args.stride_b[axis]}});
  }
  return axes;
}

// b's part in broadcast_bias_kernel; length 0: it does not fit.
struct Bias {
  std::int64_t length = 0, inner = 1;
};

// a must lie as y does. b's axes, from the innermost, are then at most one that it repeats along, one that it
// walks, and one that it repeats along: neighbours of a kind are merged.
Bias bias_of(const BroadcastArgs& args) {
  const Axes<2> axes = axes_of(args);
  Bias bias;
  std::int64_t stride_a = 1;
  for (int d = 0; d < axes.dims; ++d) {
    if (axes.stride[d].of[0] != stride_a) return {};
    stride_a *= axes.shape[d];
    const std::int64_t stride_b = axes.stride[d].of[1];
    if (stride_b == 1 && bias.length == 0) {
      bias.length = axes.shape[d];
    } else if (stride_b != 0) {
      return {};
    } else if (bias.length == 0) {
      bias.inner = axes.shape[d];
    }
  }
  if (bias.length == 0) bias.length = 1;  // one number for all of a
  return bias;
}

}  // namespace

template <class T, class Combine>
void broadcast(const T* a, const T* b, T* y, const BroadcastArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  launch<broadcast_kernel<T, Combine>>(blocks_for(args.count), dim3(kThreads), 0, stream, a, b, y,
                                       axes_of(args), args.count);
}

template <class T, class Combine>
void broadcast_bias(const T* a, const T* b, T* y, const BroadcastArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  const Bias bias = bias_of(args);
  launch<broadcast_bias_kernel<T, Combine>>(blocks_for(args.count), dim3(kThreads), 0, stream, a, b, y,
                                            bias.length, bias.inner, args.count);
}

template <class T, class Combine>
void broadcast_same(const T* a, const T* b, T* y, const BroadcastArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  launch<broadcast_same_kernel<T, Combine>>(blocks_for(args.count), dim3(kThreads), 0, stream, a, b, y,
                                            args.count);
}

bool broadcast_is_bias(const void* args) {
  return bias_of(*static_cast<const BroadcastArgs*>(args)).length != 0;
}

bool broadcast_is_same(const void* args) {
  const Axes<2> axes = axes_of(*static_cast<const BroadcastArgs*>(args));
  return axes.dims == 0 || (axes.dims == 1 && axes.stride[0].of[0] == 1 && axes.stride[0].of[1] == 1);
}

#define WARPLINE_INSTANTIATE_FOR(T, Combine)                                                             \
  template void broadcast<T, Combine>(const T*, const T*, T*, const BroadcastArgs&, const Stream&);      \
  template void broadcast_bias<T, Combine>(const T*, const T*, T*, const BroadcastArgs&, const Stream&); \
  template void broadcast_same<T, Combine>(const T*, const T*, T*, const BroadcastArgs&, const Stream&);
#define WARPLINE_INSTANTIATE(T)     \
  WARPLINE_INSTANTIATE_FOR(T, Plus) \
  WARPLINE_INSTANTIATE_FOR(T, Times)
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)
WARPLINE_INSTANTIATE(std::uint32_t)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
