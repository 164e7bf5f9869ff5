// Cross-entropy of logits and class targets, as torch.nn.functional.cross_entropy.
#pragma once

#include "engine/ops/nll_loss.h"

namespace warpline {

// log_softmax over the classes, then nll_loss, whose shapes, options and errors these are.
Tensor cross_entropy(Context& context, const Tensor& input, const Tensor& target, const Tensor& weight = {},
                     const NllOptions& options = {});

}  // namespace warpline
