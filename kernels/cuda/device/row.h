// The rows of outer x classes x inner that run along `classes`: elements of one lie `inner` apart.
#pragma once

#include "kernels/args.h"
#include "kernels/cuda/device/team.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

inline __host__ __device__ std::int64_t rows_of(const AxisArgs& args) { return args.outer * args.inner; }

// Where row `row` starts.
inline __device__ std::int64_t start_of_row(const AxisArgs& args, std::int64_t row) {
  return row / args.inner * args.classes * args.inner + row % args.inner;
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
