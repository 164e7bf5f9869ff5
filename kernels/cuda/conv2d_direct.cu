// Convolution from its definition: a thread computes one cell of y or dx. For any shape; best where a cell's
// sum is short, so that a tile of a matrix product would be padding for the most part.
#include "kernels/cuda/device/block_reduce.h"
#include "kernels/cuda/device/block_sums.h"
#include "kernels/cuda/device/index.h"
#include "kernels/cuda/device/window.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// The taps outside the image are left out before the loops, not tested within.
template <class T>
__global__ void conv2d_forward_direct_kernel(const T* x, const T* weight, const T* bias, T* y,
                                             ConvShape shape) {
  const std::int64_t count = shape.batch * shape.filters * shape.places;
  for (std::int64_t cell = grid_thread(); cell < count; cell += grid_threads()) {
    const Digits at(cell, shape.out_h, shape.out_w);
    const std::int64_t image = at.first / shape.filters, filter = at.first % shape.filters;
    const std::int64_t first_channel = filter / shape.group_filters * shape.group_channels;
    const std::int64_t top = at.middle * shape.stride_h - shape.pad_h;
    const std::int64_t left = at.last * shape.stride_w - shape.pad_w;
    const Range rows = taps_inside(top, shape.kernel_h, shape.dilation_h, shape.height);
    const Range columns = taps_inside(left, shape.kernel_w, shape.dilation_w, shape.width);
    T sum = bias == nullptr ? T{0} : bias[filter];
    for (std::int64_t c = 0; c < shape.group_channels; ++c) {
      const T* const plane = x + (image * shape.channels + first_channel + c) * shape.cells;
      const T* const kernel = weight + (filter * shape.group_channels + c) * shape.taps;
      for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const T* const row = plane + (top + r * shape.dilation_h) * shape.width;
        for (std::int64_t s = columns.begin; s < columns.end; ++s) {
          sum += row[left + s * shape.dilation_w] * kernel[r * shape.kernel_w + s];
        }
      }
    }
    y[cell] = sum;
  }
}

// Gathers: each cell of x sums the windows that cover it, so no two threads write to one place. A cell that
// none covers gets 0.
template <class T>
__global__ void conv2d_backward_input_direct_kernel(const T* dy, const T* weight, T* dx, ConvShape shape) {
  const std::int64_t count = shape.batch * shape.channels * shape.cells;
  const std::int64_t filter_weights = shape.group_channels * shape.taps;
  for (std::int64_t cell = grid_thread(); cell < count; cell += grid_threads()) {
    const Digits at(cell, shape.height, shape.width);
    const std::int64_t image = at.first / shape.channels, channel = at.first % shape.channels;
    const std::int64_t first_filter = channel / shape.group_channels * shape.group_filters;
    const T* const planes = dy + (image * shape.filters + first_filter) * shape.places;
    const T* const kernels =
        weight + first_filter * filter_weights + channel % shape.group_channels * shape.taps;
    T sum = 0;
    for (std::int64_t r = 0; r < shape.kernel_h; ++r) {
      std::int64_t i, j;
      if (!window_at(at.middle + shape.pad_h - r * shape.dilation_h, shape.stride_h, shape.out_h, i))
        continue;
      for (std::int64_t s = 0; s < shape.kernel_w; ++s) {
        if (!window_at(at.last + shape.pad_w - s * shape.dilation_w, shape.stride_w, shape.out_w, j))
          continue;
        const T* const gradient = planes + i * shape.out_w + j;
        const T* const factors = kernels + r * shape.kernel_w + s;
        for (std::int64_t f = 0; f < shape.group_filters; ++f) {
          sum += gradient[f * shape.places] * factors[f * filter_weights];
        }
      }
    }
    dx[cell] = sum;
  }
}

constexpr int kTaps = 8, kSumThreads = 128;

