// Axes made one, as torch.nn.Flatten. A view: nothing is copied.
#pragma once

#include "engine/nn/module.h"

namespace warpline {

class Flatten final : public Module {
 public:
  // Negative axes count from the end.
  explicit Flatten(int start_dim = 1, int end_dim = -1) : start_dim_(start_dim), end_dim_(end_dim) {}
  std::string describe() const override;
  // ValueError for an axis that does not exist, or an end before the start.
  Shape output_shape(const Shape& input) const override;
  Tensor forward(Context& context, const Tensor& x) const override;

 private:
  int start_dim_, end_dim_;
};

}  // namespace warpline
