// What kernels ask of any scalar: float, double, and uint32, whose sums and products modulo 2^32 give one
// answer in any order, so that each variant can be compared with `ref` exactly.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/target.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// A factor such as alpha. Negative factors wrap in uint32, through int64 because the direct conversion is
// undefined.
template <class T>
T factor(double value) {
  if constexpr (std::is_floating_point<T>::value) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<std::int64_t>(value));
  }
}

template <class T>
__device__ bool is_nan(T value) {
  return value != value;
}

// What padding holds for a maximum: -inf, or the least value of a type without one.
template <class T>
__device__ T lowest() {
  if constexpr (std::is_floating_point<T>::value) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return T{0};
  }
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
