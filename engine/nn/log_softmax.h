// Logarithm of the softmax along one axis, as torch.nn.LogSoftmax.
#pragma once

#include "engine/nn/module.h"

namespace warpline {

class LogSoftmax final : public Module {
 public:
  explicit LogSoftmax(int dim) : dim_(dim) {}  // a negative dim counts from the end
  std::string describe() const override;
  Shape output_shape(const Shape& input) const override;
  Tensor forward(Context& context, const Tensor& x) const override;

 private:
  int dim_;
};

}  // namespace warpline
