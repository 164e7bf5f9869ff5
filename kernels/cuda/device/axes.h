// How a kernel finds an element of N tensors that it walks together, from a running index. The host leaves
// out axes of length 1 and makes one of neighbours that every tensor steps through alike; each axis that is
// left costs a division an element, but for the outermost.
#pragma once

#include <cstdint>

#include "kernels/args.h"
#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

template <int N>
struct Offsets {
  std::int64_t of[N];
};

template <int N>
struct Axes {
  int dims = 0;
  std::int64_t shape[kMaxDims] = {};  // innermost first
  Offsets<N> stride[kMaxDims] = {};

  // The next axis, from the innermost outwards.
  void add(std::int64_t length, const Offsets<N>& strides) {
    if (length == 1) return;
    bool continues = dims > 0;
    for (int n = 0; continues && n < N; ++n) {
      continues = strides.of[n] == stride[dims - 1].of[n] * shape[dims - 1];
    }
    if (continues) {
      shape[dims - 1] *= length;
    } else {
      shape[dims] = length;
      stride[dims++] = strides;
    }
  }

  // Of element i in row-major order.
  __device__ Offsets<N> at(std::int64_t i) const {
    Offsets<N> result = {};
    for (int d = 0; d < dims; ++d) {
      std::int64_t coordinate = i;
      if (d + 1 < dims) {
        i /= shape[d];
        coordinate -= i * shape[d];
      }
      for (int n = 0; n < N; ++n) result.of[n] += coordinate * stride[d].of[n];
    }
    return result;
  }
};

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
