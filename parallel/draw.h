// A simulated plan as a picture in letters, and as a table for other programs.
#pragma once

#include <string>

#include "parallel/plan.h"
#include "parallel/simulate.h"

namespace warpline::parallel {

struct DrawOptions {
  int columns = 100;  // no line is longer
  bool colour =
      false;  // ANSI colours: forward blue, backward and input gradient green, weight gradient yellow
};

// One line a rank, time from left to right, a dot where the rank waits:
//
//   rank 0 | F0 F1 .. .. B1--- B0--- |
//   rank 1 | .. F0 F1 B1--- B0--- .. |
//
// An action is as wide as it is long; long pictures wrap into panels, and very long ones shrink until only
// the letter of what runs most in each column is left. With several chunks a rank the stage stands in front.
std::string draw(const Plan& plan, const Timeline& timeline, const DrawOptions& options = {});

// "rank,position,action,start,end": every action of every rank in list order.
std::string timeline_csv(const Plan& plan, const Timeline& timeline);

}  // namespace warpline::parallel
