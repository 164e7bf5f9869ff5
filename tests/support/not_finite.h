// The values that arithmetic spreads: of a kernel test's type, and of the doubles that other tests write
// down.
#pragma once

#include <limits>

namespace warpline::test {

template <class T>
inline constexpr T kNaNOf = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr T kInfOf = std::numeric_limits<T>::infinity();

inline constexpr double kNaN = kNaNOf<double>, kInf = kInfOf<double>;

}  // namespace warpline::test
