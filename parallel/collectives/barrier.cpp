// Dissemination barrier: in round k rank r tells rank r + 2^k and hears from rank r - 2^k. After round k a
// rank knows of the 2^(k+1) ranks up to itself, so ceil(log2 N) rounds are enough, for any N:
//
//   ceil(log2 N) a
#include "parallel/collectives/collectives.h"

namespace warpline::parallel {

void dissemination_barrier(Wire& wire) {
  const int n = wire.size(), r = wire.rank();
  const Tensor nothing = temporary(wire, 0, DType::UInt8);
  for (int step = 1; step < n; step *= 2) {
    wire.exchange(nothing, (r + step) % n, nothing, (r - step + n) % n);
  }
}

}  // namespace warpline::parallel
