// Two-dimensional max-pooling, as torch.nn.MaxPool2d.
#pragma once

#include "engine/nn/module.h"
#include "engine/ops/max_pool2d.h"

namespace warpline {

class MaxPool2d final : public Module {
 public:
  explicit MaxPool2d(const MaxPool2dOptions& options);  // ValueError for options that the op refuses
  std::string describe() const override;
  Shape output_shape(const Shape& input) const override { return max_pool2d_shape(input, options_); }
  Tensor forward(Context& context, const Tensor& x) const override {
    return max_pool2d(context, x, options_);
  }

 private:
  MaxPool2dOptions options_;
};

}  // namespace warpline
