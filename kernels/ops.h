// The kernel signatures: an op is a name, its struct of numbers and a function type. Pointers are separate
// arguments and untyped here; the row that is looked up by dtype knows their type. No kernel returns a value
// through a host pointer. Each gradient kernel says whether it overwrites or accumulates: all of them
// overwrite.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/args.h"
#include "kernels/stream.h"

namespace warpline::kernels {

// An element-wise kernel over `count` contiguous elements.
struct CountArgs {
  std::int64_t count = 0;
  double alpha = 1.0;  // Scale, Axpy, Fill
};

#define WARPLINE_KERNEL_OP(Type, text, ArgsType, ...)                       \
  struct Type {                                                             \
    static constexpr std::string_view name = text;                          \
    using Args = ArgsType;                                                  \
    using Function = void (*)(__VA_ARGS__, const ArgsType&, const Stream&); \
  }

WARPLINE_KERNEL_OP(Gemm, "gemm", GemmArgs, const void* a, const void* b, void* c);

// bias may be null. Overwrites y.
WARPLINE_KERNEL_OP(Conv2dForward, "conv2d_forward", Conv2dArgs, const void* x, const void* weight,
                   const void* bias, void* y);
WARPLINE_KERNEL_OP(Conv2dBackwardInput, "conv2d_backward_input", Conv2dArgs, const void* dy,
                   const void* weight, void* dx);
WARPLINE_KERNEL_OP(Conv2dBackwardWeight, "conv2d_backward_weight", Conv2dArgs, const void* dy, const void* x,
                   void* dweight);
WARPLINE_KERNEL_OP(Conv2dBackwardBias, "conv2d_backward_bias", Conv2dArgs, const void* dy, void* dbias);

// positions: uint8 or int32 (MaxPool2dArgs::wide_positions).
WARPLINE_KERNEL_OP(MaxPool2dForward, "max_pool2d_forward", MaxPool2dArgs, const void* x, void* y,
                   void* positions);
WARPLINE_KERNEL_OP(MaxPool2dBackward, "max_pool2d_backward", MaxPool2dArgs, const void* dy,
                   const void* positions, void* dx);
// positions -> int64 index within the unpadded height x width plane. Looked up by DType::Int64.
WARPLINE_KERNEL_OP(MaxPool2dIndices, "max_pool2d_indices", MaxPool2dArgs, const void* positions,
                   void* indices);

WARPLINE_KERNEL_OP(ReluForward, "relu_forward", CountArgs, const void* x, void* y);
WARPLINE_KERNEL_OP(ReluBackward, "relu_backward", CountArgs, const void* dy, const void* y, void* dx);

WARPLINE_KERNEL_OP(LogSoftmaxForward, "log_softmax_forward", AxisArgs, const void* x, void* y);
WARPLINE_KERNEL_OP(LogSoftmaxBackward, "log_softmax_backward", AxisArgs, const void* dy, const void* y,
                   void* dx);

// class_weight may be null. loss: outer x inner elements for None, else one. total_weight: one element, the
// sum of the weights of the counted targets. On a bad target nothing but *error is written.
WARPLINE_KERNEL_OP(NllForward, "nll_forward", NllArgs, const void* log_probability,
                   const std::int64_t* target, const void* class_weight, void* loss, void* total_weight,
                   TargetError* error);
WARPLINE_KERNEL_OP(NllBackward, "nll_backward", NllArgs, const void* dloss, const std::int64_t* target,
                   const void* class_weight, const void* total_weight, void* dx);
// Of NLL on log-softmax: log_probability as the forward pass left it; dx is the gradient by the logits.
WARPLINE_KERNEL_OP(CrossEntropyBackward, "cross_entropy_backward", NllArgs, const void* dloss,
                   const void* log_probability, const std::int64_t* target, const void* class_weight,
                   const void* total_weight, void* dx);

WARPLINE_KERNEL_OP(Add, "add", BroadcastArgs, const void* a, const void* b, void* y);
WARPLINE_KERNEL_OP(Mul, "mul", BroadcastArgs, const void* a, const void* b, void* y);
WARPLINE_KERNEL_OP(Sum, "sum", ReduceArgs, const void* x, void* y);
// Along AxisArgs::classes: the value and its first index (int64); NaN beats numbers, the first NaN wins.
WARPLINE_KERNEL_OP(Max, "max", AxisArgs, const void* x, void* values, std::int64_t* indices);

WARPLINE_KERNEL_OP(Scale, "scale", CountArgs, const void* x, void* y);  // y = alpha * x; may be in place
WARPLINE_KERNEL_OP(Axpy, "axpy", CountArgs, const void* x, void* y);    // y = y + alpha * x
WARPLINE_KERNEL_OP(Fill, "fill", CountArgs, void* y);                   // y = alpha

// gradient is read only; momentum_buffer is null where momentum is 0.
WARPLINE_KERNEL_OP(SgdStep, "sgd_step", SgdArgs, const void* gradient, void* parameter,
                   void* momentum_buffer);
WARPLINE_KERNEL_OP(AdamStep, "adam_step", AdamArgs, const void* gradient, void* parameter, void* exp_avg,
                   void* exp_avg_sq);

#undef WARPLINE_KERNEL_OP

}  // namespace warpline::kernels
