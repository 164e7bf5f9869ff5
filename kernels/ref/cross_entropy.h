// The gradient of NLL on log-softmax by the logits, in one pass: weight * dloss * (softmax - one hot).
#pragma once

#include <cmath>

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

// Overwrites dx; an ignored row gets 0 whatever it holds. dloss has one element, or one a row for None.
template <class T>
void cross_entropy_backward(const T* dloss, const T* log_probability, const std::int64_t* target,
                            const T* class_weight, const T* total_weight, T* dx, const NllArgs& args,
                            const Stream&) {
  using Acc = Accumulator<T>;
  for (std::int64_t row = 0; row < args.outer * args.inner; ++row) {
    const std::int64_t label = target[row];
    const auto at = [&](std::int64_t c) {
      return (row / args.inner * args.classes + c) * args.inner + row % args.inner;
    };
    // A label out of range has been reported by the forward pass; it must not be an address here.
    if (label == args.ignore_index || label < 0 || label >= args.classes) {
      for (std::int64_t c = 0; c < args.classes; ++c) dx[at(c)] = 0;
      continue;
    }
    Acc gradient = dloss[args.reduction == Reduction::None ? row : 0];
    if (args.reduction == Reduction::Mean) gradient /= Acc{*total_weight};
    if (class_weight != nullptr) gradient *= Acc{class_weight[label]};
    for (std::int64_t c = 0; c < args.classes; ++c) {
      const Acc softmax = std::exp(Acc{log_probability[at(c)]});
      dx[at(c)] = static_cast<T>(c == label ? gradient * softmax - gradient : gradient * softmax);
    }
  }
}

}  // namespace warpline::kernels::ref
