// What nll_loss and cross_entropy share: their checks, and the loss of log-probabilities without a node.
#pragma once

#include "engine/ops/nll_loss.h"

namespace warpline {

// 1, or 0 of a single sample.
inline int class_axis(const Shape& input) { return input.size() < 2 ? 0 : 1; }

// ShapeError, named nll_loss, where the shapes do not fit.
NllArgs nll_args(const Shape& input, const Shape& target, const NllOptions& options);

struct NllResult {
  NllArgs args;
  Tensor loss, total_weight;
};

// Throws as nll_loss does; a bad target is reported by the next synchronisation of the stream.
NllResult nll_forward(Context& context, const Tensor& log_probability, const Tensor& target,
                      const Tensor& weight, const NllOptions& options);

}  // namespace warpline
