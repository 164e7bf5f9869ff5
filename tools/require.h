// Checks of the numbers that flags give: what does not fit is refused by the flag's name (ValueError).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/error.h"

namespace warpline::tools {

inline void require_at_least_one(const char* flag, std::int64_t value) {
  if (value < 1) fail<ValueError>(flag, "must be at least 1; got {}", value);
}

inline void require_positive(const char* flag, double value) {
  if (!std::isfinite(value) || value <= 0) fail<ValueError>(flag, "must be a number above 0; got {}", value);
}

inline void require_not_negative(const char* flag, double value) {
  if (!std::isfinite(value) || value < 0)
    fail<ValueError>(flag, "must be a number of at least 0; got {}", value);
}

template <class T>
void require_at_most(const char* flag, T value, T most) {
  if (value > most) fail<ValueError>(flag, "must be at most {}; got {}", most, value);
}

}  // namespace warpline::tools
