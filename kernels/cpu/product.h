// A matrix product on one thread, for matrices of any strides: what gemm and the convolutions are made of.
#pragma once

#include <cstdint>
#include <utility>

namespace warpline::kernels::cpu {

// c[m,n] = alpha * (a[m,k] b[k,n] + bias[m]) + beta * c; strides in elements; beta = 0 does not read c; k >
// 0.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t a_row = 0, a_depth = 1;
  const float* b = nullptr;
  std::int64_t b_depth = 0, b_column = 1;
  float* c = nullptr;
  std::int64_t c_row = 0, c_column = 1;
  float alpha = 1, beta = 0;
  const float* bias = nullptr;  // may be null
  bool b_wide = false;          // rows of b can be read up to a multiple of kPanel floats

  // The same product as c^T = b^T a^T; without bias.
  Product transposed() const {
    return {n,     m, k,        b,     b_column, b_depth, a,       a_depth,
            a_row, c, c_column, c_row, alpha,    beta,    nullptr, false};
  }
};

inline constexpr std::int64_t kPackDepth = 512, kPackWidth = 128;  // a block of b: 256 KiB
inline constexpr std::int64_t kPanel = 32;                         // a multiple of every panel's width
// Of the memory that multiply() packs panels of b into.
inline constexpr std::size_t kPackBytes = kPackDepth * kPackWidth * sizeof(float);

// Broadcasts the elements of a, loads vectors along the rows of b: of an operand that is read as b a copy is
// made where its rows are not contiguous.
void multiply(const Product& product, float* pack);

}  // namespace warpline::kernels::cpu
