// The gradient of NLL on log-softmax by the logits, in one pass: weight * dloss * (softmax - one hot). The
// two backward kernels that it stands for write a matrix of zeros with one number a row, and read it again.
#include <cmath>

#include "kernels/cuda/device/index.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// A thread an element of dx, which it overwrites: 0 in an ignored row, whatever that holds. A label out of
// range has been reported by the forward pass; it must not be an address here.
template <class T>
__global__ void cross_entropy_backward_kernel(const T* dloss, const T* log_probability,
                                              const std::int64_t* target, const T* class_weight,
                                              const T* total_weight, T* dx, NllArgs args) {
  const std::int64_t count = args.outer * args.classes * args.inner;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const std::int64_t line = i / args.inner, outer = line / args.classes, c = line - outer * args.classes;
    const std::int64_t row = outer * args.inner + (i - line * args.inner);
    const std::int64_t label = target[row];
    T result = 0;
    if (label != args.ignore_index && label >= 0 && label < args.classes) {
      T gradient = dloss[args.reduction == Reduction::None ? row : 0];
      if (args.reduction == Reduction::Mean) gradient /= *total_weight;
      if (class_weight != nullptr) gradient *= class_weight[label];
      result = gradient * std::exp(log_probability[i]);
      if (c == label) result -= gradient;
    }
    dx[i] = result;
  }
}

}  // namespace

template <class T>
void cross_entropy_backward(const T* dloss, const T* log_probability, const std::int64_t* target,
                            const T* class_weight, const T* total_weight, T* dx, const NllArgs& args,
                            const Stream& stream) {
  const std::int64_t count = args.outer * args.classes * args.inner;
  if (count == 0) return;
  launch<cross_entropy_backward_kernel<T>>(blocks_for(count), dim3(kThreads), 0, stream, dloss,
                                           log_probability, target, class_weight, total_weight, dx, args);
}

template void cross_entropy_backward<float>(const float*, const float*, const std::int64_t*, const float*,
                                            const float*, float*, const NllArgs&, const Stream&);
template void cross_entropy_backward<double>(const double*, const double*, const std::int64_t*, const double*,
                                             const double*, double*, const NllArgs&, const Stream&);

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
