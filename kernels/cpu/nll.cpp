// Negative log-likelihood: one element a row is touched, so it runs as one piece and adds in row order.
#include <algorithm>

#include "kernels/cpu/kernels.h"

namespace warpline::kernels::cpu {

void nll_forward(const float* log_probability, const std::int64_t* target, const float* class_weight,
                 float* loss, float* total_weight, TargetError* error, const NllArgs& args, const Stream&) {
  const std::int64_t rows = args.outer * args.inner;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = target[row];
    if (label != args.ignore_index && (label < 0 || label >= args.classes)) {
      *error = {row, label};
      return;
    }
  }
  double sum = 0, weights = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = target[row];
    double row_loss = 0;
    if (label != args.ignore_index) {
      const std::int64_t at = (row / args.inner * args.classes + label) * args.inner + row % args.inner;
      const double weight = class_weight != nullptr ? static_cast<double>(class_weight[label]) : 1.0;
      row_loss = -weight * static_cast<double>(log_probability[at]);
      sum += row_loss;
      weights += weight;
    }
    if (args.reduction == Reduction::None) loss[row] = static_cast<float>(row_loss);
  }
  *total_weight = static_cast<float>(weights);
  if (args.reduction == Reduction::Sum) *loss = static_cast<float>(sum);
  if (args.reduction == Reduction::Mean) *loss = static_cast<float>(sum / weights);
}

void nll_backward(const float* dloss, const std::int64_t* target, const float* class_weight,
                  const float* total_weight, float* dx, const NllArgs& args, const Stream&) {
  const std::int64_t rows = args.outer * args.inner;
  std::fill_n(dx, rows * args.classes, 0.0F);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = target[row];
    // A label out of range has been reported by the forward pass; it must not be an address here.
    if (label == args.ignore_index || label < 0 || label >= args.classes) continue;
    const std::int64_t at = (row / args.inner * args.classes + label) * args.inner + row % args.inner;
    double gradient = -static_cast<double>(dloss[args.reduction == Reduction::None ? row : 0]);
    if (class_weight != nullptr) gradient *= static_cast<double>(class_weight[label]);
    if (args.reduction == Reduction::Mean) gradient /= static_cast<double>(*total_weight);
    dx[at] = static_cast<float>(gradient);
  }
}

}  // namespace warpline::kernels::cpu
