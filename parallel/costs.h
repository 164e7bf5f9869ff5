// What a simulated action takes, in any unit of time. A rank's whole backward is the sum of its two halves.
#pragma once

#include <vector>

#include "parallel/plan.h"

namespace warpline::parallel {

struct Costs {
  std::vector<double> forward, backward_input, backward_weight;  // per stage, of one micro-batch
  double latency = 0;                                            // of one message, on its way

  // Every stage alike. The default is the textbook's: backward takes twice as long as forward.
  static Costs uniform(int stages, double forward = 1, double backward_input = 1, double backward_weight = 1,
                       double latency = 0);
  double of(const Action& action) const;  // messages, reductions and steps: 0
};

// ValueError: another number of stages, a cost that is negative, above 1e12 or not a number, or a stage
// that takes no time at all.
void check_costs(const Costs& costs, int stages);

}  // namespace warpline::parallel
