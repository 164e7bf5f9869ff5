// One fixed binary tree for all elements. Few messages, but every message is the whole tensor:
//
//   all-reduce: 2 ceil(log2 N) (a + S b) + ceil(log2 N) S g      broadcast: ceil(log2 N) (a + S b)
//
// N = 6, the sum ((0+1) + (2+3)) + (4+5), whatever the size of the tensor:
//
//   step    0    1    2    3    4    5
//    1      + <--'    + <--'    + <--'
//    2      + <-------'         |
//    4      + <-----------------'          and back down the same way
#include "parallel/collectives/collectives.h"
#include "parallel/combine.h"

namespace warpline::parallel {

void tree_all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op) {
  const int n = wire.size(), r = wire.rank();
  const Tensor flat = slice(tensor, {0, tensor.count()});
  Tensor room;
  for (int step = 1; step < n; step *= 2) {
    if (r % (2 * step) != 0) {
      wire.send(flat, r - step);
      break;
    }
    if (r + step >= n) continue;
    if (!room.defined()) room = temporary(wire, flat.count(), flat.dtype());
    wire.recv(room, r + step);
    combine(op, flat, room, wire.context());
  }
  tree_broadcast(wire, flat, 0);
}

void tree_broadcast(Wire& wire, const Tensor& tensor, int root) {
  const int n = wire.size();
  const int r = (wire.rank() - root + n) % n;  // as if the root were 0
  const auto rank = [&](int relative) { return (relative + root) % n; };
  int top = 1;
  while (top < n) top *= 2;
  for (int step = top / 2; step >= 1; step /= 2) {
    if (r % (2 * step) == 0) {
      if (r + step < n) wire.send(tensor, rank(r + step));
    } else if (r % step == 0) {
      wire.recv(tensor, rank(r - step));
    }
  }
}

}  // namespace warpline::parallel
