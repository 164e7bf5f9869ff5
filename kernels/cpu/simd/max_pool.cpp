// Max-pool's usual case, windows of 2 x 2 side by side, without a branch.
#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

// Takes v if it is larger, or NaN: the last NaN of a window wins, of equal numbers the first.
void max_pool_2x2(std::int64_t count, const float* top, const float* bottom, float* y,
                  std::uint8_t* positions) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float v[4] = {top[2 * i], top[2 * i + 1], bottom[2 * i], bottom[2 * i + 1]};
    float best = v[0];
    int position = 0;
    for (int p = 1; p < 4; ++p) {
      const bool take = v[p] > best || v[p] != v[p];
      best = take ? v[p] : best;
      position = take ? p : position;
    }
    y[i] = best;
    positions[i] = static_cast<std::uint8_t>(position);
  }
}

void max_pool_2x2_backward(std::int64_t count, const float* dy, const std::uint8_t* positions, float* top,
                           float* bottom) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = dy[i];
    const int position = positions[i];
    top[2 * i] = position == 0 ? gradient : 0.0F;
    top[2 * i + 1] = position == 1 ? gradient : 0.0F;
    bottom[2 * i] = position == 2 ? gradient : 0.0F;
    bottom[2 * i + 1] = position == 3 ? gradient : 0.0F;
  }
}

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
