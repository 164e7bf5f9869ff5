// Which instruction sets the machine runs; for the target's code outside simd/, and for tests.
#pragma once

#include <vector>

#include "kernels/cpu/simd/simd.h"

namespace warpline::kernels {

// The sets that this machine runs, the fastest last.
const std::vector<const Simd*>& simd_levels();

// The fastest.
inline const Simd& simd() {
  static const Simd& chosen = *simd_levels().back();
  return chosen;
}

}  // namespace warpline::kernels
