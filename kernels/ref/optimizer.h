// One step of SGD and of Adam(W) over a flat buffer, by PyTorch's formulas (torch.optim.SGD, Adam, AdamW).
#pragma once

#include <cmath>

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

template <class T>
void sgd_step(const T* gradient, T* parameter, T* momentum_buffer, const SgdArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  for (std::int64_t i = 0; i < args.count; ++i) {
    Acc step = gradient[i];
    if (args.weight_decay != 0) step += args.weight_decay * Acc{parameter[i]};  // else 0 * inf would be NaN
    if (args.momentum != 0) {
      const Acc buffer =
          args.first_step ? step : args.momentum * Acc{momentum_buffer[i]} + (1 - args.dampening) * step;
      momentum_buffer[i] = static_cast<T>(buffer);
      step = args.nesterov ? step + args.momentum * buffer : buffer;
    }
    parameter[i] = static_cast<T>(Acc{parameter[i]} - args.lr * step);
  }
}

// Decay enters the gradient (Adam), or shrinks the parameter first (AdamW).
template <class T>
void adam_step(const T* gradient, T* parameter, T* exp_avg, T* exp_avg_sq, const AdamArgs& args,
               const Stream&) {
  using Acc = Accumulator<T>;
  const Acc correction1 = 1 - std::pow(args.beta1, static_cast<double>(args.step));
  const Acc correction2 = 1 - std::pow(args.beta2, static_cast<double>(args.step));
  for (std::int64_t i = 0; i < args.count; ++i) {
    Acc value = parameter[i];
    Acc slope = gradient[i];
    if (args.decoupled) {
      value *= 1 - args.lr * args.weight_decay;
    } else if (args.weight_decay != 0) {
      slope += args.weight_decay * value;
    }
    const Acc first = args.beta1 * Acc{exp_avg[i]} + (1 - args.beta1) * slope;
    const Acc second = args.beta2 * Acc{exp_avg_sq[i]} + (1 - args.beta2) * slope * slope;
    exp_avg[i] = static_cast<T>(first);
    exp_avg_sq[i] = static_cast<T>(second);
    const Acc denominator = std::sqrt(second) / std::sqrt(correction2) + args.eps;
    parameter[i] = static_cast<T>(value - args.lr / correction1 * first / denominator);
  }
}

}  // namespace warpline::kernels::ref
