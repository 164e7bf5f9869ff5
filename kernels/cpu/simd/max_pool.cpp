// Max-pool's usual case, windows of 2 x 2 side by side, without a branch: first pairs along the rows, then
// the two rows. Comparing in this order keeps the first of equal numbers in row-major order, and the last
// NaN.
#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

void max_pairs(std::int64_t count, const float* x, float* best, std::int32_t* position) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float left = x[2 * i], right = x[2 * i + 1];
    const int take = static_cast<int>(right > left) | static_cast<int>(right != right);
    best[i] = take != 0 ? right : left;
    position[i] = take;
  }
}

void max_rows(std::int64_t count, const float* top, const std::int32_t* top_position, const float* bottom,
              const std::int32_t* bottom_position, float* y, std::uint8_t* positions) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float a = top[i], b = bottom[i];
    const int pa = top_position[i], pb = bottom_position[i] + 2;
    const int take = static_cast<int>(b > a) | static_cast<int>(b != b);
    y[i] = take != 0 ? b : a;
    positions[i] = static_cast<std::uint8_t>(take != 0 ? pb : pa);
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
