// Negative log-likelihood of the targets. An ignored row adds 0 whatever it holds. The mean divides by the
// weights of the counted targets: 0 / 0, NaN, when there are none or they weigh nothing, as in PyTorch.
#pragma once

#include <cmath>

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

template <class T>
void nll_forward(const T* log_probability, const std::int64_t* target, const T* class_weight, T* loss,
                 T* total_weight, TargetError* error, const NllArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const std::int64_t rows = args.outer * args.inner;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = target[row];
    if (label == args.ignore_index || (label >= 0 && label < args.classes)) continue;
    *error = {row, label};
    return;
  }
  Acc sum = 0, weights = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = target[row];
    Acc term = 0;
    if (label != args.ignore_index) {
      const std::int64_t outer = row / args.inner, inner = row % args.inner;
      const Acc weight = class_weight != nullptr ? Acc{class_weight[label]} : Acc{1};
      term = -weight * Acc{log_probability[(outer * args.classes + label) * args.inner + inner]};
      weights += weight;
    }
    if (args.reduction == Reduction::None) loss[row] = static_cast<T>(term);
    sum += term;
  }
  if (args.reduction == Reduction::Sum) *loss = static_cast<T>(sum);
  if (args.reduction == Reduction::Mean) *loss = static_cast<T>(sum / weights);
  *total_weight = static_cast<T>(weights);
}

// Overwrites dx: zeros, but for the targets. dloss has one element, or one a row for None.
template <class T>
void nll_backward(const T* dloss, const std::int64_t* target, const T* class_weight, const T* total_weight,
                  T* dx, const NllArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const std::int64_t rows = args.outer * args.inner;
  for (std::int64_t i = 0; i < rows * args.classes; ++i) dx[i] = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = target[row];
    // A label out of range has been reported by the forward pass; it must not be an address here.
    if (label == args.ignore_index || label < 0 || label >= args.classes) continue;
    const std::int64_t outer = row / args.inner, inner = row % args.inner;
    const Acc weight = class_weight != nullptr ? Acc{class_weight[label]} : Acc{1};
    Acc gradient = dloss[args.reduction == Reduction::None ? row : 0];
    if (args.reduction == Reduction::Mean) gradient /= Acc{*total_weight};
    dx[(outer * args.classes + label) * args.inner + inner] = static_cast<T>(-weight * gradient);
  }
}

}  // namespace warpline::kernels::ref
