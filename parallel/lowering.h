// From what ranks compute to what they do: adds messages, gradient reductions and the optimiser step to a
// compute-only plan. Messages get tickets, one global order, by the simulated time at which they are ready;
// every rank posts its Sends and Recvs in ticket order. That order is fast, and it is the proof that nothing
// deadlocks on any back end (parallel/validate.h, V6).
#pragma once

#include <vector>

#include "parallel/costs.h"
#include "parallel/plan.h"

namespace warpline::parallel {

struct LoweringOptions {
  Costs costs = {};  // that decide ties between messages; empty: Costs::uniform. All ranks must use the same
  // Messages of one ordered pair of ranks that may be posted and not yet consumed. Without a window uneven
  // stages would order many Recvs before a rank's first Send (stage times 1 and 15: fifteen).
  int window = 2;
  std::vector<int> buckets = {};  // gradient buckets of each stage to reduce; empty: none
};

// ValueError where the plan is not compute-only, breaks V1 or V2, or cannot run to its end in this window.
// Deterministic: the same input gives the same plan on every rank.
Plan lower(const Plan& compute_only, const LoweringOptions& options = {});

}  // namespace warpline::parallel
