#include "engine/ops/cross_entropy.h"

#include "engine/ops/log_softmax.h"

namespace warpline {

Tensor cross_entropy(Context& context, const Tensor& input, const Tensor& target, const Tensor& weight,
                     const NllOptions& options) {
  const int class_axis = input.dims() < 2 ? 0 : 1;
  return nll_loss(context, log_softmax(context, input, class_axis), target, weight, options);
}

}  // namespace warpline
