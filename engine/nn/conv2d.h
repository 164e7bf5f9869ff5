// Two-dimensional convolution, as torch.nn.Conv2d.
#pragma once

#include "engine/nn/module.h"
#include "engine/ops/conv2d.h"

namespace warpline {

class Conv2d final : public Module {
 public:
  // ValueError: channels that are negative (in) or not positive (out) or no multiple of groups, and the
  // options that the op refuses.
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size,
         const Conv2dOptions& options = {}, bool bias = true);
  std::string describe() const override;
  Shape output_shape(const Shape& input) const override;
  Tensor forward(Context& context, const Tensor& x) const override;
  std::vector<Parameter*> parameters() override;

 private:
  Conv2dOptions options_;
  Parameter weight_;  // out_channels, in_channels / groups, kernel height, kernel width
  Parameter bias_;    // out_channels
  bool has_bias_;
};

}  // namespace warpline
