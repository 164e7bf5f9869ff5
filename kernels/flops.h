// How many floating-point operations a call of each op asks for, whatever the variant does: the numerator of
// FLOP/s and of arithmetic intensity. An addition, multiplication, comparison, division, exponential or
// logarithm counts 1, a multiply-add 2; moving and choosing count nothing.
#pragma once

#include "kernels/ops.h"

namespace warpline::kernels {

inline double flops(Gemm, const GemmArgs& args) {
  return args.alpha == 0 ? 0 : 2.0 * static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k);
}

// Each gradient has as many products as the forward pass.
inline double products(const Conv2dArgs& args) {
  const double outputs = static_cast<double>(args.batch * args.filters) * static_cast<double>(args.out_h * args.out_w);
  return 2 * outputs * static_cast<double>(args.channels / args.groups * args.kernel_h * args.kernel_w);
}
inline double flops(Conv2dForward, const Conv2dArgs& args) { return products(args); }
inline double flops(Conv2dBackwardInput, const Conv2dArgs& args) { return products(args); }
inline double flops(Conv2dBackwardWeight, const Conv2dArgs& args) { return products(args); }
inline double flops(Conv2dBackwardBias, const Conv2dArgs& args) {
  return static_cast<double>(args.batch * args.filters * args.out_h * args.out_w);
}

// A window's maximum; overlapping windows add their gradients.
inline double flops(MaxPool2dForward, const MaxPool2dArgs& args) {
  return static_cast<double>(args.planes * args.out_h * args.out_w * (args.kernel_h * args.kernel_w - 1));
}
inline double flops(MaxPool2dBackward, const MaxPool2dArgs& args) {
  return static_cast<double>(args.planes * args.out_h * args.out_w);
}
inline double flops(MaxPool2dIndices, const MaxPool2dArgs&) { return 0; }

inline double flops(ReluForward, const CountArgs& args) { return static_cast<double>(args.count); }
inline double flops(ReluBackward, const CountArgs& args) { return static_cast<double>(args.count); }
inline double flops(Scale, const CountArgs& args) { return static_cast<double>(args.count); }
inline double flops(Axpy, const CountArgs& args) { return 2 * static_cast<double>(args.count); }
inline double flops(Fill, const CountArgs&) { return 0; }

inline double elements(const AxisArgs& args) { return static_cast<double>(args.outer * args.classes * args.inner); }
inline double rows(const NllArgs& args) { return static_cast<double>(args.outer * args.inner); }
// Compare, subtract, exponential, add, subtract twice; backward: add, exponential, multiply, subtract.
inline double flops(LogSoftmaxForward, const AxisArgs& args) { return 6 * elements(args); }
inline double flops(LogSoftmaxBackward, const AxisArgs& args) { return 4 * elements(args); }
inline double flops(Max, const AxisArgs& args) { return elements(args); }
// Weigh, add, add the weight; backward: divide, weigh.
inline double flops(NllForward, const NllArgs& args) { return 3 * rows(args); }
inline double flops(NllBackward, const NllArgs& args) { return 2 * rows(args); }
// Exponential, multiply an element; divide, weigh, subtract a row.
inline double flops(CrossEntropyBackward, const NllArgs& args) {
  return rows(args) * (2 * static_cast<double>(args.classes) + 3);
}

inline double flops(Add, const BroadcastArgs& args) { return static_cast<double>(args.count); }
inline double flops(Mul, const BroadcastArgs& args) { return static_cast<double>(args.count); }
inline double flops(Sum, const ReduceArgs& args) {
  double count = 1;
  for (int d = 0; d < args.dims; ++d) count *= static_cast<double>(args.shape[static_cast<std::size_t>(d)]);
  return count;
}

// Learning rate and update 2, weight decay 2, momentum 3 (2 scalings and an addition), Nesterov 2.
inline double flops(SgdStep, const SgdArgs& args) {
  const double each = 2.0 + (args.weight_decay != 0 ? 2 : 0) + (args.momentum != 0 ? 3 : 0) + (args.nesterov ? 2 : 0);
  return each * static_cast<double>(args.count);
}
// Two moving means 3 + 4, two bias corrections 2, root, eps and quotient 3, update 2; weight decay 2.
inline double flops(AdamStep, const AdamArgs& args) {
  return (14.0 + (args.weight_decay != 0 ? 2 : 0)) * static_cast<double>(args.count);
}

}  // namespace warpline::kernels
