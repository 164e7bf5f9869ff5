// Whether a lowered plan can be run. Each rule is a named check, and what breaks it is listed with its rule,
// rank, position and token.
//
//   form  sizes agree, indices are in range, every action is on the rank that holds its stage
//   V1    every (stage, micro-batch) has exactly one F and exactly one of {B} or {I and W}
//   V2    order on a rank: F before I or B, I before W, a stage after its neighbour where both are on this
//         rank; R after the stage's last B or W and its last Send; S after everything
//   V3    every tensor that crosses ranks has exactly one Send and one Recv with the same ticket, on the
//         ranks that they name; no message within a rank; no ticket twice
//   V4    a Send after the action that makes its tensor, a Recv before the action that needs it
//   V5    between two ranks, in one direction, the k-th Send matches the k-th Recv (NCCL has no tags)
//   V7    tickets strictly increase along each rank's list
//   V10   every gradient bucket is reduced exactly once, in order, and each rank steps exactly once
//
// V6, no deadlock: V2, V3, V4 and V7 imply it for every channel model, rendezvous on one queue included. Take
// any path of "must happen before" edges: along it tickets only grow, so it never comes back to its start.
// The checks take time proportional to the number of actions. Plans without tickets are refused (V7), not
// searched for cycles.
// V8, how many micro-batches live at once, is no property of a single plan: Schedule::live_bound states it
// for each schedule, and the tests hold what simulate() measures to it. V9, agreement between ranks:
// parallel/agreement.h. The other half of V10, that the sum of gradients does not depend on the order of the
// list, is kept by the gradient tree, which adds by micro-batch index.
#pragma once

#include <string>
#include <vector>

#include "parallel/plan.h"

namespace warpline::parallel {

struct Violation {
  std::string rule;     // "V3"
  std::string message;  // "1<0a2#7 (rank 1 position 4) has no Send"
};

struct Report {
  std::vector<Violation> violations;
  bool ok() const { return violations.empty(); }
  bool breaks(const std::string& rule) const;
  std::string to_string() const;  // a line each, at most a few; or why the plan cannot deadlock
};

Report validate(const Plan& plan);
// The rules that bind a plan without messages: form, V1 and V2. For what schedule authors write.
Report validate_compute(const Plan& plan);
void require_valid(const Report& report);  // ValueError with the report

}  // namespace warpline::parallel
