// c = alpha * op(a) * op(b) + beta * c, as BLAS: alpha = 0 does not read a and b, beta = 0 does not read c.
#pragma once

#include "kernels/args.h"
#include "kernels/ref/scalar.h"
#include "kernels/stream.h"

namespace warpline::kernels::ref {

template <class T>
void gemm(const T* a, const T* b, T* c, const GemmArgs& args, const Stream&) {
  using Acc = Accumulator<T>;
  const Acc alpha = from_double<Acc>(args.alpha);
  const Acc beta = from_double<Acc>(args.beta);
  for (std::int64_t i = 0; i < args.m; ++i) {
    for (std::int64_t j = 0; j < args.n; ++j) {
      Acc result = 0;
      if (alpha != 0) {
        for (std::int64_t p = 0; p < args.k; ++p) {
          const T left = args.transpose_a ? a[p * args.m + i] : a[i * args.k + p];
          const T right = args.transpose_b ? b[j * args.k + p] : b[p * args.n + j];
          result += Acc{left} * Acc{right};
        }
        result *= alpha;
      }
      if (beta != 0) result += beta * Acc{c[i * args.n + j]};
      c[i * args.n + j] = static_cast<T>(result);
    }
  }
}

}  // namespace warpline::kernels::ref
