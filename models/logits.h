// The loss of models that end in logits.
#pragma once

#include "engine/ops/cross_entropy.h"

namespace warpline {

inline Tensor cross_entropy_sum(Context& context, const Tensor& output, const Tensor& target) {
  return cross_entropy(context, output, target, {}, {.reduction = Reduction::Sum});
}

}  // namespace warpline
