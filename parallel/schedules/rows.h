// The rows of the schedule table and what their functions share. One file a schedule.
#pragma once

#include <string>

#include "parallel/schedule.h"

namespace warpline::parallel {

Schedule naive_row();
Schedule gpipe_row();
Schedule one_f_one_b_row();
Schedule inference_row();

inline Action compute(Op op, int stage, int micro) {
  return Action{.op = op, .stage = stage, .micro = micro};
}
// The refusal of schedules that place one stage a rank.
std::string one_chunk_only(const PipelineShape& shape);

}  // namespace warpline::parallel
