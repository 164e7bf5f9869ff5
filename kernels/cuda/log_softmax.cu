// Log-softmax along rows, a row a team. Shifted by the row's maximum, so [1e4, 0] and [3e38, 3e38] do not
// overflow. A row of only -inf, or with +inf or NaN in it, becomes NaN throughout by arithmetic: -inf - -inf
// and inf - inf are NaN, the maximum ignores NaN but the sum does not.
#include <cmath>

#include "kernels/cuda/device/combine.h"
#include "kernels/cuda/device/row.h"
#include "kernels/cuda/device/scalar.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// Three walks along the row, the second and third from cache.
template <class T, class Team>
__global__ void log_softmax_forward_kernel(const T* x, T* y, AxisArgs args) {
  for (std::int64_t row = grid_team<Team>(); row < rows_of(args); row += grid_teams<Team>()) {
    const std::int64_t start = start_of_row(args, row);
    T largest = lowest<T>();
    for (std::int64_t c = Team::rank(); c < args.classes; c += Team::kSize) {
      largest = Larger{}(largest, x[start + c * args.inner]);
    }
    largest = Team::reduce(largest, Larger{});
    T sum = 0;
    for (std::int64_t c = Team::rank(); c < args.classes; c += Team::kSize) {
      sum += std::exp(x[start + c * args.inner] - largest);
    }
    const T log_sum = std::log(Team::reduce(sum, Plus{}));
    for (std::int64_t c = Team::rank(); c < args.classes; c += Team::kSize) {
      const std::int64_t at = start + c * args.inner;
      y[at] = x[at] - largest - log_sum;
    }
  }
}

// Overwrites dx with dy - exp(y) * sum(dy).
template <class T, class Team>
__global__ void log_softmax_backward_kernel(const T* dy, const T* y, T* dx, AxisArgs args) {
  for (std::int64_t row = grid_team<Team>(); row < rows_of(args); row += grid_teams<Team>()) {
    const std::int64_t start = start_of_row(args, row);
    T sum = 0;
    for (std::int64_t c = Team::rank(); c < args.classes; c += Team::kSize) sum += dy[start + c * args.inner];
    sum = Team::reduce(sum, Plus{});
    for (std::int64_t c = Team::rank(); c < args.classes; c += Team::kSize) {
      const std::int64_t at = start + c * args.inner;
      dx[at] = dy[at] - std::exp(y[at]) * sum;
    }
  }
}

}  // namespace

template <class T, class Team>
void log_softmax_forward(const T* x, T* y, const AxisArgs& args, const Stream& stream) {
  if (rows_of(args) * args.classes == 0) return;
  launch<log_softmax_forward_kernel<T, Team>>(blocks_for_teams<Team>(rows_of(args)), dim3(kThreads), 0,
                                              stream, x, y, args);
}

template <class T, class Team>
void log_softmax_backward(const T* dy, const T* y, T* dx, const AxisArgs& args, const Stream& stream) {
  if (rows_of(args) * args.classes == 0) return;
  launch<log_softmax_backward_kernel<T, Team>>(blocks_for_teams<Team>(rows_of(args)), dim3(kThreads), 0,
                                               stream, dy, y, dx, args);
}

#define WARPLINE_INSTANTIATE_FOR(T, Team)                                                   \
  template void log_softmax_forward<T, Team>(const T*, T*, const AxisArgs&, const Stream&); \
  template void log_softmax_backward<T, Team>(const T*, const T*, T*, const AxisArgs&, const Stream&);
#define WARPLINE_INSTANTIATE(T)           \
  WARPLINE_INSTANTIATE_FOR(T, ThreadTeam) \
  WARPLINE_INSTANTIATE_FOR(T, WarpTeam)   \
  WARPLINE_INSTANTIATE_FOR(T, BlockTeam)
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
