// Moving the short rows of patches. Rows are copied by 8 floats, so a copy may reach 7 floats past the end of
// a row on both sides (kCopySlack); the next row overwrites what it left there.
#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

void copy_rows(std::int64_t blocks, std::int64_t block_stride, std::int64_t rows, std::int64_t row_stride,
               std::int64_t length, const float* from, float* to) {
  for (std::int64_t block = 0; block < blocks; ++block, from += block_stride) {
    const float* row = from;
    for (std::int64_t r = 0; r < rows; ++r, row += row_stride, to += length) {
      for (std::int64_t i = 0; i < length; i += 8) __builtin_memcpy(to + i, row + i, 8 * sizeof(float));
    }
  }
}

void add_rows(std::int64_t rows, std::int64_t length, const float* from, float* to, std::int64_t row_stride) {
  for (std::int64_t r = 0; r < rows; ++r, from += length, to += row_stride) {
    std::int64_t i = 0;
    for (; i + 8 <= length; i += 8) {
      for (int lane = 0; lane < 8; ++lane) to[i + lane] += from[i + lane];
    }
    for (; i < length; ++i) to[i] += from[i];
  }
}

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
