// Machines other than x86-64: what the compiler makes of the loops for the architecture's base.
#include "kernels/cpu/simd/select.h"

namespace warpline::kernels {

namespace base {
extern const Simd kSimd;
}

const std::vector<const Simd*>& simd_levels() {
  static const std::vector<const Simd*> levels = {&base::kSimd};
  return levels;
}

}  // namespace warpline::kernels
