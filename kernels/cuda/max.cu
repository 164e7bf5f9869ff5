// The first maximum of each row and its index, a row a team. NaN beats numbers and the first NaN wins.
#include "kernels/cuda/device/combine.h"
#include "kernels/cuda/device/row.h"
#include "kernels/cuda/device/scalar.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// The larger one; NaN is larger than any number.
struct LargerOrNan {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b > a || is_nan(b) ? b : a;
  }
};

// First the maximum of the team's own maxima, then the first index at which one of them stands. An index past
// the row stands for nothing: a member without elements.
template <class T, class Team>
__global__ void max_kernel(const T* x, T* values, std::int64_t* indices, AxisArgs args) {
  for (std::int64_t row = grid_team<Team>(); row < rows_of(args); row += grid_teams<Team>()) {
    const T* const from = x + start_of_row(args, row);
    T best = lowest<T>();
    std::int64_t index = args.classes;
    for (std::int64_t c = Team::rank(); c < args.classes && !is_nan(best); c += Team::kSize) {
      const T value = from[c * args.inner];
      if (index < args.classes && !(value > best) && !is_nan(value)) continue;
      best = value;
      index = c;
    }
    const T largest = Team::reduce(best, LargerOrNan{});
    const bool stands = best == largest || (is_nan(best) && is_nan(largest));
    index = Team::reduce(stands ? index : args.classes, Smaller{});
    if (Team::rank() == 0) {
      values[row] = from[index * args.inner];
      indices[row] = index;
    }
  }
}

}  // namespace

template <class T, class Team>
void max(const T* x, T* values, std::int64_t* indices, const AxisArgs& args, const Stream& stream) {
  if (rows_of(args) == 0) return;
  launch<max_kernel<T, Team>>(blocks_for_teams<Team>(rows_of(args)), dim3(kThreads), 0, stream, x, values,
                              indices, args);
}

#define WARPLINE_INSTANTIATE_FOR(T, Team) \
  template void max<T, Team>(const T*, T*, std::int64_t*, const AxisArgs&, const Stream&);
#define WARPLINE_INSTANTIATE(T)           \
  WARPLINE_INSTANTIATE_FOR(T, ThreadTeam) \
  WARPLINE_INSTANTIATE_FOR(T, WarpTeam)   \
  WARPLINE_INSTANTIATE_FOR(T, BlockTeam)
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)
WARPLINE_INSTANTIATE(std::uint32_t)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
