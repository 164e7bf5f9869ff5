// Max-pool's usual case, windows of 2 x 2 side by side, without a branch: first pairs along the rows, then
// the two rows. Comparing in this order keeps the first of equal numbers in row-major order, and the last
// NaN. Rows are short (12 and 4 windows in LeNet), so they are taken four windows at a time.
#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

namespace {

constexpr int kLanes = 4;

// Calls body(first, number of windows), the number being the constant kLanes but for the tail.
template <class Body>
inline void by_lanes(std::int64_t count, const Body& body) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) body(i, kLanes);
  for (; i < count; ++i) body(i, 1);
}

}  // namespace

void max_pairs(std::int64_t count, const float* x, float* best, std::int32_t* position) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float left = x[2 * i], right = x[2 * i + 1];
    const int take = static_cast<int>(right > left) | static_cast<int>(right != right);
    best[i] = take != 0 ? right : left;
    position[i] = take;
  }
}

// Winners are narrowed in a loop of their own: g++ 12.2 at -O3 vectorises a loop that compares floats and
// stores bytes wrongly, from 16 windows a row (the test of each instruction set shows it).
void max_rows(std::int64_t rows, std::int64_t count, const float* best, const std::int32_t* position,
              float* y, std::int32_t* winners, std::uint8_t* positions) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float *const top = best + 2 * row * count, *const bottom = top + count;
    const std::int32_t *const top_position = position + 2 * row * count, *const bottom_position =
                                                                             top_position + count;
    float* const to = y + row * count;
    std::int32_t* const winner = winners + row * count;
    by_lanes(count, [&](std::int64_t i, int lanes) {
      for (int lane = 0; lane < lanes; ++lane) {
        const float a = top[i + lane], b = bottom[i + lane];
        const int pa = top_position[i + lane], pb = bottom_position[i + lane] + 2;
        const int take = static_cast<int>(b > a) | static_cast<int>(b != b);
        to[i + lane] = take != 0 ? b : a;
        winner[i + lane] = take != 0 ? pb : pa;
      }
    });
  }
  for (std::int64_t i = 0; i < rows * count; ++i) positions[i] = static_cast<std::uint8_t>(winners[i]);
}

void max_pool_2x2_backward(std::int64_t rows, std::int64_t count, const float* dy,
                           const std::uint8_t* positions, float* dx, std::int64_t dx_row) {
  for (std::int64_t row = 0; row < rows; ++row, dx += 2 * dx_row) {
    float* const bottom = dx + dx_row;
    by_lanes(count, [&](std::int64_t i, int lanes) {
      float cells[4][kLanes] = {};
      for (int lane = 0; lane < lanes; ++lane) {
        for (int cell = 0; cell < 4; ++cell) {
          cells[cell][lane] = positions[i + lane] == cell ? dy[i + lane] : 0.0F;
        }
      }
      for (int lane = 0; lane < lanes; ++lane) {
        dx[2 * (i + lane)] = cells[0][lane];
        dx[2 * (i + lane) + 1] = cells[1][lane];
        bottom[2 * (i + lane)] = cells[2][lane];
        bottom[2 * (i + lane) + 1] = cells[3][lane];
      }
    });
    dy += count;
    positions += count;
  }
}

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
