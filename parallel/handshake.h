// What ranks make sure of before the first step, since nothing would tell them later: a rank with another
// plan or other parameters computes on, and wrongly. All collective; ValueError names the first difference.
#pragma once

#include <vector>

#include "engine/nn/module.h"
#include "parallel/communicator.h"
#include "parallel/plan.h"

namespace warpline::parallel {

// The ranks of a pipeline run one plan (V9).
void require_same_plan(Context& context, Communicator& pipeline, const Plan& plan);
// Replicas of a stage start with the same bits.
void require_same_parameters(Context& context, Communicator& replicas,
                             const std::vector<Parameter*>& parameters);

}  // namespace warpline::parallel
