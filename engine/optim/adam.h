// Adam and AdamW, as torch.optim.Adam and torch.optim.AdamW (arXiv 1412.6980, 1711.05101).
#pragma once

#include "engine/optim/optimizer.h"

namespace warpline {

struct AdamOptions {
  double lr = 0.001;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0;
  bool decoupled = false;  // AdamW: weight decay acts on the parameter, not through the gradient
};

// torch.optim.AdamW's defaults.
inline constexpr AdamOptions kAdamW{0.001, 0.9, 0.999, 1e-8, 0.01, true};

// State: "<parameter>.exp_avg", "<parameter>.exp_avg_sq", "<parameter>.step".
class Adam final : public Optimizer {
 public:
  // ValueError: lr, eps or weight decay negative or not finite, a beta outside [0, 1).
  explicit Adam(const std::vector<Parameter*>& parameters, const AdamOptions& options = {});
  std::string_view name() const override { return options_.decoupled ? "adamw" : "adam"; }

 private:
  void check_kernel(Device device, DType dtype) const override;
  void update(Context& context, const Tensor& gradient, const Slot& slot) override;
  AdamOptions options_;
};

}  // namespace warpline
