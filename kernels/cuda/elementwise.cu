// Kernels that treat each element by itself: a loop that strides by the grid, whose neighbouring threads
// touch neighbouring elements.
#include "kernels/cuda/device/index.h"
#include "kernels/cuda/device/scalar.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// The comparison is written so that NaN passes: x <= 0 is false for it.
template <class T>
__global__ void relu_forward_kernel(const T* x, T* y, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const T value = x[i];
    y[i] = value <= T{0} ? T{0} : value;
  }
}

// Selects, never multiplies: a NaN that arrives at a negative input becomes 0.
template <class T>
__global__ void relu_backward_kernel(const T* dy, const T* y, T* dx, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) dx[i] = y[i] <= T{0} ? T{0} : dy[i];
}

template <class T>
__global__ void scale_kernel(const T* x, T* y, T alpha, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) y[i] = alpha * x[i];
}

template <class T>
__global__ void axpy_kernel(const T* x, T* y, T alpha, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) y[i] = y[i] + alpha * x[i];
}

template <class T>
__global__ void fill_kernel(T* y, T value, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) y[i] = value;
}

}  // namespace

template <class T>
void relu_forward(const T* x, T* y, const CountArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  launch<relu_forward_kernel<T>>(blocks_for(args.count), dim3(kThreads), 0, stream, x, y, args.count);
}

template <class T>
void relu_backward(const T* dy, const T* y, T* dx, const CountArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  launch<relu_backward_kernel<T>>(blocks_for(args.count), dim3(kThreads), 0, stream, dy, y, dx, args.count);
}

template <class T>
void scale(const T* x, T* y, const CountArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  launch<scale_kernel<T>>(blocks_for(args.count), dim3(kThreads), 0, stream, x, y, factor<T>(args.alpha),
                          args.count);
}

template <class T>
void axpy(const T* x, T* y, const CountArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  launch<axpy_kernel<T>>(blocks_for(args.count), dim3(kThreads), 0, stream, x, y, factor<T>(args.alpha),
                         args.count);
}

template <class T>
void fill(T* y, const CountArgs& args, const Stream& stream) {
  if (args.count == 0) return;
  launch<fill_kernel<T>>(blocks_for(args.count), dim3(kThreads), 0, stream, y, factor<T>(args.alpha),
                         args.count);
}

#define WARPLINE_INSTANTIATE(T)                                                            \
  template void relu_forward<T>(const T*, T*, const CountArgs&, const Stream&);            \
  template void relu_backward<T>(const T*, const T*, T*, const CountArgs&, const Stream&); \
  template void scale<T>(const T*, T*, const CountArgs&, const Stream&);                   \
  template void axpy<T>(const T*, T*, const CountArgs&, const Stream&);
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)
WARPLINE_INSTANTIATE(std::uint32_t)

template void fill<float>(float*, const CountArgs&, const Stream&);
template void fill<double>(double*, const CountArgs&, const Stream&);
template void fill<std::int64_t>(std::int64_t*, const CountArgs&, const Stream&);
template void fill<std::int32_t>(std::int32_t*, const CountArgs&, const Stream&);
template void fill<std::uint8_t>(std::uint8_t*, const CountArgs&, const Stream&);
template void fill<std::uint32_t>(std::uint32_t*, const CountArgs&, const Stream&);

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
