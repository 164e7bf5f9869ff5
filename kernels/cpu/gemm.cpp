// GEMM over row-major matrices, cut into pieces along the rows or the columns of c.
//
// Why no library: on the products of `net` (AVX-512, one thread, buffers of its own for each candidate)
// neither OpenBLAS 0.3.21 nor oneDNN 2.6.3 was faster throughout. They won some shapes and lost others, while
// these loops ask the system for no memory, start no threads and give the same bits by construction.
#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/split.h"

namespace warpline::kernels::cpu {

namespace {

// Multiply-adds of a piece: some 30 microseconds.
constexpr std::int64_t kPieceWork = std::int64_t{1} << 20;

void scale_in_place(float* c, const GemmArgs& args, const Stream& stream) {
  CountArgs count{args.m * args.n, args.beta};
  if (args.beta == 0) {
    fill(c, count, stream);
  } else {
    scale(c, c, count, stream);
  }
}

}  // namespace

void gemm(const float* a, const float* b, float* c, const GemmArgs& args, const Stream& stream) {
  if (args.m == 0 || args.n == 0) return;
  if (args.k == 0 || args.alpha == 0) {
    scale_in_place(c, args, stream);
    return;
  }
  Product product{.m = args.m,
                  .n = args.n,
                  .k = args.k,
                  .a = a,
                  .a_row = args.transpose_a ? 1 : args.k,
                  .a_depth = args.transpose_a ? args.m : 1,
                  .b = b,
                  .b_depth = args.transpose_b ? 1 : args.n,
                  .b_column = args.transpose_b ? args.k : 1,
                  .c = c,
                  .c_row = args.n,
                  .c_column = 1,
                  .alpha = static_cast<float>(args.alpha),
                  .beta = static_cast<float>(args.beta)};
  // The operand whose rows are loaded as vectors must not be the large one if that costs a transposing copy.
  if (args.transpose_b && args.m <= args.n) product = product.transposed();

  const double work = static_cast<double>(product.m) * static_cast<double>(product.n) *
                      static_cast<double>(product.k) / kPieceWork;
  // Pieces along the columns pack parts of b of their own, and read all of a. Pieces along the rows all pack
  // the same, and must have rows enough to pay for it; they write whole rows of c, which counts where depth
  // is small (a weight gradient of 16 images).
  const bool by_rows = product.n < kPackWidth || (product.b_column == 1 && product.m >= product.n / 2);
  const std::int64_t length = by_rows ? product.m : product.n;
  const std::int64_t unit = by_rows ? 132 : std::max(kPanel, product.n / 8 / kPanel * kPanel);
  const auto pieces = static_cast<std::int64_t>(
      std::clamp(work, 1.0, static_cast<double>(std::min<std::int64_t>(16, pieces_of(length, unit)))));
  stream.pool->run(pieces, [&](std::int64_t piece, int worker) {
    const Range range = piece_of(length, pieces, piece, unit);
    Product part = product;
    if (by_rows) {
      part.m = range.size();
      part.a += range.begin * part.a_row;
      part.c += range.begin * part.c_row;
    } else {
      part.n = range.size();
      part.b += range.begin * part.b_column;
      part.c += range.begin * part.c_column;
    }
    multiply(part, static_cast<float*>(stream.scratch->get(worker, 0, kPackBytes)));
  });
}

}  // namespace warpline::kernels::cpu
