// The numbers of each kernel, one struct an op. Everything is int64: products of int32 sizes overflow. The
// engine has checked them before a kernel sees them; semantics follow PyTorch.
#pragma once

#include <array>
#include <cstdint>

namespace warpline {

// c[m,n] = alpha * op(a)[m,k] * op(b)[k,n] + beta * c, row-major and contiguous; op transposes when its flag
// is set (a is then stored k x m, b n x k). beta = 0 never reads c, alpha = 0 never reads a and b. k = 0
// gives beta * c.
struct GemmArgs {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  double alpha = 1.0, beta = 0.0;
};

// Cross-correlation. x: batch, channels, height, width; weight: filters, channels / groups, kernel_h,
// kernel_w; y: batch, filters, out_h, out_w. Padding may be asymmetric ("same" puts the odd cell right and
// bottom): pad_h is the top, pad_w the left; the rest follows from out_h and out_w.
struct Conv2dArgs {
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;
  std::int64_t filters = 0, kernel_h = 0, kernel_w = 0;
  std::int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1, groups = 1;
  std::int64_t out_h = 0, out_w = 0;
};

// planes = batch * channels. A position is the row-major index within the window, r * kernel_w + s, as uint8
// where the window has at most 256 cells, else int32: backward needs no more, and it is internal. Every
// window meets at least one cell of the input: the engine refuses dilations that step over all of it.
struct MaxPool2dArgs {
  std::int64_t planes = 0, height = 0, width = 0;
  std::int64_t kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t out_h = 0, out_w = 0;
  bool wide_positions() const { return kernel_h * kernel_w > 256; }
};

// A tensor seen as outer x classes x inner, the op working along `classes`.
struct AxisArgs {
  std::int64_t outer = 0, classes = 0, inner = 1;
};

enum class Reduction : std::uint8_t { None, Sum, Mean };

// log-probabilities: outer x classes x inner, target: outer x inner.
struct NllArgs {
  std::int64_t outer = 0, classes = 0, inner = 1;
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::Mean;
};

// Written by a kernel that met a target outside 0..classes-1 (and not ignore_index): a device-memory flag
// that the engine reads at the next synchronisation. row is outer * inner flat; row = -1: no error.
struct TargetError {
  std::int64_t row = -1, target = 0;
};

inline constexpr int kMaxDims = 8;

// y[i] = a[i] op b[i] over `dims` axes; strides are in elements and 0 on broadcast axes; y is contiguous.
struct BroadcastArgs {
  int dims = 0;
  std::array<std::int64_t, kMaxDims> shape{}, stride_a{}, stride_b{};
  std::int64_t count = 0;  // elements of y
};

// y = scale * (sum of x over the axes with reduced[d]); x is contiguous, y keeps the other axes in order.
struct ReduceArgs {
  int dims = 0;
  std::array<std::int64_t, kMaxDims> shape{};
  std::array<bool, kMaxDims> reduced{};
  double scale = 1.0;
};

// PyTorch's SGD, one flat buffer. The momentum buffer starts as the first gradient (first_step).
struct SgdArgs {
  std::int64_t count = 0;
  double lr = 0.01, momentum = 0.0, dampening = 0.0, weight_decay = 0.0;
  bool nesterov = false, first_step = false;
};

// PyTorch's Adam; decoupled: AdamW. step counts from 1.
struct AdamArgs {
  std::int64_t count = 0, step = 1;
  double lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0;
  bool decoupled = false;
};

}  // namespace warpline
