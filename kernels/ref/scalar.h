// Which type each scalar accumulates in, and the few questions that the ops ask of any scalar. uint32 stays
// uint32: sums and products modulo 2^32 give one answer in any order, so a fast kernel can be compared
// exactly.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace warpline::kernels::ref {

template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, T>;

// A factor such as alpha, as the accumulator has it. Negative factors wrap in unsigned types, through int64
// because the direct conversion is undefined.
template <class T>
T from_double(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<std::int64_t>(value));
  }
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

// What padding holds for a maximum: -inf, or the least value of a type without one.
template <class T>
inline constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                  : std::numeric_limits<T>::lowest();

}  // namespace warpline::kernels::ref