// A block sums the gradients of up to 8 weights of one filter: its threads share out the places of all
// images, and each cell of dy that they read serves all 8.
template <class T>
__global__ void conv2d_backward_weight_direct_kernel(const T* dy, const T* x, T* dweight, ConvShape shape,
                                                     std::int64_t blocks_of_a_filter) {
  __shared__ T shared[kTaps][kSumThreads];
  const std::int64_t filter = blockIdx.x / blocks_of_a_filter;
  const std::int64_t first_weight = blockIdx.x % blocks_of_a_filter * kTaps;
  const std::int64_t filter_weights = shape.group_channels * shape.taps;
  const std::int64_t first_channel = filter / shape.group_filters * shape.group_channels;
  std::int64_t plane[kTaps], row[kTaps], column[kTaps];  // under the window at the origin
  for (int t = 0; t < kTaps; ++t) {
    const Digits at(first_weight + t, shape.kernel_h, shape.kernel_w);
    plane[t] = (first_channel + at.first) * shape.cells;
    // Behind the last weight: a row that lies outside every image.
    row[t] = first_weight + t < filter_weights ? at.middle * shape.dilation_h - shape.pad_h : shape.height;
    column[t] = at.last * shape.dilation_w - shape.pad_w;
  }
  T sums[kTaps] = {};
  for (Odometer place(threadIdx.x, kSumThreads, shape.out_h, shape.out_w); place.at().first < shape.batch;
       place.advance()) {
    const auto& [image, i, j] = place.at();
    const T gradient = dy[((image * shape.filters + filter) * shape.out_h + i) * shape.out_w + j];
    const T* const planes = x + image * shape.channels * shape.cells;
    for (int t = 0; t < kTaps; ++t) {
      const std::int64_t h = i * shape.stride_h + row[t], w = j * shape.stride_w + column[t];
      if (is_within(h, shape.height) && is_within(w, shape.width)) {
        sums[t] += gradient * planes[plane[t] + h * shape.width + w];
      }
    }
  }
  block_sums(sums, shared);
  const std::int64_t t = threadIdx.x;
  if (t < kTaps && first_weight + t < filter_weights)
    dweight[filter * filter_weights + first_weight + t] = shared[t][0];
}

// A block a filter.
template <class T>
__global__ void conv2d_backward_bias_kernel(const T* dy, T* dbias, ConvShape shape) {
  const std::int64_t filter = blockIdx.x;
  T sum = 0;
  for (Odometer place(threadIdx.x, kThreads, 1, shape.places); place.at().first < shape.batch;
       place.advance()) {
    sum += dy[(place.at().first * shape.filters + filter) * shape.places + place.at().last];
  }
  sum = block_reduce<kThreads>(sum, Plus{});
  if (threadIdx.x == 0) dbias[filter] = sum;
}

}  // namespace

template <class T>
void conv2d_forward_direct(const T* x, const T* weight, const T* bias, T* y, const Conv2dArgs& args,
                           const Stream& stream) {
  const ConvShape shape(args);
  const std::int64_t count = shape.batch * shape.filters * shape.places;
  if (count == 0) return;
  launch<conv2d_forward_direct_kernel<T>>(blocks_for(count), dim3(kThreads), 0, stream, x, weight, bias, y,
                                          shape);
}

template <class T>
void conv2d_backward_input_direct(const T* dy, const T* weight, T* dx, const Conv2dArgs& args,
                                  const Stream& stream) {
  const ConvShape shape(args);
  const std::int64_t count = shape.batch * shape.channels * shape.cells;
  if (count == 0) return;
  launch<conv2d_backward_input_direct_kernel<T>>(blocks_for(count), dim3(kThreads), 0, stream, dy, weight, dx,
                                                 shape);
}

template <class T>
void conv2d_backward_weight_direct(const T* dy, const T* x, T* dweight, const Conv2dArgs& args,
                                   const Stream& stream) {
  const ConvShape shape(args);
  const std::int64_t blocks = ceil_div(shape.group_channels * shape.taps, kTaps);
  if (shape.filters * blocks == 0) return;
  launch<conv2d_backward_weight_direct_kernel<T>>(dim3(static_cast<unsigned>(shape.filters * blocks)),
                                                  dim3(kSumThreads), 0, stream, dy, x, dweight, shape,
                                                  blocks);
}

template <class T>
void conv2d_backward_bias(const T* dy, T* dbias, const Conv2dArgs& args, const Stream& stream) {
  if (args.filters == 0) return;
  launch<conv2d_backward_bias_kernel<T>>(dim3(static_cast<unsigned>(args.filters)), dim3(kThreads), 0, stream,
                                         dy, dbias, ConvShape(args));
}

#define WARPLINE_INSTANTIATE(T)                                                                             \
  template void conv2d_forward_direct<T>(const T*, const T*, const T*, T*, const Conv2dArgs&,               \
                                         const Stream&);                                                    \
  template void conv2d_backward_input_direct<T>(const T*, const T*, T*, const Conv2dArgs&, const Stream&);  \
  template void conv2d_backward_weight_direct<T>(const T*, const T*, T*, const Conv2dArgs&, const Stream&); \
  template void conv2d_backward_bias<T>(const T*, T*, const Conv2dArgs&, const Stream&);
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)
WARPLINE_INSTANTIATE(std::uint32_t)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
