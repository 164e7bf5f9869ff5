// Rings: rank r sends to r + 1 and receives from r - 1 only. A tensor is cut into N chunks; in each step
// every link carries one chunk, so all links are busy all the time: no algorithm moves fewer bytes.
//
//   reduce-scatter, all-gather: (N-1) a + (N-1)/N S b (+ (N-1)/N S g)
//   all-reduce:                2(N-1) a + 2 (N-1)/N S b + (N-1)/N S g
//
// Chunk c starts at rank c + 1 and is complete at rank c, N - 1 steps later, so each chunk is summed in an
// order of ranks of its own:
//
//   N = 3, chunk that rank r sends:   step 0    step 1   | then owns
//                            rank 0      2         1     |    0
//                            rank 1      0         2     |    1
//                            rank 2      1         0     |    2
#include "parallel/collectives/collectives.h"
#include "parallel/combine.h"

namespace warpline::parallel {
namespace {

int around(int rank, int size) { return (rank % size + size) % size; }

// The all-gather half: chunk r of `whole` is complete on rank r; afterwards all are, everywhere.
void gather_chunks(Wire& wire, const Tensor& whole) {
  const int n = wire.size(), r = wire.rank();
  const auto chunk = [&](int c) { return slice(whole, part(whole.count(), n, around(c, n))); };
  for (int step = 0; step + 1 < n; ++step) {
    wire.exchange(chunk(r - step), around(r + 1, n), chunk(r - step - 1), around(r - 1, n));
  }
}

}  // namespace

void ring_all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op) {
  const int n = wire.size(), r = wire.rank();
  if (n == 1) return;
  const auto chunk = [&](int c) { return slice(tensor, part(tensor.count(), n, around(c, n))); };
  const Tensor room = temporary(wire, part(tensor.count(), n, 0).size(), tensor.dtype());
  for (int step = 0; step + 1 < n; ++step) {
    const Tensor mine = chunk(r - step - 2);
    const Tensor theirs = slice(room, {0, mine.count()});
    wire.exchange(chunk(r - step - 1), around(r + 1, n), theirs, around(r - 1, n));
    combine(op, mine, theirs, wire.context());
  }
  gather_chunks(wire, tensor);
}

void ring_reduce_scatter(Wire& wire, const Tensor& input, const Tensor& output, ReduceOp op) {
  const int n = wire.size(), r = wire.rank();
  const auto chunk = [&](int c) { return slice(input, part(input.count(), n, around(c, n))); };
  if (n == 1) return copy(output, input, wire);
  // The partial sum that arrives takes in this rank's chunk and goes on: two buffers, for one is on its way
  // out while the next comes in. The last one is the output.
  Tensor out = chunk(r - 1);
  Tensor spare[2] = {temporary(wire, output.count(), input.dtype()),
                     temporary(wire, output.count(), input.dtype())};
  for (int step = 0; step + 1 < n; ++step) {
    const Tensor in = step + 2 == n ? output : spare[step % 2];
    wire.exchange(out, around(r + 1, n), in, around(r - 1, n));
    combine(op, in, chunk(r - step - 2), wire.context());
    out = in;
  }
}

void ring_all_gather(Wire& wire, const Tensor& input, const Tensor& output) {
  copy(slice(output, part(output.count(), wire.size(), wire.rank())), input, wire);
  gather_chunks(wire, output);
}

}  // namespace warpline::parallel
