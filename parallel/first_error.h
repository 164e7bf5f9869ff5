// The error that ended a run. The first one wins: later ones are its consequences.
#pragma once

#include <vector>

#include "parallel/caught_error.h"

namespace warpline::parallel {

struct FirstError {
  CaughtError error;
  int rank = 0;          // of the run; where it came up
  std::vector<int> own;  // the ranks whose error it is

  // The error itself on its own ranks, a PeerError that names them on all others.
  [[noreturn]] void rethrow_on(int world_rank) const;
};

}  // namespace warpline::parallel
