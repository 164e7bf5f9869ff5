#include "kernels/cpu/im2col.h"

#include <algorithm>

#include "kernels/cpu/product.h"
#include "kernels/cpu/simd/select.h"

namespace warpline::kernels::cpu {

namespace {

constexpr std::int64_t kBlockFloats = 65536;  // of a block's matrix: 256 KiB

}  // namespace

// The padded image is what the patches reach: all of the padding that is used, and no input that none uses.
Patches::Patches(const Conv2dArgs& args, std::int64_t channels)
    : args_(args),
      channels_(channels),
      padded_h_((args.out_h - 1) * args.stride_h + (args.kernel_h - 1) * args.dilation_h + 1),
      padded_w_((args.out_w - 1) * args.stride_w + (args.kernel_w - 1) * args.dilation_w + 1) {
  const std::int64_t line = std::max<std::int64_t>(1, cells() * args.out_w);
  block_lines_ = std::clamp<std::int64_t>(kBlockFloats / line, 1, std::max<std::int64_t>(1, args.out_h));
}

std::int64_t Patches::padded_size() const { return channels_ * padded_h_ * padded_w_ + kCopySlack; }

std::int64_t Patches::matrix_size() const {
  return block_lines_ * args_.out_w * cells() + std::max(kCopySlack, kPanel);
}

// body(padded row, image row or -1, first and last column that lie in the image)
template <class Body>
void Patches::each_padded_row(const Body& body) const {
  const std::int64_t begin = std::min(args_.pad_w, padded_w_);
  const std::int64_t end = std::clamp(args_.pad_w + args_.width, begin, padded_w_);
  for (std::int64_t c = 0; c < channels_; ++c) {
    for (std::int64_t row = 0; row < padded_h_; ++row) {
      const std::int64_t h = row - args_.pad_h;
      body(c * padded_h_ + row, h >= 0 && h < args_.height ? c * args_.height + h : -1, begin, end);
    }
  }
}

template <class Body>
void Patches::each_cell(Range lines, const Body& body) const {
  for (std::int64_t c = 0; c < channels_; ++c) {
    for (std::int64_t r = 0; r < args_.kernel_h; ++r) {
      const std::int64_t row = c * padded_h_ + lines.begin * args_.stride_h + r * args_.dilation_h;
      for (std::int64_t s = 0; s < args_.kernel_w; ++s) body(row * padded_w_ + s * args_.dilation_w);
    }
  }
}

void Patches::pad(const float* x, float* padded) const {
  each_padded_row([&](std::int64_t row, std::int64_t from, std::int64_t begin, std::int64_t end) {
    float* const to = padded + row * padded_w_;
    if (from < 0) {
      std::fill_n(to, padded_w_, 0.0F);
      return;
    }
    std::fill_n(to, begin, 0.0F);
    std::copy_n(x + from * args_.width, end - begin, to + begin);
    std::fill(to + end, to + padded_w_, 0.0F);
  });
}

void Patches::to_columns(const float* padded, Range lines, float* matrix) const {
  const std::int64_t row_stride = args_.stride_h * padded_w_;
  float* to = matrix;
  each_cell(lines, [&](std::int64_t first) {
    const float* const from = padded + first;
    if (args_.stride_w == 1) {
      simd().copy_rows(1, 0, lines.size(), row_stride, args_.out_w, from, to);
      to += lines.size() * args_.out_w;
      return;
    }
    for (std::int64_t h = 0; h < lines.size(); ++h) {
      for (std::int64_t w = 0; w < args_.out_w; ++w) *to++ = from[h * row_stride + w * args_.stride_w];
    }
  });
}

void Patches::to_rows(const float* padded, Range lines, float* matrix) const {
  float* to = matrix;
  for (std::int64_t h = lines.begin; h < lines.end; ++h) {
    for (std::int64_t w = 0; w < args_.out_w; ++w, to += cells()) {
      const float* const from = padded + h * args_.stride_h * padded_w_ + w * args_.stride_w;
      if (args_.dilation_w == 1) {
        simd().copy_rows(channels_, padded_h_ * padded_w_, args_.kernel_h, args_.dilation_h * padded_w_,
                         args_.kernel_w, from, to);
        continue;
      }
      float* cell = to;
      each_cell({0, 0}, [&](std::int64_t first) { *cell++ = from[first]; });
    }
  }
}

void Patches::clear(float* padded) const { std::fill_n(padded, channels_ * padded_h_ * padded_w_, 0.0F); }

void Patches::add_columns(const float* matrix, Range lines, float* padded) const {
  const std::int64_t row_stride = args_.stride_h * padded_w_;
  const float* from = matrix;
  each_cell(lines, [&](std::int64_t first) {
    float* const to = padded + first;
    if (args_.stride_w == 1) {
      simd().add_rows(lines.size(), args_.out_w, from, to, row_stride);
      from += lines.size() * args_.out_w;
      return;
    }
    for (std::int64_t h = 0; h < lines.size(); ++h) {
      for (std::int64_t w = 0; w < args_.out_w; ++w) to[h * row_stride + w * args_.stride_w] += *from++;
    }
  });
}

void Patches::unpad(const float* padded, float* dx) const {
  // Input that no patch reaches has gradient 0.
  const bool all_used = padded_h_ >= args_.pad_h + args_.height && padded_w_ >= args_.pad_w + args_.width;
  if (!all_used) std::fill_n(dx, channels_ * args_.height * args_.width, 0.0F);
  each_padded_row([&](std::int64_t row, std::int64_t to, std::int64_t begin, std::int64_t end) {
    if (to >= 0) std::copy_n(padded + row * padded_w_ + begin, end - begin, dx + to * args_.width);
  });
}

}  // namespace warpline::kernels::cpu
