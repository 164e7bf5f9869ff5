// Layer-wise model parallelism: one micro-batch in flight. It runs forward through all stages and backward
// again before the next one starts, so one rank works while n - 1 wait.
//
//   rank 0  F0 .  .  .  .  B0 F1 .  .  .  .  B1
//   rank 1  .  F0 .  .  B0 .  .  F1 .  .  B1 .
//   rank 2  .  .  F0 B0 .  .  .  .  F1 B1 .  .
#include "parallel/schedules/rows.h"

namespace warpline::parallel {
namespace {

// Rank 0 starts F(i+1) after B(i), which ends the round trip of i: the order alone keeps one in flight.
std::vector<Action> order(const PipelineShape& shape, int rank) {
  std::vector<Action> actions;
  for (int i = 0; i < shape.micro_batches; ++i) {
    actions.push_back(compute(Op::Forward, rank, i));
    actions.push_back(compute(Op::Backward, rank, i));
  }
  return actions;
}

}  // namespace

Schedule naive_row() {
  return {.name = "naive",
          .what = "layer-wise model parallelism: one micro-batch in flight",
          .refusal = one_chunk_only,
          .compute_order = order,
          .live_bound = [](const PipelineShape&, int) { return 1; }};
}

}  // namespace warpline::parallel
