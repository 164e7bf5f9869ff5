#include "engine/nn/module.h"

#include <cmath>

#include "engine/random.h"
#include "kernels/error.h"

namespace warpline {

double default_init_bound(std::int64_t fan_in) {
  return fan_in > 0 ? 1.0 / std::sqrt(static_cast<double>(fan_in)) : 0.0;
}

const Tensor& materialised(const Parameter& parameter) {
  if (!parameter.value.defined()) {
    fail<AutogradError>("module", "parameter {} has no value: materialise the layer first", parameter.name);
  }
  return parameter.value;
}

std::int64_t Module::parameter_count() {
  std::int64_t count = 0;
  for (const Parameter* parameter : parameters()) count += element_count(parameter->shape);
  return count;
}

void Module::materialise(Context& context, std::uint64_t seed, DType dtype) {
  for (Parameter* parameter : parameters()) {
    Tensor value = Tensor::empty(context, parameter->shape, dtype);
    fill_uniform(context, value, seed, parameter->name, parameter->init_bound);
    value.set_requires_grad().set_name(parameter->name);
    parameter->value = value;
  }
}

}  // namespace warpline
