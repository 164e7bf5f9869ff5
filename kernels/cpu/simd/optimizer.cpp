// One step of SGD and of Adam over flat buffers, with PyTorch's formulas.
#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

namespace {

// No decay must not touch the parameter: 0 * inf would be NaN.
float decayed(float gradient, float weight_decay, float parameter) {
  return weight_decay == 0 ? gradient : gradient + weight_decay * parameter;
}

}  // namespace

void sgd(std::int64_t count, const SgdNumbers& n, const float* gradient, float* parameter, float* momentum) {
  const SgdNumbers c = n;  // a copy: the compiler need not fear that a store changes it
  if (momentum == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) {
      parameter[i] -= c.lr * decayed(gradient[i], c.weight_decay, parameter[i]);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = decayed(gradient[i], c.weight_decay, parameter[i]);
    const float buffer = c.first_step ? g : c.momentum * momentum[i] + c.one_minus_dampening * g;
    momentum[i] = buffer;
    parameter[i] -= c.lr * (c.nesterov ? g + c.momentum * buffer : buffer);
  }
}

void adam(std::int64_t count, const AdamNumbers& n, const float* gradient, float* parameter, float* exp_avg,
          float* exp_avg_sq) {
  const AdamNumbers c = n;
  for (std::int64_t i = 0; i < count; ++i) {
    const float p = c.keep * parameter[i];
    const float g = decayed(gradient[i], c.weight_decay, p);
    const float mean = c.beta1 * exp_avg[i] + c.one_minus_beta1 * g;
    const float square = c.beta2 * exp_avg_sq[i] + c.one_minus_beta2 * g * g;
    exp_avg[i] = mean;
    exp_avg_sq[i] = square;
    const float denominator = __builtin_sqrtf(square) * c.inverse_sqrt_correction2 + c.eps;
    parameter[i] = p - c.step_size * mean / denominator;
  }
}

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
