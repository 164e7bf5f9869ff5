// A plan as a file that people can read, edit and compare. One header line, then a line for each rank, its
// number first, one action in each cell:
//
//   warpline-plan,1,ranks=2,chunks=1,micro_batches=2,stage_to_rank=0 1,buckets=0 0
//   0,0F0,0>1a0#0,0F1,0>1a1#1,0<1g1#2,0B1,0<1g0#3,0B0,S
//   1,1<0a0#0,1F0,1<0a1#1,1F1,1B1,1>0g1#2,1B0,1>0g0#3,S
//
// The number after the name is the version of the format. Reading is strict: whatever is not exactly of this
// form is refused with its line and column, and what is read is written back letter for letter. Reading does
// not validate the plan.
#pragma once

#include <string>
#include <string_view>

#include "parallel/plan.h"

namespace warpline::parallel {

// ValueError for a plan of bad form, and for a message whose peer rank is not the one that holds its stage.
std::string to_csv(const Plan& plan);
Plan plan_from_csv(std::string_view text);  // ValueError "line 2, column 7: ..."

}  // namespace warpline::parallel
