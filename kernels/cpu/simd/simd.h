// The inner loops of the cpu kernels. The files of this folder are compiled once for each instruction set, in
// a namespace of its own (level.h), and this structure of function pointers is what the rest of the target
// sees of them. They include nothing that defines inline functions: the linker keeps one copy of such a
// function, and that copy must run on every machine.
//
// The set is chosen once for a process, by what the machine offers, so bits are the same from run to run on
// one machine; no loop looks at the alignment of a pointer.
#pragma once

#include <cstdint>

namespace warpline::kernels {

// c[rows, columns] = alpha * a[rows, depth] b[depth, columns] + beta * c for up to Simd::tile_rows rows,
// where b is 1 or 2 vectors wide and can be read to that width, and columns <= that width. Strides are in
// elements.
struct TileProduct {
  std::int64_t rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  std::int64_t a_row = 0, a_depth = 0;
  const float* b = nullptr;
  std::int64_t b_depth = 0;
  int vectors = 2;
  float* c = nullptr;
  std::int64_t c_row = 0, c_column = 1;
  float alpha = 1, beta = 0;    // beta = 0 does not read c
  const float* bias = nullptr;  // one number a row, added before alpha; may be null
};

// copy_rows reads and writes up to this many floats more than it is asked to.
inline constexpr std::int64_t kCopySlack = 7;

struct SgdNumbers {
  float lr, momentum, one_minus_dampening, weight_decay;
  bool nesterov, first_step;
};

struct AdamNumbers {
  float step_size, beta1, beta2, one_minus_beta1, one_minus_beta2, eps, weight_decay, keep;
  float inverse_sqrt_correction2;
};

struct Simd {
  const char* name;
  int width;      // floats in a vector
  int tile_rows;  // most rows of a TileProduct

  void (*tile_product)(const TileProduct&);

  void (*relu)(std::int64_t count, const float* x, float* y);
  void (*relu_backward)(std::int64_t count, const float* dy, const float* y, float* dx);
  void (*scale)(std::int64_t count, float alpha, const float* x, float* y);
  void (*axpy)(std::int64_t count, float alpha, const float* x, float* y);
  void (*add)(std::int64_t count, const float* a, const float* b, float* y);
  void (*mul)(std::int64_t count, const float* a, const float* b, float* y);
  void (*add_scalar)(std::int64_t count, const float* a, float b, float* y);
  double (*sum)(std::int64_t count, const float* x);
  // into[i] += sum over rows of x[row, i]
  void (*sum_rows)(std::int64_t rows, std::int64_t columns, const float* x, double* into);

  // Copies blocks x rows x length floats, contiguous at `to`.
  void (*copy_rows)(std::int64_t blocks, std::int64_t block_stride, std::int64_t rows,
                    std::int64_t row_stride, std::int64_t length, const float* from, float* to);
  // Adds rows x length contiguous floats to rows that are row_stride apart.
  void (*add_rows)(std::int64_t rows, std::int64_t length, const float* from, float* to,
                   std::int64_t row_stride);

  // Max-pool by windows of 2 x 2 with stride 2. The larger of each pair, and whether it is the second; then
  // the larger of two rows of `count` such pairs, and its position 0..3 (winners: memory of rows x count).
  // dx_row: from one row of dx to the next.
  void (*max_pairs)(std::int64_t count, const float* x, float* best, std::int32_t* position);
  void (*max_rows)(std::int64_t rows, std::int64_t count, const float* best, const std::int32_t* position,
                   float* y, std::int32_t* winners, std::uint8_t* positions);
  void (*max_pool_2x2_backward)(std::int64_t rows, std::int64_t count, const float* dy,
                                const std::uint8_t* positions, float* dx, std::int64_t dx_row);

  void (*sgd)(std::int64_t count, const SgdNumbers&, const float* gradient, float* parameter,
              float* momentum);
  void (*adam)(std::int64_t count, const AdamNumbers&, const float* gradient, float* parameter,
               float* exp_avg, float* exp_avg_sq);
};

}  // namespace warpline::kernels
