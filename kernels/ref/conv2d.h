// Cross-correlation, NCHW, and its three gradients. All four are the same sum over (image, filter, channel of
// the group, tap, output place); they differ in what stays outside: y gathers taps, dx the windows that cover
// a cell, dweight the places that a tap met. The input row under tap r of output row i is i * stride - pad +
// r * dilation; outside the image it is padding, and skipped.
#pragma once

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

// Flat offsets. int64 throughout: planes * pixels passes 2^31.
struct ConvIndex {
  const Conv2dArgs& args;
  std::int64_t group_channels() const { return args.channels / args.groups; }
  std::int64_t group_filters() const { return args.filters / args.groups; }
  std::int64_t first_channel(std::int64_t filter) const {
    return filter / group_filters() * group_channels();
  }
  std::int64_t x(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return ((n * args.channels + c) * args.height + h) * args.width + w;
  }
  std::int64_t y(std::int64_t n, std::int64_t k, std::int64_t i, std::int64_t j) const {
    return ((n * args.filters + k) * args.out_h + i) * args.out_w + j;
  }
  std::int64_t weight(std::int64_t k, std::int64_t c_in_group, std::int64_t r, std::int64_t s) const {
    return ((k * group_channels() + c_in_group) * args.kernel_h + r) * args.kernel_w + s;
  }
  std::int64_t row(std::int64_t i, std::int64_t r) const {
    return i * args.stride_h - args.pad_h + r * args.dilation_h;
  }
  std::int64_t column(std::int64_t j, std::int64_t s) const {
    return j * args.stride_w - args.pad_w + s * args.dilation_w;
  }
  bool inside(std::int64_t h, std::int64_t w) const {
    return h >= 0 && h < args.height && w >= 0 && w < args.width;
  }
};

template <class T>
void conv2d_forward(const T* x, const T* weight, const T* bias, T* y, const Conv2dArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const ConvIndex at{args};
  for (std::int64_t n = 0; n < args.batch; ++n) {
    for (std::int64_t k = 0; k < args.filters; ++k) {
      for (std::int64_t i = 0; i < args.out_h; ++i) {
        for (std::int64_t j = 0; j < args.out_w; ++j) {
          Acc sum = bias != nullptr ? Acc{bias[k]} : Acc{0};
          for (std::int64_t c = 0; c < at.group_channels(); ++c) {
            for (std::int64_t r = 0; r < args.kernel_h; ++r) {
              for (std::int64_t s = 0; s < args.kernel_w; ++s) {
                const std::int64_t h = at.row(i, r), w = at.column(j, s);
                if (!at.inside(h, w)) continue;
                sum += Acc{x[at.x(n, at.first_channel(k) + c, h, w)]} * Acc{weight[at.weight(k, c, r, s)]};
              }
            }
          }
          y[at.y(n, k, i, j)] = static_cast<T>(sum);
        }
      }
    }
  }
}

// Overwrites dx. Output row i meets input row h at tap r where i * stride = h + pad - r * dilation: not every
// tap has one when the stride does not divide. A cell that no window covers gets exactly 0.
template <class T>
void conv2d_backward_input(const T* dy, const T* weight, T* dx, const Conv2dArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const ConvIndex at{args};
  for (std::int64_t n = 0; n < args.batch; ++n) {
    for (std::int64_t channel = 0; channel < args.channels; ++channel) {
      const std::int64_t group = channel / at.group_channels();
      const std::int64_t c = channel % at.group_channels();
      for (std::int64_t h = 0; h < args.height; ++h) {
        for (std::int64_t w = 0; w < args.width; ++w) {
          Acc sum = 0;
          for (std::int64_t r = 0; r < args.kernel_h; ++r) {
            const std::int64_t up = h + args.pad_h - r * args.dilation_h;
            if (up < 0 || up % args.stride_h != 0 || up / args.stride_h >= args.out_h) continue;
            for (std::int64_t s = 0; s < args.kernel_w; ++s) {
              const std::int64_t left = w + args.pad_w - s * args.dilation_w;
              if (left < 0 || left % args.stride_w != 0 || left / args.stride_w >= args.out_w) continue;
              for (std::int64_t f = 0; f < at.group_filters(); ++f) {
                const std::int64_t k = group * at.group_filters() + f;
                sum += Acc{dy[at.y(n, k, up / args.stride_h, left / args.stride_w)]} *
                       Acc{weight[at.weight(k, c, r, s)]};
              }
            }
          }
          dx[at.x(n, channel, h, w)] = static_cast<T>(sum);
        }
      }
    }
  }
}

// Overwrites dweight; zeros for an empty batch.
template <class T>
void conv2d_backward_weight(const T* dy, const T* x, T* dweight, const Conv2dArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const ConvIndex at{args};
  for (std::int64_t k = 0; k < args.filters; ++k) {
    for (std::int64_t c = 0; c < at.group_channels(); ++c) {
      for (std::int64_t r = 0; r < args.kernel_h; ++r) {
        for (std::int64_t s = 0; s < args.kernel_w; ++s) {
          Acc sum = 0;
          for (std::int64_t n = 0; n < args.batch; ++n) {
            for (std::int64_t i = 0; i < args.out_h; ++i) {
              for (std::int64_t j = 0; j < args.out_w; ++j) {
                const std::int64_t h = at.row(i, r), w = at.column(j, s);
                if (!at.inside(h, w)) continue;
                sum += Acc{dy[at.y(n, k, i, j)]} * Acc{x[at.x(n, at.first_channel(k) + c, h, w)]};
              }
            }
          }
          dweight[at.weight(k, c, r, s)] = static_cast<T>(sum);
        }
      }
    }
  }
}

// Overwrites dbias.
template <class T>
void conv2d_backward_bias(const T* dy, T* dbias, const Conv2dArgs& args, const Stream&) {
  const ConvIndex at{args};
  for (std::int64_t k = 0; k < args.filters; ++k) {
    Accumulator<T> sum = 0;
    for (std::int64_t n = 0; n < args.batch; ++n) {
      for (std::int64_t i = 0; i < args.out_h; ++i) {
        for (std::int64_t j = 0; j < args.out_w; ++j) sum += dy[at.y(n, k, i, j)];
      }
    }
    dbias[k] = static_cast<T>(sum);
  }
}

}  // namespace warpline::kernels::ref
