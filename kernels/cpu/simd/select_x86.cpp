// The instruction sets of x86-64: its base, that of 2013 (AVX2, FMA) and that of 2017 (AVX-512).
#include "kernels/cpu/simd/select.h"

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

const std::vector<const Simd*>& simd_levels() {
  static const std::vector<const Simd*> levels = [] {
    __builtin_cpu_init();
    std::vector<const Simd*> runnable = {&base::kSimd};
    if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0) return runnable;
    runnable.push_back(&avx2::kSimd);
    if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
        __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
      runnable.push_back(&avx512::kSimd);
    }
    return runnable;
  }();
  return levels;
}

}  // namespace warpline::kernels
