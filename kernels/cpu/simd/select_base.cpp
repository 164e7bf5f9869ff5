// Machines other than x86-64: what the compiler makes of the loops for the architecture's base.
#include "kernels/cpu/simd/simd.h"

namespace warpline::kernels {

namespace base {
extern const Simd kSimd;
}

const Simd& simd() { return base::kSimd; }

}  // namespace warpline::kernels
