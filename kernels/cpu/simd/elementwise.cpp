// Element-wise loops and sums, written so that the compiler vectorises them.
#include "kernels/cpu/simd/level.h"

namespace warpline::kernels::WARPLINE_SIMD_LEVEL {

// NaN compares false and passes, both ways.
void relu(std::int64_t count, const float* x, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] <= 0 ? 0.0F : x[i];
}

void relu_backward(std::int64_t count, const float* dy, const float* y, float* dx) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = dy[i];
    dx[i] = y[i] <= 0 ? 0.0F : gradient;
  }
}

void scale(std::int64_t count, float alpha, const float* x, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = alpha * x[i];
}

void axpy(std::int64_t count, float alpha, const float* x, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += alpha * x[i];
}

void add(std::int64_t count, const float* a, const float* b, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = a[i] + b[i];
}

void mul(std::int64_t count, const float* a, const float* b, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = a[i] * b[i];
}

void add_scalar(std::int64_t count, const float* a, float b, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = a[i] + b;
}

// 32 partial sums, whatever the instruction set: 16 terms each in float, then on in double. Where those few
// leave the range of float the sum is infinite, as in PyTorch; `ref` sums in double throughout.
double sum(std::int64_t count, const float* x) {
  constexpr int kLanes = 32, kTerms = 16;
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += kLanes * kTerms) {
    const float* const block = x + begin;
    const std::int64_t size = count - begin < kLanes * kTerms ? count - begin : kLanes * kTerms;
    float lanes[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= size; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += block[i + lane];
    }
    for (int lane = 0; i < size; ++i, ++lane) lanes[lane] += block[i];
    for (int half = kLanes / 2; half > 1; half /= 2) {
      for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    total += static_cast<double>(lanes[0]) + static_cast<double>(lanes[1]);
  }
  return total;
}

void sum_rows(std::int64_t rows, std::int64_t columns, const float* x, double* into) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* const line = x + row * columns;
    for (std::int64_t i = 0; i < columns; ++i) into[i] += static_cast<double>(line[i]);
  }
}

}  // namespace warpline::kernels::WARPLINE_SIMD_LEVEL
