// Max-pool both ways. Padding counts as -inf, the first of equal values wins in row-major order and takes the
// whole gradient, NaN beats numbers and of several NaNs the last one's place is kept. A thread makes one
// cell; 2 x 2 windows side by side, which share no cell, have their own kernels.
#include "kernels/cuda/device/index.h"
#include "kernels/cuda/device/scalar.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// Cell i of planes x height x width.
struct Cell {
  std::int64_t plane, h, w;
};

__device__ inline Cell cell_at(std::int64_t i, std::int64_t height, std::int64_t width) {
  const std::int64_t line = i / width, plane = line / height;
  return {plane, line - plane * height, i - line * width};
}

// Takes the next value of a window, in row-major order; best starts as the first one.
template <class T, class Position>
__device__ void take(T value, Position at, T& best, Position& position) {
  if (value > best || is_nan(value)) {
    best = value;
    position = at;
  }
}

template <class T, class Position>
__global__ void max_pool2d_forward_kernel(const T* x, T* y, Position* positions, MaxPool2dArgs args) {
  const std::int64_t count = args.planes * args.out_h * args.out_w;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Cell out = cell_at(i, args.out_h, args.out_w);
    const T* const plane = x + out.plane * args.height * args.width;
    const std::int64_t top = out.h * args.stride_h - args.pad_h, left = out.w * args.stride_w - args.pad_w;
    T best = lowest<T>();
    std::int64_t position = -1;
    for (std::int64_t r = 0; r < args.kernel_h; ++r) {
      const std::int64_t h = top + r * args.dilation_h;
      if (h < 0 || h >= args.height) continue;
      for (std::int64_t s = 0; s < args.kernel_w; ++s) {
        const std::int64_t w = left + s * args.dilation_w;
        if (w < 0 || w >= args.width) continue;
        // A window of only -inf has its first cell's place.
        if (position < 0) position = r * args.kernel_w + s;
        take(plane[h * args.width + w], r * args.kernel_w + s, best, position);
      }
    }
    y[i] = best;
    positions[i] = static_cast<Position>(position);
  }
}

// The windows along one axis that have some tap on a place or may, first to last: those that start at most
// (kernel - 1) * dilation before it. `at` counts from the edge of the padding.
struct Windows {
  std::int64_t first, last;
  __device__ Windows(std::int64_t at, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                     std::int64_t out) {
    const std::int64_t before = at - (kernel - 1) * dilation;
    first = before <= 0 ? 0 : (before + stride - 1) / stride;
    last = at / stride;
    if (last >= out) last = out - 1;
  }
};

// Each cell of dx gathers from the windows that it may have won, in row-major order: no two threads add to
// one cell. Overwrites dx.
template <class T, class Position>
__global__ void max_pool2d_backward_kernel(const T* dy, const Position* positions, T* dx,
                                           MaxPool2dArgs args) {
  const std::int64_t count = args.planes * args.height * args.width;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Cell cell = cell_at(i, args.height, args.width);
    const std::int64_t h = cell.h + args.pad_h, w = cell.w + args.pad_w;
    const Windows rows(h, args.kernel_h, args.stride_h, args.dilation_h, args.out_h);
    const Windows columns(w, args.kernel_w, args.stride_w, args.dilation_w, args.out_w);
    T sum = 0;
    for (std::int64_t oh = rows.first; oh <= rows.last; ++oh) {
      const std::int64_t down = h - oh * args.stride_h, r = down / args.dilation_h;
      if (r * args.dilation_h != down) continue;  // between two taps
      const std::int64_t line = (cell.plane * args.out_h + oh) * args.out_w;
      for (std::int64_t ow = columns.first; ow <= columns.last; ++ow) {
        // The column that the position has if its row is r; no window's tap s of another row lands on w by
        // chance, as w is less than a row of taps away from the window's left edge.
        const std::int64_t s = positions[line + ow] - r * args.kernel_w;
        if (s * args.dilation_w == w - ow * args.stride_w) sum += dy[line + ow];
      }
    }
    dx[i] = sum;
  }
}

// Position -> flat index in the unpadded plane.
template <class Position>
__global__ void max_pool2d_indices_kernel(const Position* positions, std::int64_t* indices,
                                          MaxPool2dArgs args) {
  const std::int64_t count = args.planes * args.out_h * args.out_w;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Cell out = cell_at(i, args.out_h, args.out_w);
    const std::int64_t position = positions[i], r = position / args.kernel_w,
                       s = position - r * args.kernel_w;
    const std::int64_t h = out.h * args.stride_h - args.pad_h + r * args.dilation_h;
    const std::int64_t w = out.w * args.stride_w - args.pad_w + s * args.dilation_w;
    indices[i] = h * args.width + w;
  }
}

template <class T>
__global__ void max_pool2d_forward_2x2_kernel(const T* x, T* y, std::uint8_t* positions, MaxPool2dArgs args) {
  const std::int64_t count = args.planes * args.out_h * args.out_w;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Cell out = cell_at(i, args.out_h, args.out_w);
    const T* const upper = x + (out.plane * args.height + 2 * out.h) * args.width + 2 * out.w;
    const T* const lower = upper + args.width;
    T best = upper[0];
    int position = 0;
    take(upper[1], 1, best, position);
    take(lower[0], 2, best, position);
    take(lower[1], 3, best, position);
    y[i] = best;
    positions[i] = static_cast<std::uint8_t>(position);
  }
}

