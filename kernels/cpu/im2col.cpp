#include "kernels/cpu/im2col.h"

#include <algorithm>

namespace warpline::kernels::cpu {

namespace {

struct Range {
  std::int64_t begin, end;
};

// The outputs o in 0..count whose input o * stride + offset lies in 0..size.
Range inside(std::int64_t count, std::int64_t stride, std::int64_t offset, std::int64_t size) {
  const auto ceil_divide = [&](std::int64_t a) { return a <= 0 ? 0 : (a + stride - 1) / stride; };
  const std::int64_t begin = std::min(count, ceil_divide(-offset));
  return {begin, std::clamp(ceil_divide(size - offset), begin, count)};
}

// body(row of columns, plane, r, s) for each channel and kernel cell.
template <class Body>
void each_cell(std::int64_t channels, const Conv2dArgs& args, const Body& body) {
  std::int64_t row = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t r = 0; r < args.kernel_h; ++r) {
      for (std::int64_t s = 0; s < args.kernel_w; ++s, ++row) {
        body(row, c, r * args.dilation_h - args.pad_h, s * args.dilation_w - args.pad_w);
      }
    }
  }
}

}  // namespace

void im2col(const float* x, std::int64_t channels, const Conv2dArgs& args, float* columns) {
  const std::int64_t width = args.out_w;
  each_cell(channels, args, [&](std::int64_t row, std::int64_t c, std::int64_t h0, std::int64_t w0) {
    const float* const plane = x + c * args.height * args.width;
    float* to = columns + row * args.out_h * width;
    const Range valid = inside(width, args.stride_w, w0, args.width);
    for (std::int64_t oh = 0; oh < args.out_h; ++oh, to += width) {
      const std::int64_t h = oh * args.stride_h + h0;
      if (h < 0 || h >= args.height) {
        std::fill_n(to, width, 0.0F);
        continue;
      }
      const float* const from = plane + h * args.width + w0;
      std::fill(to, to + valid.begin, 0.0F);
      if (args.stride_w == 1) {
        for (std::int64_t ow = valid.begin; ow < valid.end; ++ow) to[ow] = from[ow];
      } else {
        for (std::int64_t ow = valid.begin; ow < valid.end; ++ow) to[ow] = from[ow * args.stride_w];
      }
      std::fill(to + valid.end, to + width, 0.0F);
    }
  });
}

void col2im(const float* columns, std::int64_t channels, const Conv2dArgs& args, float* dx) {
  std::fill_n(dx, channels * args.height * args.width, 0.0F);
  const std::int64_t width = args.out_w;
  each_cell(channels, args, [&](std::int64_t row, std::int64_t c, std::int64_t h0, std::int64_t w0) {
    float* const plane = dx + c * args.height * args.width;
    const float* from = columns + row * args.out_h * width;
    const Range valid = inside(width, args.stride_w, w0, args.width);
    for (std::int64_t oh = 0; oh < args.out_h; ++oh, from += width) {
      const std::int64_t h = oh * args.stride_h + h0;
      if (h < 0 || h >= args.height) continue;
      float* const to = plane + h * args.width + w0;
      if (args.stride_w == 1) {
        for (std::int64_t ow = valid.begin; ow < valid.end; ++ow) to[ow] += from[ow];
      } else {
        for (std::int64_t ow = valid.begin; ow < valid.end; ++ow) to[ow * args.stride_w] += from[ow];
      }
    }
  });
}

void im2row(const float* x, std::int64_t channels, const Conv2dArgs& args, float* rows) {
  const std::int64_t row_length = channels * args.kernel_h * args.kernel_w;
  for (std::int64_t oh = 0; oh < args.out_h; ++oh) {
    for (std::int64_t ow = 0; ow < args.out_w; ++ow, rows += row_length) {
      each_cell(channels, args, [&](std::int64_t cell, std::int64_t c, std::int64_t h0, std::int64_t w0) {
        const std::int64_t h = oh * args.stride_h + h0, w = ow * args.stride_w + w0;
        const bool valid = h >= 0 && h < args.height && w >= 0 && w < args.width;
        rows[cell] = valid ? x[(c * args.height + h) * args.width + w] : 0.0F;
      });
    }
  }
}

}  // namespace warpline::kernels::cpu
