// Two-dimensional convolution (cross-correlation), as torch.nn.functional.conv2d.
#pragma once

#include "engine/ops/window.h"
#include "engine/tensor.h"

namespace warpline {

struct Conv2dOptions {
  Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;
  // Pads so that the output has the input's height and width; an odd cell goes to the right and the bottom.
  // Takes stride 1 and padding 0 only.
  bool same = false;
};

// ValueError unless a convolution with this kernel can exist: positive sizes, stride, dilation and groups, no
// negative padding, and what `same` takes.
void check_conv2d_options(const Pair& kernel, const Conv2dOptions& options);

// Output shape without running: input N, C, H, W or C, H, W; weight K, C / groups, R, S. Throws what conv2d
// throws.
Shape conv2d_shape(const Shape& input, const Shape& weight, const Conv2dOptions& options = {});

// input: N, C, H, W or C, H, W. weight: K, C / groups, R, S. bias: K, or undefined for none. N and C may be
// 0. Throws ShapeError (channels, groups, bias length, kernel larger than the padded input, sizes beyond
// int64) and ValueError (options). What Inf or NaN weights give against zero padding is left open: targets
// may skip the padding or multiply by it.
Tensor conv2d(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options = {});

}  // namespace warpline
