// V9: all ranks of a pipeline run one plan. Ranks exchange the hash at start; where hashes differ, the plans
// are exchanged as well and the first difference is the error.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/plan.h"

namespace warpline::parallel {

// Over every field of every action. Equal plans have equal hashes, on every machine.
std::uint64_t plan_hash(const Plan& plan);

// "rank 1 position 4: 1F2 in the first plan, 1B0 in the second"; empty: the plans are equal.
std::string first_difference(const Plan& first, const Plan& second);

}  // namespace warpline::parallel
