// Halving-doubling (Rabenseifner), for N a power of two: reduce-scatter by exchanging halves with ever nearer
// partners, then all-gather back out. As few bytes as the ring in log2 N instead of N - 1 steps:
//
//   2 log2(N) a + 2 (N-1)/N S b + (N-1)/N S g
//
//   N = 4, the quarters that a rank still sums:   start   with r^2   with r^1
//                                      rank 0    0123      01         0
//                                      rank 1    0123      01         1
//                                      rank 2    0123      23         2
//                                      rank 3    0123      23         3
#include "parallel/collectives/collectives.h"
#include "parallel/combine.h"

namespace warpline::parallel {

void halving_doubling_all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op) {
  const int n = wire.size(), r = wire.rank();
  if (n == 1) return;
  // The elements of chunks [first, first + width).
  const auto chunks = [&](int first, int width) {
    return slice(tensor,
                 {part(tensor.count(), n, first).begin, part(tensor.count(), n, first + width - 1).end});
  };
  const Tensor room = temporary(wire, chunks(0, n / 2).count(), tensor.dtype());
  for (int width = n / 2; width >= 1; width /= 2) {
    // This rank and its partner hold the same 2 width chunks; each keeps the half it is in itself.
    const Tensor kept = chunks(r / width * width, width);
    const Tensor given = chunks((r ^ width) / width * width, width);
    const Tensor theirs = slice(room, {0, kept.count()});
    wire.exchange(given, r ^ width, theirs, r ^ width);
    combine(op, kept, theirs, wire.context());
  }
  for (int width = 1; width < n; width *= 2) {
    wire.exchange(chunks(r / width * width, width), r ^ width, chunks((r ^ width) / width * width, width),
                  r ^ width);
  }
}

}  // namespace warpline::parallel
