#include "parallel/costs.h"

#include "kernels/error.h"

namespace warpline::parallel {
namespace {

constexpr double kMost = 1e12;  // far from where sums of costs lose whole units

}  // namespace

Costs Costs::uniform(int stages, double forward, double backward_input, double backward_weight,
                     double latency) {
  const auto count = static_cast<std::size_t>(stages);
  return {.forward = std::vector<double>(count, forward),
          .backward_input = std::vector<double>(count, backward_input),
          .backward_weight = std::vector<double>(count, backward_weight),
          .latency = latency};
}

double Costs::of(const Action& action) const {
  const auto stage = static_cast<std::size_t>(action.stage);
  switch (action.op) {
    case Op::Forward:
      return forward[stage];
    case Op::BackwardInput:
      return backward_input[stage];
    case Op::BackwardWeight:
      return backward_weight[stage];
    case Op::Backward:
      return backward_input[stage] + backward_weight[stage];
    case Op::Send:
    case Op::Recv:
    case Op::ReduceGrads:
    case Op::Step:
      return 0;
  }
  return 0;
}

void check_costs(const Costs& costs, int stages) {
  const auto count = static_cast<std::size_t>(stages);
  if (costs.forward.size() != count || costs.backward_input.size() != count ||
      costs.backward_weight.size() != count) {
    fail<ValueError>("costs", "costs of {} stages for a plan of {}", costs.forward.size(), stages);
  }
  const auto check = [](const char* what, std::size_t stage, double value) {
    if (value >= 0 && value <= kMost) return;  // false for NaN
    fail<ValueError>("costs", "{} of stage {} is {}; costs are from 0 to {:g}", what, stage, value, kMost);
  };
  for (std::size_t j = 0; j < count; ++j) {
    check("forward", j, costs.forward[j]);
    check("input gradient", j, costs.backward_input[j]);
    check("weight gradient", j, costs.backward_weight[j]);
    if (costs.forward[j] + costs.backward_input[j] + costs.backward_weight[j] <= 0) {
      fail<ValueError>("costs", "stage {} takes no time; give it a cost above 0", j);
    }
  }
  if (!(costs.latency >= 0 && costs.latency <= kMost)) {
    fail<ValueError>("costs", "the latency is {}; it is from 0 to {:g}", costs.latency, kMost);
  }
}

}  // namespace warpline::parallel
