#include "engine/optim/adam.h"

#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

const AdamOptions& checked(const AdamOptions& options) {
  const std::string_view tag = options.decoupled ? "adamw" : "adam";
  check_rate(tag, "lr", options.lr);
  check_rate(tag, "eps", options.eps);
  check_rate(tag, "weight_decay", options.weight_decay);
  for (const double beta : {options.beta1, options.beta2}) {
    if (!(beta >= 0.0 && beta < 1.0)) {
      fail<ValueError>(tag, "betas must lie in [0, 1): they are {} and {}", options.beta1, options.beta2);
    }
  }
  return options;
}

}  // namespace

Adam::Adam(const std::vector<Parameter*>& parameters, const AdamOptions& options)
    : Optimizer(parameters, checked(options).lr, {"exp_avg", "exp_avg_sq"}, true), options_(options) {}

void Adam::check_kernel(Device device, DType dtype) const {
  kernels::kernel<kernels::AdamStep>(device.kind, dtype, AdamArgs{});
}

void Adam::update(Context& context, const Tensor& gradient, const Slot& slot) {
  const Tensor& value = slot.parameter->value;
  AdamArgs args;
  args.count = value.count();
  args.step = slot.steps;
  args.lr = lr();
  args.beta1 = options_.beta1;
  args.beta2 = options_.beta2;
  args.eps = options_.eps;
  args.weight_decay = options_.weight_decay;
  args.decoupled = options_.decoupled;
  kernels::kernel<kernels::AdamStep>(context.device().kind, value.dtype(), args)(
      gradient.data(), value.data(), slot.buffers[0].data(), slot.buffers[1].data(), args, context.stream());
}

}  // namespace warpline
