// Max-pool both ways. Padding counts as -inf, the first of equal values wins in row-major order and takes the
// whole gradient, NaN beats numbers and of several NaNs the last one's place is kept.
#pragma once

#include <vector>

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

// One window of a plane: which input cell its position r * kernel_w + s stands for.
struct PoolWindow {
  const MaxPool2dArgs& args;
  std::int64_t i, j;  // output row and column
  std::int64_t row(std::int64_t position) const {
    return i * args.stride_h - args.pad_h + position / args.kernel_w * args.dilation_h;
  }
  std::int64_t column(std::int64_t position) const {
    return j * args.stride_w - args.pad_w + position % args.kernel_w * args.dilation_w;
  }
  bool inside(std::int64_t position) const {
    const std::int64_t h = row(position), w = column(position);
    return h >= 0 && h < args.height && w >= 0 && w < args.width;
  }
  std::int64_t cell(std::int64_t position) const { return row(position) * args.width + column(position); }
};

// Calls body(window, flat output index) for each window of a plane.
template <class Body>
void for_each_window(const MaxPool2dArgs& args, std::int64_t plane, Body body) {
  for (std::int64_t i = 0; i < args.out_h; ++i) {
    for (std::int64_t j = 0; j < args.out_w; ++j) {
      body(PoolWindow{args, i, j}, (plane * args.out_h + i) * args.out_w + j);
    }
  }
}

inline std::int64_t load_position(const void* positions, std::int64_t index, const MaxPool2dArgs& args) {
  return args.wide_positions() ? std::int64_t{static_cast<const std::int32_t*>(positions)[index]}
                               : std::int64_t{static_cast<const std::uint8_t*>(positions)[index]};
}

inline void store_position(void* positions, std::int64_t index, std::int64_t position,
                           const MaxPool2dArgs& args) {
  if (args.wide_positions()) {
    static_cast<std::int32_t*>(positions)[index] = static_cast<std::int32_t>(position);
  } else {
    static_cast<std::uint8_t*>(positions)[index] = static_cast<std::uint8_t>(position);
  }
}

template <class T>
void max_pool2d_forward(const T* x, T* y, void* positions, const MaxPool2dArgs& args, const Stream&) {
  const std::int64_t cells = args.kernel_h * args.kernel_w;
  for (std::int64_t plane = 0; plane < args.planes; ++plane) {
    const T* input = x + plane * args.height * args.width;
    for_each_window(args, plane, [&](const PoolWindow& window, std::int64_t out) {
      T best = kLowest<T>;
      std::int64_t best_position = -1;
      for (std::int64_t position = 0; position < cells; ++position) {
        if (!window.inside(position)) continue;
        const T value = input[window.cell(position)];
        if (best_position < 0 || value > best || is_nan(value)) {
          best = value;
          best_position = position;
        }
      }
      y[out] = best;
      store_position(positions, out, best_position, args);
    });
  }
}

// Overwrites dx; overlapping windows add.
template <class T>
void max_pool2d_backward(const T* dy, const void* positions, T* dx, const MaxPool2dArgs& args,
                         const Stream&) {
  const std::int64_t pixels = args.height * args.width;
  for (std::int64_t plane = 0; plane < args.planes; ++plane) {
    std::vector<Accumulator<T>> sums(static_cast<std::size_t>(pixels), 0);
    for_each_window(args, plane, [&](const PoolWindow& window, std::int64_t out) {
      sums[static_cast<std::size_t>(window.cell(load_position(positions, out, args)))] += dy[out];
    });
    for (std::int64_t p = 0; p < pixels; ++p) {
      dx[plane * pixels + p] = static_cast<T>(sums[static_cast<std::size_t>(p)]);
    }
  }
}

// PyTorch's indices, flat in the unpadded plane.
inline void max_pool2d_indices(const void* positions, std::int64_t* indices, const MaxPool2dArgs& args,
                               const Stream&) {
  for (std::int64_t plane = 0; plane < args.planes; ++plane) {
    for_each_window(args, plane, [&](const PoolWindow& window, std::int64_t out) {
      indices[out] = window.cell(load_position(positions, out, args));
    });
  }
}

}  // namespace warpline::kernels::ref
