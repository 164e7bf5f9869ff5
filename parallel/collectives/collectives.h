// Collectives of our own, written once over send and receive, for every back end. Each file has its cost
// beside it, in these letters: S bytes, N ranks, a seconds a message (latency), b seconds a byte on the wire,
// g seconds a byte to reduce. Sources: Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", 2005; Hensgen, Finkel and Manber, "Two algorithms for barrier
// synchronization", 1988.
//
// The order of additions depends on ranks and sizes only, and a sum is made by one rank and copied to the
// others: every rank gets the same bits, every time.
#pragma once

#include "parallel/collectives/algorithm.h"
#include "parallel/wire.h"

namespace warpline::parallel {

// In place.
void all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op, AllReduceAlgorithm algorithm);
void ring_all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op);
void halving_doubling_all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op);  // N a power of two
void tree_all_reduce(Wire& wire, const Tensor& tensor, ReduceOp op);

// output = this rank's N-th of the reduced input, which stays as it is.
void ring_reduce_scatter(Wire& wire, const Tensor& input, const Tensor& output, ReduceOp op);
// output = the inputs of all ranks, by rank.
void ring_all_gather(Wire& wire, const Tensor& input, const Tensor& output);
void tree_broadcast(Wire& wire, const Tensor& tensor, int root);
void dissemination_barrier(Wire& wire);

}  // namespace warpline::parallel
