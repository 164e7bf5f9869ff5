// Negative log-likelihood of the targets. An ignored row adds 0 whatever it holds. The mean divides by the
// weights of the counted targets: 0 / 0, NaN, when there are none or they weigh nothing.
#include "kernels/cuda/device/combine.h"
#include "kernels/cuda/device/row.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// One team for all rows, which are one number each. Nothing is written before every target has been looked
// at.
template <class T, class Team>
__global__ void nll_forward_kernel(const T* log_probability, const std::int64_t* target,
                                   const T* class_weight, T* loss, T* total_weight, TargetError* error,
                                   NllArgs args) {
  const AxisArgs axis{args.outer, args.classes, args.inner};
  const std::int64_t rows = rows_of(axis);
  std::int64_t bad = rows;
  for (std::int64_t row = Team::rank(); row < rows && bad == rows; row += Team::kSize) {
    const std::int64_t label = target[row];
    if (label != args.ignore_index && (label < 0 || label >= args.classes)) bad = row;
  }
  bad = Team::reduce(bad, Smaller{});
  if (bad < rows) {
    if (Team::rank() == 0) *error = TargetError{bad, target[bad]};
    return;  // the whole team
  }
  T sum = 0, weights = 0;
  for (std::int64_t row = Team::rank(); row < rows; row += Team::kSize) {
    const std::int64_t label = target[row];
    T term = 0;
    if (label != args.ignore_index) {
      const T weight = class_weight != nullptr ? class_weight[label] : T{1};
      term = -weight * log_probability[start_of_row(axis, row) + label * args.inner];
      weights += weight;
    }
    if (args.reduction == Reduction::None) loss[row] = term;
    sum += term;
  }
  sum = Team::reduce(sum, Plus{});
  weights = Team::reduce(weights, Plus{});
  if (Team::rank() == 0) {
    if (args.reduction == Reduction::Sum) *loss = sum;
    if (args.reduction == Reduction::Mean) *loss = sum / weights;
    *total_weight = weights;
  }
}

// A thread an element of dx, which it overwrites: 0 off target. A label out of range is no element's class;
// the forward pass has reported it.
template <class T>
__global__ void nll_backward_kernel(const T* dloss, const std::int64_t* target, const T* class_weight,
                                    const T* total_weight, T* dx, NllArgs args) {
  const std::int64_t count = args.outer * args.classes * args.inner;
  for (std::int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const std::int64_t line = i / args.inner, outer = line / args.classes, c = line - outer * args.classes;
    const std::int64_t row = outer * args.inner + (i - line * args.inner);
    T gradient = 0;
    if (target[row] == c && c != args.ignore_index) {
      gradient = dloss[args.reduction == Reduction::None ? row : 0];
      if (args.reduction == Reduction::Mean) gradient /= *total_weight;
      gradient *= class_weight != nullptr ? -class_weight[c] : T{-1};
    }
    dx[i] = gradient;
  }
}

}  // namespace

template <class T, class Team>
void nll_forward(const T* log_probability, const std::int64_t* target, const T* class_weight, T* loss,
                 T* total_weight, TargetError* error, const NllArgs& args, const Stream& stream) {
  launch<nll_forward_kernel<T, Team>>(dim3(1), dim3(Team::kSize), 0, stream, log_probability, target,
                                      class_weight, loss, total_weight, error, args);
}

template <class T>
void nll_backward(const T* dloss, const std::int64_t* target, const T* class_weight, const T* total_weight,
                  T* dx, const NllArgs& args, const Stream& stream) {
  const std::int64_t count = args.outer * args.classes * args.inner;
  if (count == 0) return;
  launch<nll_backward_kernel<T>>(blocks_for(count), dim3(kThreads), 0, stream, dloss, target, class_weight,
                                 total_weight, dx, args);
}

bool nll_suits_warp(const void* args) {
  const auto& nll = *static_cast<const NllArgs*>(args);
  return nll.outer * nll.inner < kLongForWarp;
}

#define WARPLINE_INSTANTIATE_FOR(T, Team)                                                           \
  template void nll_forward<T, Team>(const T*, const std::int64_t*, const T*, T*, T*, TargetError*, \
                                     const NllArgs&, const Stream&);
#define WARPLINE_INSTANTIATE(T)                                                                        \
  WARPLINE_INSTANTIATE_FOR(T, WarpTeam)                                                                \
  WARPLINE_INSTANTIATE_FOR(T, BlockTeam)                                                               \
  template void nll_backward<T>(const T*, const std::int64_t*, const T*, const T*, T*, const NllArgs&, \
                                const Stream&);
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
