// Affine map of the last axis, as torch.nn.Linear.
#pragma once

#include "engine/nn/module.h"

namespace warpline {

class Linear final : public Module {
 public:
  // ValueError for a negative number of features.
  Linear(std::int64_t in_features, std::int64_t out_features, bool bias = true);
  std::string describe() const override;
  Shape output_shape(const Shape& input) const override;
  Tensor forward(Context& context, const Tensor& x) const override;
  std::vector<Parameter*> parameters() override;

 private:
  Parameter weight_;  // out_features, in_features
  Parameter bias_;    // out_features
  bool has_bias_;
};

}  // namespace warpline
