// The inner loops of one instruction set as a structure.
#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

#define WARPLINE_NAME_TEXT(level) #level
#define WARPLINE_NAME(level) WARPLINE_NAME_TEXT(level)

extern const Simd kSimd;
const Simd kSimd = {
    .name = WARPLINE_NAME(WARPLINE_SIMD_LEVEL),
    .width = kWidth,
    .tile_rows = kTileRows,
    .tile_product = &tile_product,
    .relu = &relu,
    .relu_backward = &relu_backward,
    .scale = &scale,
    .axpy = &axpy,
    .add = &add,
    .mul = &mul,
    .add_scalar = &add_scalar,
    .sum = &sum,
    .sum_rows = &sum_rows,
    .copy_rows = &copy_rows,
    .add_rows = &add_rows,
    .max_pairs = &max_pairs,
    .max_rows = &max_rows,
    .max_pool_2x2_backward = &max_pool_2x2_backward,
    .sgd = &sgd,
    .adam = &adam,
};

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
