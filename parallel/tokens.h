// An action as a word, the same in files, errors, drawings and traces:
//   2F0 2I0 2W0 2B0   stage 2, micro-batch 0: forward, input gradient, weight gradient, whole backward
//   2>3a0#12          stage 2 sends stage 3 the activation of micro-batch 0, ticket 12
//   2<3g0#17          stage 2 receives from stage 3 the gradient of micro-batch 0, ticket 17
//   2R1               stage 2 reduces its gradient bucket 1
//   S                 optimiser step
// A message without a ticket has no `#`. The peer's rank is not written: it follows from the stage map.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/plan.h"

namespace warpline::parallel {

std::string to_token(const Action& action);
// The whole text must be one token, numbers plain (no sign, no leading zero); ValueError otherwise. The map
// gives the peer's rank; stages outside it are refused.
Action parse_token(std::string_view text, const std::vector<int>& stage_to_rank);

}  // namespace warpline::parallel
