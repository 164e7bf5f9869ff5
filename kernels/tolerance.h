// How far a fast kernel may be from `ref`, in one place. `ref` sums in double, so its own error is one
// rounding of the result and a kernel's is what its order of float additions costs.
//
// A sum of n terms of either sign, each at most m: partial sums grow like sqrt(n) m, each addition rounds by
// at most eps/2 of one, and n such roundings of either sign add up like sqrt(n): n m eps / 2. Four times that
// is allowed, with a few terms for the roundings of the terms themselves and of the result. A lost or doubled
// term is of size m, which stays visible up to n of about 1 / (2 eps), four million in float32.
// Integer-valued inputs, which every sweep has as well, leave no rounding at all and are compared exactly.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace warpline {

template <class T>
double sum_tolerance(std::int64_t terms, double largest_term) {
  if constexpr (std::is_floating_point_v<T>) {
    return 2 * std::numeric_limits<T>::epsilon() * static_cast<double>(terms + 4) * largest_term;
  } else {
    return 0;
  }
}

}  // namespace warpline
