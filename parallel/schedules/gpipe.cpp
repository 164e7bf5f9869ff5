// GPipe (Huang et al., arXiv 1811.06965): all micro-batches forward, then all backward, then one synchronous
// update. Every rank idles for (n-1)(F+B); every stage holds all m micro-batches at the turn.
//
//   rank 0  F0 F1 F2 .  .  .  .  B2 B1 B0
//   rank 1  .  F0 F1 F2 .  .  B2 B1 B0 .
//   rank 2  .  .  F0 F1 F2 B2 B1 B0 .  .
#include "parallel/schedules/rows.h"

namespace warpline::parallel {
namespace {

// Backward runs from the last micro-batch to the first (the paper's figure 2c), so that the last stage turns
// round on what it has just made.
std::vector<Action> order(const PipelineShape& shape, int rank) {
  std::vector<Action> actions;
  for (int i = 0; i < shape.micro_batches; ++i) actions.push_back(compute(Op::Forward, rank, i));
  for (int i = shape.micro_batches - 1; i >= 0; --i) actions.push_back(compute(Op::Backward, rank, i));
  return actions;
}

}  // namespace

Schedule gpipe_row() {
  return {.name = "gpipe",
          .what = "all micro-batches forward, then all backward (arXiv 1811.06965)",
          .refusal = one_chunk_only,
          .compute_order = order,
          .live_bound = [](const PipelineShape& shape, int) { return shape.micro_batches; }};
}

}  // namespace warpline::parallel
