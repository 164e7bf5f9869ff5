// A stream of micro-batches through the stages, forward only: after n - 1 slots of filling, all ranks work.
//
//   rank 0  F0 F1 F2 F3 .  .
//   rank 1  .  F0 F1 F2 F3 .
//   rank 2  .  .  F0 F1 F2 F3
#include "parallel/schedules/rows.h"

namespace warpline::parallel {
namespace {

std::vector<Action> order(const PipelineShape& shape, int rank) {
  std::vector<Action> actions;
  for (int i = 0; i < shape.micro_batches; ++i) actions.push_back(compute(Op::Forward, rank, i));
  return actions;
}

}  // namespace

Schedule inference_row() {
  return {.name = "inference",
          .what = "forward only: micro-batches stream through the stages",
          .has_backward = false,
          .refusal = one_chunk_only,
          .compute_order = order,
          .live_bound = [](const PipelineShape&, int) { return 1; }};
}

}  // namespace warpline::parallel
