// Negative log-likelihood loss, as torch.nn.functional.nll_loss.
#pragma once

#include <cstdint>

#include "engine/tensor.h"
#include "kernels/args.h"

namespace warpline {

struct NllOptions {
  Reduction reduction = Reduction::Mean;
  std::int64_t ignore_index = -100;  // targets of this value add 0 and get a gradient of 0
};

// Loss shape without running: the target's for Reduction::None, else a scalar.
Shape nll_loss_shape(const Shape& input, const Shape& target, const NllOptions& options = {});

// input: log-probabilities, N, C or N, C, d1, .. or C. target: int64, N or N, d1, .. or a scalar. weight: one
// a class, C, or undefined for 1; it gets no gradient. The mean divides by the sum of the weights of the
// counted targets: NaN where that is 0. ValueError for a target outside 0 .. C - 1, naming row, target and
// class count, before anything is returned.
Tensor nll_loss(Context& context, const Tensor& input, const Tensor& target, const Tensor& weight = {},
                const NllOptions& options = {});

}  // namespace warpline
