#include "engine/optim/optimizer.h"

#include <cmath>
#include <set>
#include <utility>

#include "engine/checks.h"
#include "engine/inplace.h"
#include "engine/transfer.h"
#include "kernels/error.h"

namespace warpline {
namespace {

constexpr std::string_view kTag = "optimizer";

}  // namespace

void check_rate(std::string_view optimizer, std::string_view option, double value) {
  if (!std::isfinite(value) || value < 0.0) {
    fail<ValueError>(optimizer, "{} must be finite and not negative: it is {}", option, value);
  }
}

Optimizer::Optimizer(const std::vector<Parameter*>& parameters, double lr,
                     std::vector<std::string> buffer_names, bool saves_steps)
    : lr_(lr), buffer_names_(std::move(buffer_names)), saves_steps_(saves_steps) {
  std::set<std::string> names;
  for (Parameter* parameter : parameters) {
    if (parameter == nullptr) fail<ValueError>(kTag, "parameter {} is null", slots_.size());
    if (!names.insert(parameter->name).second) {
      fail<ValueError>(kTag, "each parameter may be given once: {} is there twice", parameter->name);
    }
    slots_.push_back({parameter, {}, 0});
  }
}

void Optimizer::step(Context& context) {
  context.synchronize();  // where a flag was raised, no parameter is updated
  const NoGrad no_grad(context);
  std::vector<std::pair<Slot*, Tensor>> work;
  for (Slot& slot : slots_) {
    const Tensor& value = slot.parameter->value;
    if (!value.defined()) {
      fail<AutogradError>(name(), "parameter {} has no value: materialise the layer first",
                          slot.parameter->name);
    }
    Tensor gradient = value.grad();
    if (!gradient.defined()) continue;
    check_same(name(), context, {slot.parameter->name, value}, {"its gradient", gradient});
    check_kernel(context.device(), value.dtype());
    work.emplace_back(&slot, std::move(gradient));
  }
  for (auto& [slot, gradient] : work) {
    if (!slot->buffers.empty()) continue;
    std::vector<Tensor> buffers;
    for (std::size_t i = 0; i < buffer_names_.size(); ++i) {
      buffers.push_back(Tensor::zeros(context, gradient.shape(), gradient.dtype()));
    }
    slot->buffers = std::move(buffers);
  }
  for (auto& [slot, gradient] : work) {
    ++slot->steps;
    begin_in_place(name(), context, slot->parameter->value);
    if (gradient.count() != 0) update(context, gradient, *slot);
  }
}

void Optimizer::zero_grad() {
  for (Slot& slot : slots_) {
    if (slot.parameter->value.defined()) slot.parameter->value.set_grad(Tensor());
  }
}

void Optimizer::set_lr(double lr) {
  check_rate(name(), "lr", lr);
  lr_ = lr;
}

std::vector<std::string> Optimizer::state_names() const {
  std::vector<std::string> names = buffer_names_;
  if (saves_steps_) names.emplace_back("step");
  return names;
}

std::map<std::string, Tensor> Optimizer::state(Context& context) const {
  std::map<std::string, Tensor> state;
  for (const Slot& slot : slots_) {
    if (slot.steps == 0) continue;
    for (std::size_t i = 0; i < buffer_names_.size(); ++i) {
      state.emplace(slot.parameter->name + "." + buffer_names_[i], copy_to(context, slot.buffers[i]));
    }
    if (saves_steps_) {
      state.emplace(slot.parameter->name + ".step",
                    Tensor::from_host(context, std::vector<std::int64_t>{slot.steps}, {}));
    }
  }
  return state;
}

void Optimizer::load_state(Context& context, const std::map<std::string, Tensor>& state) {
  const std::vector<std::string> names = state_names();
  std::vector<Slot> loaded;
  for (const Slot& slot : slots_) {
    const Parameter& parameter = *slot.parameter;
    Slot& next = loaded.emplace_back(Slot{slot.parameter, {}, 0});
    std::string missing;
    std::size_t found = 0;
    for (const std::string& name : names) {
      if (state.contains(parameter.name + "." + name)) {
        ++found;
      } else {
        missing = parameter.name + "." + name;
      }
    }
    if (found == 0) continue;
    if (found != names.size()) {
      fail<ValueError>(name(), "the state of a parameter must be whole: {} is missing, {} of {} are there",
                       missing, found, names.size());
    }
    for (const std::string& name : buffer_names_) {
      const std::string full = parameter.name + "." + name;
      const Tensor& tensor = state.at(full);
      check_shape(this->name(), {full, tensor}, parameter.shape);
      check_dtype(this->name(), {full, tensor},
                  parameter.value.defined() ? parameter.value.dtype() : DType::Float32);
      next.buffers.push_back(copy_to(context, tensor));
    }
    next.steps = 1;
    if (saves_steps_) {
      const std::string full = parameter.name + ".step";
      const Tensor& tensor = state.at(full);
      check_dtype(name(), {full, tensor}, DType::Int64);
      check_shape(name(), {full, tensor}, {});
      next.steps = tensor.to_host<std::int64_t>().front();
      if (next.steps < 1) fail<ValueError>(name(), "{} must be at least 1: it is {}", full, next.steps);
    }
  }
  slots_ = std::move(loaded);
}

}  // namespace warpline
