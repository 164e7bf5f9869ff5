// 1F1B (PipeDream-Flush, Narayanan et al., arXiv 2006.09503; Megatron-LM, arXiv 2104.04473): after a warm-up
// each rank alternates one forward and one backward. GPipe's idle time on balanced stages, but rank r holds
// at most min(m, n - r) micro-batches instead of m.
//
//   rank 0  F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3
//   rank 1  .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .
//   rank 2  .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .
#include <algorithm>

#include "parallel/schedules/rows.h"

namespace warpline::parallel {
namespace {

// Warm-up min(m, n-1-r): as many forwards as there are stages behind this one, so the first gradient arrives
// just as they are done; with m < n the steady part is empty on the first ranks.
std::vector<Action> order(const PipelineShape& shape, int rank) {
  const int m = shape.micro_batches;
  const int warm_up = std::min(m, shape.ranks - 1 - rank);
  std::vector<Action> actions;
  for (int i = 0; i < warm_up; ++i) actions.push_back(compute(Op::Forward, rank, i));
  for (int i = warm_up; i < m; ++i) {
    actions.push_back(compute(Op::Forward, rank, i));
    actions.push_back(compute(Op::Backward, rank, i - warm_up));
  }
  for (int i = m - warm_up; i < m; ++i) actions.push_back(compute(Op::Backward, rank, i));
  return actions;
}

}  // namespace

Schedule one_f_one_b_row() {
  return {.name = "1f1b",
          .what = "one forward, one backward in turn: fewer live micro-batches (arXiv 2006.09503)",
          .refusal = one_chunk_only,
          .compute_order = order,
          .live_bound = [](const PipelineShape& shape, int rank) {
            return std::min(shape.micro_batches, shape.ranks - rank);
          }};
}

}  // namespace warpline::parallel
