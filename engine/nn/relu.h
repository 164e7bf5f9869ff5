// Rectified linear unit, as torch.nn.ReLU.
#pragma once

#include "engine/nn/module.h"
#include "engine/ops/relu.h"

namespace warpline {

class ReLU final : public Module {
 public:
  std::string describe() const override { return "ReLU()"; }
  Shape output_shape(const Shape& input) const override { return input; }
  Tensor forward(Context& context, const Tensor& x) const override { return relu(context, x); }
};

}  // namespace warpline
