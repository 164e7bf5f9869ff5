// SGD and Adam: the numbers are prepared in double, the loops are in simd/.
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd/select.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

void sgd_step(const float* gradient, float* parameter, float* momentum_buffer, const SgdArgs& args,
              const Stream& stream) {
  const SgdNumbers numbers{
      .lr = static_cast<float>(args.lr),
      .momentum = static_cast<float>(args.momentum),
      .one_minus_dampening = static_cast<float>(1 - args.dampening),
      .weight_decay = static_cast<float>(args.weight_decay),
      .nesterov = args.nesterov,
      .first_step = args.first_step,
  };
  split_elements(stream, args.count, [&](std::int64_t at, std::int64_t count) {
    simd().sgd(count, numbers, gradient + at, parameter + at,
               momentum_buffer != nullptr ? momentum_buffer + at : nullptr);
  });
}

void adam_step(const float* gradient, float* parameter, float* exp_avg, float* exp_avg_sq,
               const AdamArgs& args, const Stream& stream) {
  const auto step = static_cast<double>(args.step);
  const double correction1 = 1 - std::pow(args.beta1, step), correction2 = 1 - std::pow(args.beta2, step);
  const AdamNumbers numbers{
      .step_size = static_cast<float>(args.lr / correction1),
      .beta1 = static_cast<float>(args.beta1),
      .beta2 = static_cast<float>(args.beta2),
      .one_minus_beta1 = static_cast<float>(1 - args.beta1),
      .one_minus_beta2 = static_cast<float>(1 - args.beta2),
      .eps = static_cast<float>(args.eps),
      .weight_decay = args.decoupled ? 0.0F : static_cast<float>(args.weight_decay),
      .keep = args.decoupled ? static_cast<float>(1 - args.lr * args.weight_decay) : 1.0F,
      .inverse_sqrt_correction2 = static_cast<float>(1 / std::sqrt(correction2)),
  };
  split_elements(stream, args.count, [&](std::int64_t at, std::int64_t count) {
    simd().adam(count, numbers, gradient + at, parameter + at, exp_avg + at, exp_avg_sq + at);
  });
}

}  // namespace warpline::kernels::cpu
