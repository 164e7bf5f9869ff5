// Stochastic gradient descent with momentum, as torch.optim.SGD.
#pragma once

#include "engine/optim/optimizer.h"

namespace warpline {

struct SgdOptions {
  double lr = 0.01;
  double momentum = 0.0, dampening = 0.0, weight_decay = 0.0;
  bool nesterov = false;
};

// g = gradient + weight_decay p; b = momentum b + (1 - dampening) g, starting as the first g; p -= lr b, or
// with Nesterov lr (g + momentum b). State: "<parameter>.momentum_buffer", where momentum is not 0.
class Sgd final : public Optimizer {
 public:
  // ValueError: lr, momentum or weight decay negative or not finite, a dampening that is not finite; Nesterov
  // without momentum or with dampening.
  Sgd(const std::vector<Parameter*>& parameters, const SgdOptions& options);
  std::string_view name() const override { return "sgd"; }

 private:
  void check_kernel(Device device, DType dtype) const override;
  void update(Context& context, const Tensor& gradient, const Slot& slot) override;
  SgdOptions options_;
};

}  // namespace warpline
