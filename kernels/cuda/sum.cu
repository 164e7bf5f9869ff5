// y = scale * (sum of x over any subset of axes). A cell of y is the work of a team; where the innermost axis
// is kept, neighbouring cells lie side by side in x, and a block sums 32 of them at once so that its loads do
// too.
#include "kernels/cuda/device/axes.h"
#include "kernels/cuda/device/combine.h"
#include "kernels/cuda/device/scalar.h"
#include "kernels/cuda/device/team.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {
namespace {

// The two halves of x's axes: one names the cell of y, the other the term within its sum.
struct SumShape {
  Axes<1> cell, term;
  std::int64_t cells = 1, terms = 1;
};

SumShape shape_of(const ReduceArgs& args) {
  SumShape shape;
  std::int64_t stride = 1;
  for (int d = args.dims - 1; d >= 0; --d) {
    const auto axis = static_cast<std::size_t>(d);
    const std::int64_t length = args.shape[axis];
    (args.reduced[axis] ? shape.term : shape.cell).add(length, {{stride}});
    (args.reduced[axis] ? shape.terms : shape.cells) *= length;
    stride *= length;
  }
  return shape;
}

// Whether the innermost axis is kept; else the terms of a sum are neighbours.
bool cells_are_neighbours(const SumShape& shape) {
  return shape.cell.dims > 0 && shape.cell.stride[0].of[0] == 1;
}

// What terms first, first + step, .. of a cell that starts at x add up to.
template <class T>
__device__ T sum_of_terms(const T* x, const SumShape& shape, int first, int step) {
  T sum = 0;
  for (std::int64_t term = first; term < shape.terms; term += step) sum += x[shape.term.at(term).of[0]];
  return sum;
}

template <class T, class Team>
__global__ void sum_kernel(const T* x, T* y, SumShape shape, T scale) {
  for (std::int64_t cell = grid_team<Team>(); cell < shape.cells; cell += grid_teams<Team>()) {
    const T* const start = x + shape.cell.at(cell).of[0];
    const T sum = Team::reduce(sum_of_terms(start, shape, Team::rank(), Team::kSize), Plus{});
    if (Team::rank() == 0) y[cell] = scale * sum;
  }
}

constexpr int kColumns = 32, kRows = 8;

// Thread (c, r) sums terms r, r + kRows, .. of cell c: a warp reads 32 neighbours at a time. Then row 0 adds
// up what the rows have, first to last.
template <class T>
__global__ void sum_columns_kernel(const T* x, T* y, SumShape shape, T scale) {
  __shared__ T sums[kRows][kColumns];
  const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kColumns;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kColumns; first < shape.cells;
       first += step) {
    const std::int64_t cell = first + column;
    if (cell < shape.cells) {
      sums[row][column] = sum_of_terms(x + shape.cell.at(cell).of[0], shape, row, kRows);
    }
    __syncthreads();
    if (row == 0 && cell < shape.cells) {
      T sum = 0;
      for (int r = 0; r < kRows; ++r) sum += sums[r][column];
      y[cell] = scale * sum;
    }
    __syncthreads();  // the next round overwrites the sums
  }
}

}  // namespace

template <class T, class Team>
void sum(const T* x, T* y, const ReduceArgs& args, const Stream& stream) {
  const SumShape shape = shape_of(args);
  if (shape.cells == 0) return;
  launch<sum_kernel<T, Team>>(blocks_for_teams<Team>(shape.cells), dim3(kThreads), 0, stream, x, y, shape,
                              factor<T>(args.scale));
}

template <class T>
void sum_columns(const T* x, T* y, const ReduceArgs& args, const Stream& stream) {
  const SumShape shape = shape_of(args);
  if (shape.cells == 0) return;
  launch<sum_columns_kernel<T>>(blocks_for(shape.cells, kColumns), dim3(kColumns, kRows), 0, stream, x, y,
                                shape, factor<T>(args.scale));
}

bool sum_suits_columns(const void* args) {
  const SumShape shape = shape_of(*static_cast<const ReduceArgs*>(args));
  return shape.terms >= kLongForThread && cells_are_neighbours(shape);
}

bool sum_suits_warp(const void* args) {
  const SumShape shape = shape_of(*static_cast<const ReduceArgs*>(args));
  return shape.terms >= kLongForThread && !cells_are_neighbours(shape);
}

bool sum_suits_block(const void* args) {
  const SumShape shape = shape_of(*static_cast<const ReduceArgs*>(args));
  return shape.terms >= kLongForWarp && !cells_are_neighbours(shape);
}

#define WARPLINE_INSTANTIATE(T)                                                     \
  template void sum<T, ThreadTeam>(const T*, T*, const ReduceArgs&, const Stream&); \
  template void sum<T, WarpTeam>(const T*, T*, const ReduceArgs&, const Stream&);   \
  template void sum<T, BlockTeam>(const T*, T*, const ReduceArgs&, const Stream&);  \
  template void sum_columns<T>(const T*, T*, const ReduceArgs&, const Stream&);
WARPLINE_INSTANTIATE(float)
WARPLINE_INSTANTIATE(double)
WARPLINE_INSTANTIATE(std::uint32_t)

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
