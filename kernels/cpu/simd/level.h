// What differs between the instruction sets: WARPLINE_SIMD_LEVEL (the namespace, given by the build), the
// width of a vector, and how many rows of a product's tile its registers hold.
#pragma once

#include "kernels/cpu/simd/simd.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

#if defined(__AVX512F__)
inline constexpr int kWidth = 16, kTileRows = 12;  // 24 of 32 registers hold the tile
#elif defined(__AVX2__)
inline constexpr int kWidth = 8, kTileRows = 6;  // 12 of 16
#else
inline constexpr int kWidth = 4, kTileRows = 6;  // 12 of 16 on plain x86-64
#endif

typedef float Vector __attribute__((vector_size(4 * kWidth)));

inline Vector load(const float* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

inline void store(float* to, const Vector& v) { __builtin_memcpy(to, &v, sizeof v); }

void tile_product(const TileProduct& p);
void relu(std::int64_t count, const float* x, float* y);
void relu_backward(std::int64_t count, const float* dy, const float* y, float* dx);
void scale(std::int64_t count, float alpha, const float* x, float* y);
void axpy(std::int64_t count, float alpha, const float* x, float* y);
void add(std::int64_t count, const float* a, const float* b, float* y);
void mul(std::int64_t count, const float* a, const float* b, float* y);
void add_scalar(std::int64_t count, const float* a, float b, float* y);
double sum(std::int64_t count, const float* x);
void sum_rows(std::int64_t rows, std::int64_t columns, const float* x, double* into);
void copy_rows(std::int64_t blocks, std::int64_t block_stride, std::int64_t rows, std::int64_t row_stride,
               std::int64_t length, const float* from, float* to);
void add_rows(std::int64_t rows, std::int64_t length, const float* from, float* to, std::int64_t row_stride);
void max_pairs(std::int64_t count, const float* x, float* best, std::int32_t* position);
void max_rows(std::int64_t rows, std::int64_t count, const float* best, const std::int32_t* position,
              float* y, std::int32_t* winners, std::uint8_t* positions);
void max_pool_2x2_backward(std::int64_t rows, std::int64_t count, const float* dy,
                           const std::uint8_t* positions, float* dx, std::int64_t dx_row);
void sgd(std::int64_t count, const SgdNumbers& n, const float* gradient, float* parameter, float* momentum);
void adam(std::int64_t count, const AdamNumbers& n, const float* gradient, float* parameter, float* exp_avg,
          float* exp_avg_sq);

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
