// One image's patches as a matrix, so that a convolution is a matrix product (Chellapilla et al., High
// Performance Convolutional Neural Networks for Document Processing, 2006).
#pragma once

#include "kernels/args.h"

namespace warpline::kernels::cpu {

// x: channels x height x width, of one group. columns: (channels * kernel_h * kernel_w) x (out_h * out_w);
// 0 where a patch reaches into the padding.
void im2col(const float* x, std::int64_t channels, const Conv2dArgs& args, float* columns);

// The transpose of im2col: adds each column element to the pixel that it came from. dx is overwritten.
void col2im(const float* columns, std::int64_t channels, const Conv2dArgs& args, float* dx);

// im2col's matrix transposed: (out_h * out_w) x (channels * kernel_h * kernel_w).
void im2row(const float* x, std::int64_t channels, const Conv2dArgs& args, float* rows);

}  // namespace warpline::kernels::cpu
