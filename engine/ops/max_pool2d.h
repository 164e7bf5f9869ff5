// Two-dimensional max-pooling, as torch.nn.functional.max_pool2d.
#pragma once

#include "engine/ops/window.h"
#include "engine/tensor.h"

namespace warpline {

struct MaxPool2dOptions {
  Pair kernel_size{0, 0};
  Pair stride{0, 0};  // {0, 0}: the kernel size
  Pair padding{0, 0}, dilation{1, 1};
  bool ceil_mode = false;
};

// ValueError unless a pooling with these options can exist: positive sizes, stride and dilation, padding
// from 0 to half of the kernel.
void check_max_pool2d_options(const MaxPool2dOptions& options);

// Output shape without running: input N, C, H, W or C, H, W.
Shape max_pool2d_shape(const Shape& input, const MaxPool2dOptions& options);

// Padding behaves as -inf; NaN wins; of ties the first in row-major order is taken and gets the whole
// gradient. N may be 0. Throws ShapeError (zero channels, height or width; a kernel larger than the padded
// input; a dilated window that meets padding only) and ValueError (options; padding above half of the
// kernel).
Tensor max_pool2d(Context& context, const Tensor& input, const MaxPool2dOptions& options);

struct MaxPool2dResult {
  Tensor output;
  Tensor indices;  // int64, the maximum's place in the unpadded H x W plane; carries no gradient
};
MaxPool2dResult max_pool2d_with_indices(Context& context, const Tensor& input,
                                        const MaxPool2dOptions& options);

}  // namespace warpline
