// One step of SGD and of Adam(W) over a flat buffer, by PyTorch's formulas. The host prepares the numbers in
// double: a bias correction such as 1 - 0.999^step would lose its digits in float.
#include <cmath>

#include "kernels/cuda/device/index.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

template <class T>
struct SgdNumbers {
  T lr, momentum, one_minus_dampening, weight_decay;
  bool nesterov, first_step;
};

template <class T>
__global__ void sgd_step_kernel(const T* gradient, T* parameter, T* momentum_buffer, SgdNumbers<T> numbers,
                                std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const T value = parameter[i];
    T step = gradient[i];
    if (numbers.weight_decay != 0) step += numbers.weight_decay * value;  // else 0 * inf would be NaN
    if (numbers.momentum != 0) {
      const T buffer = numbers.first_step
                           ? step
                           : numbers.momentum * momentum_buffer[i] + numbers.one_minus_dampening * step;
      momentum_buffer[i] = buffer;
      step = numbers.nesterov ? step + numbers.momentum * buffer : buffer;
    }
    parameter[i] = value - numbers.lr * step;
  }
}

template <class T>
struct AdamNumbers {
  T step_size, beta1, one_minus_beta1, beta2, one_minus_beta2, inverse_root_of_correction2, eps;
  T weight_decay, keep;  // Adam's, of the gradient; AdamW's, of the parameter
};

template <class T>
__global__ void adam_step_kernel(const T* gradient, T* parameter, T* exp_avg, T* exp_avg_sq,
                                 AdamNumbers<T> numbers, std::int64_t count) {
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const T value = numbers.keep * parameter[i];
    T slope = gradient[i];
    if (numbers.weight_decay != 0) slope += numbers.weight_decay * value;  // else 0 * inf would be NaN
    const T first = numbers.beta1 * exp_avg[i] + numbers.one_minus_beta1 * slope;
    const T second = numbers.beta2 * exp_avg_sq[i] + numbers.one_minus_beta2 * slope * slope;
    exp_avg[i] = first;
    exp_avg_sq[i] = second;
    parameter[i] = value - numbers.step_size * first /
                               (std::sqrt(second) * numbers.inverse_root_of_correction2 + numbers.eps);
  }
}

}  // namespace

template <class T>
void sgd_step(const T* gradient, T* parameter, T* momentum_buffer, const SgdArgs& args,
              const Stream& stream) {
  if (args.count == 0) return;
  const SgdNumbers<T> numbers{static_cast<T>(args.lr),
                              static_cast<T>(args.momentum),
                              static_cast<T>(1 - args.dampening),
                              static_cast<T>(args.weight_decay),
                              args.nesterov,
                              args.first_step};
  launch<sgd_step_kernel<T>>(blocks_for(args.count), dim3(kThreads), 0, stream, gradient, parameter,
                             momentum_buffer, numbers, args.count);
}

template <class T>
void adam_step(const T* gradient, T* parameter, T* exp_avg, T* exp_avg_sq, const AdamArgs& args,
               const Stream& stream) {
  if (args.count == 0) return;
  const auto step = static_cast<double>(args.step);
  const double correction1 = 1 - std::pow(args.beta1, step), correction2 = 1 - std::pow(args.beta2, step);
  const AdamNumbers<T> numbers{static_cast<T>(args.lr / correction1),
                               static_cast<T>(args.beta1),
                               static_cast<T>(1 - args.beta1),
                               static_cast<T>(args.beta2),
                               static_cast<T>(1 - args.beta2),
                               static_cast<T>(1 / std::sqrt(correction2)),
                               static_cast<T>(args.eps),
                               static_cast<T>(args.decoupled ? 0 : args.weight_decay),
                               static_cast<T>(args.decoupled ? 1 - args.lr * args.weight_decay : 1)};
  launch<adam_step_kernel<T>>(blocks_for(args.count), dim3(kThreads), 0, stream, gradient, parameter, exp_avg,
                              exp_avg_sq, numbers, args.count);
}

#define WARPLINE_INSTANTIATE(T)                                               \
  template void sgd_step<T>(const T*, T*, T*, const SgdArgs&, const Stream&); \
  template void adam_step<T>(const T*, T*, T*, T*, const AdamArgs&, const Stream&);
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
