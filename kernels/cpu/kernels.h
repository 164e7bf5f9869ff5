// The kernels of target `cpu`, typed; rows.cpp lists them. They compute what `ref` defines, in float32.
// Every op is cut into pieces by its shape alone (split.h), so its bits do not depend on the thread count.
#pragma once

#include <cstdint>

#include "kernels/args.h"
#include "kernels/ops.h"
#include "kernels/stream.h"

namespace warpline::kernels::cpu {

void gemm(const float* a, const float* b, float* c, const GemmArgs&, const Stream&);

void conv2d_forward(const float* x, const float* weight, const float* bias, float* y, const Conv2dArgs&,
                    const Stream&);
void conv2d_backward_input(const float* dy, const float* weight, float* dx, const Conv2dArgs&, const Stream&);
void conv2d_backward_weight(const float* dy, const float* x, float* dweight, const Conv2dArgs&,
                            const Stream&);
void conv2d_backward_bias(const float* dy, float* dbias, const Conv2dArgs&, const Stream&);

// Any window; the 2x2 forms take windows of 2 x 2 side by side, without padding (max_pool2d_is_2x2).
void max_pool2d_forward(const float* x, float* y, void* positions, const MaxPool2dArgs&, const Stream&);
void max_pool2d_backward(const float* dy, const void* positions, float* dx, const MaxPool2dArgs&,
                         const Stream&);
bool max_pool2d_is_2x2(const void* args);
void max_pool2d_forward_2x2(const float* x, float* y, void* positions, const MaxPool2dArgs&, const Stream&);
void max_pool2d_backward_2x2(const float* dy, const void* positions, float* dx, const MaxPool2dArgs&,
                             const Stream&);
void max_pool2d_indices(const void* positions, std::int64_t* indices, const MaxPool2dArgs&, const Stream&);

void relu_forward(const float* x, float* y, const CountArgs&, const Stream&);
void relu_backward(const float* dy, const float* y, float* dx, const CountArgs&, const Stream&);
void scale(const float* x, float* y, const CountArgs&, const Stream&);
void axpy(const float* x, float* y, const CountArgs&, const Stream&);
template <class T>
void fill(T* y, const CountArgs&, const Stream&);

void log_softmax_forward(const float* x, float* y, const AxisArgs&, const Stream&);
void log_softmax_backward(const float* dy, const float* y, float* dx, const AxisArgs&, const Stream&);
void cross_entropy_backward(const float* dloss, const float* log_probability, const std::int64_t* target,
                            const float* class_weight, const float* total_weight, float* dx, const NllArgs&,
                            const Stream&);

void add(const float* a, const float* b, float* y, const BroadcastArgs&, const Stream&);
void mul(const float* a, const float* b, float* y, const BroadcastArgs&, const Stream&);
void sum(const float* x, float* y, const ReduceArgs&, const Stream&);
void max(const float* x, float* values, std::int64_t* indices, const AxisArgs&, const Stream&);

void sgd_step(const float* gradient, float* parameter, float* momentum_buffer, const SgdArgs&, const Stream&);
void adam_step(const float* gradient, float* parameter, float* exp_avg, float* exp_avg_sq, const AdamArgs&,
               const Stream&);

}  // namespace warpline::kernels::cpu
