// Chooses the instruction set on x86-64.
#include "kernels/cpu/simd/simd.h"

namespace warpline::kernels {

namespace base {
extern const Simd kSimd;
}
namespace avx2 {
extern const Simd kSimd;
}
namespace avx512 {
extern const Simd kSimd;
}

const Simd& simd() {
  static const Simd& chosen = []() -> const Simd& {
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    if (v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
        __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
      return avx512::kSimd;
    }
    return v3 ? avx2::kSimd : base::kSimd;
  }();
  return chosen;
}

}  // namespace warpline::kernels
