#include "engine/optim/sgd.h"

#include <cmath>

#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

const SgdOptions& checked(const SgdOptions& options) {
  check_rate("sgd", "lr", options.lr);
  check_rate("sgd", "momentum", options.momentum);
  check_rate("sgd", "weight_decay", options.weight_decay);
  if (!std::isfinite(options.dampening)) {
    fail<ValueError>("sgd", "dampening must be finite: it is {}", options.dampening);
  }
  if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0)) {
    fail<ValueError>("sgd", "nesterov needs momentum above 0 and dampening 0: momentum is {}, dampening {}",
                     options.momentum, options.dampening);
  }
  return options;
}

std::vector<std::string> buffer_names(const SgdOptions& options) {
  return options.momentum == 0.0 ? std::vector<std::string>{} : std::vector<std::string>{"momentum_buffer"};
}

}  // namespace

Sgd::Sgd(const std::vector<Parameter*>& parameters, const SgdOptions& options)
    : Optimizer(parameters, checked(options).lr, buffer_names(options), false), options_(options) {}

void Sgd::check_kernel(Device device, DType dtype) const {
  kernels::kernel<kernels::SgdStep>(device.kind, dtype, SgdArgs{});
}

void Sgd::update(Context& context, const Tensor& gradient, const Slot& slot) {
  const Tensor& value = slot.parameter->value;
  SgdArgs args;
  args.count = value.count();
  args.lr = lr();
  args.momentum = options_.momentum;
  args.dampening = options_.dampening;
  args.weight_decay = options_.weight_decay;
  args.nesterov = options_.nesterov;
  args.first_step = slot.steps == 1;
  kernels::kernel<kernels::SgdStep>(context.device().kind, value.dtype(), args)(
      gradient.data(), value.data(), slot.buffers.empty() ? nullptr : slot.buffers[0].data(), args,
      context.stream());
}

}  // namespace warpline