// A thread a 2 x 2 square of dx, with its window if there is one: an odd last row or column has none.
template <class T>
__global__ void max_pool2d_backward_2x2_kernel(const T* dy, const std::uint8_t* positions, T* dx,
                                               MaxPool2dArgs args, std::int64_t squares_h,
                                               std::int64_t squares_w) {
  const std::int64_t count = args.planes * squares_h * squares_w;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Cell square = cell_at(i, squares_h, squares_w);
    T gradient = 0;
    int position = -1;
    if (square.h < args.out_h && square.w < args.out_w) {
      const std::int64_t out = (square.plane * args.out_h + square.h) * args.out_w + square.w;
      gradient = dy[out];
      position = positions[out];
    }
    const std::int64_t h = 2 * square.h, w = 2 * square.w;
    T* const upper = dx + (square.plane * args.height + h) * args.width + w;
    T* const lower = upper + args.width;
    const bool has_right = w + 1 < args.width, has_lower = h + 1 < args.height;
    upper[0] = position == 0 ? gradient : T{0};
    if (has_right) upper[1] = position == 1 ? gradient : T{0};
    if (has_lower) lower[0] = position == 2 ? gradient : T{0};
    if (has_right && has_lower) lower[1] = position == 3 ? gradient : T{0};
  }
}

template <class T, class Position>
void forward(const T* x, T* y, void* positions, const MaxPool2dArgs& args, const Stream& stream) {
  const std::int64_t count = args.planes * args.out_h * args.out_w;
  if (count == 0) return;
  launch<max_pool2d_forward_kernel<T, Position>>(blocks_for(count), dim3(kThreads), 0, stream, x, y,
                                                 static_cast<Position*>(positions), args);
}

template <class T, class Position>
void backward(const T* dy, const void* positions, T* dx, const MaxPool2dArgs& args, const Stream& stream) {
  const std::int64_t count = args.planes * args.height * args.width;
  if (count == 0) return;
  launch<max_pool2d_backward_kernel<T, Position>>(blocks_for(count), dim3(kThreads), 0, stream, dy,
                                                  static_cast<const Position*>(positions), dx, args);
}

template <class Position>
void indices_of(const void* positions, std::int64_t* indices, const MaxPool2dArgs& args,
                const Stream& stream) {
  const std::int64_t count = args.planes * args.out_h * args.out_w;
  if (count == 0) return;
  launch<max_pool2d_indices_kernel<Position>>(blocks_for(count), dim3(kThreads), 0, stream,
                                              static_cast<const Position*>(positions), indices, args);
}

}  // namespace

template <class T>
void max_pool2d_forward(const T* x, T* y, void* positions, const MaxPool2dArgs& args, const Stream& stream) {
  args.wide_positions() ? forward<T, std::int32_t>(x, y, positions, args, stream)
                        : forward<T, std::uint8_t>(x, y, positions, args, stream);
}

template <class T>
void max_pool2d_backward(const T* dy, const void* positions, T* dx, const MaxPool2dArgs& args,
                         const Stream& stream) {
  args.wide_positions() ? backward<T, std::int32_t>(dy, positions, dx, args, stream)
                        : backward<T, std::uint8_t>(dy, positions, dx, args, stream);
}

void max_pool2d_indices(const void* positions, std::int64_t* indices, const MaxPool2dArgs& args,
                        const Stream& stream) {
  args.wide_positions() ? indices_of<std::int32_t>(positions, indices, args, stream)
                        : indices_of<std::uint8_t>(positions, indices, args, stream);
}

bool max_pool2d_is_2x2(const void* args) {
  const auto& a = *static_cast<const MaxPool2dArgs*>(args);
  return a.kernel_h == 2 && a.kernel_w == 2 && a.stride_h == 2 && a.stride_w == 2 && a.pad_h == 0 &&
         a.pad_w == 0 && a.dilation_h == 1 && a.dilation_w == 1 && 2 * a.out_h <= a.height &&
         2 * a.out_w <= a.width;
}

template <class T>
void max_pool2d_forward_2x2(const T* x, T* y, void* positions, const MaxPool2dArgs& args,
                            const Stream& stream) {
  const std::int64_t count = args.planes * args.out_h * args.out_w;
  if (count == 0) return;
  launch<max_pool2d_forward_2x2_kernel<T>>(blocks_for(count), dim3(kThreads), 0, stream, x, y,
                                           static_cast<std::uint8_t*>(positions), args);
}

template <class T>
void max_pool2d_backward_2x2(const T* dy, const void* positions, T* dx, const MaxPool2dArgs& args,
                             const Stream& stream) {
  const std::int64_t squares_h = ceil_div(args.height, 2), squares_w = ceil_div(args.width, 2);
  const std::int64_t count = args.planes * squares_h * squares_w;
  if (count == 0) return;
  launch<max_pool2d_backward_2x2_kernel<T>>(blocks_for(count), dim3(kThreads), 0, stream, dy,
                                            static_cast<const std::uint8_t*>(positions), dx, args, squares_h,
                                            squares_w);
}

#define WARPLINE_INSTANTIATE(T)                                                                         \
  template void max_pool2d_forward<T>(const T*, T*, void*, const MaxPool2dArgs&, const Stream&);        \
  template void max_pool2d_backward<T>(const T*, const void*, T*, const MaxPool2dArgs&, const Stream&); \
  template void max_pool2d_forward_2x2<T>(const T*, T*, void*, const MaxPool2dArgs&, const Stream&);    \
  template void max_pool2d_backward_2x2<T>(const T*, const void*, T*, const MaxPool2dArgs&, const Stream&);
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)
WARPLINE_INSTANTIATE(std::uint32_t)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
