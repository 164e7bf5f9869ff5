// An error that an action met, with where it was: token, position in the rank's list, rank, and the actions
// around it. The type stays, so that bad input remains bad input.
#pragma once

#include <exception>
#include <vector>

#include "parallel/plan.h"

namespace warpline::parallel {

// "[executor] rank 1, action 7, 1F2 (after 1F1 1>2a1#4 1<0a2#5, before 1>2a2#8 ...): <message>". PeerError is
// another rank's error and goes on as it is.
[[noreturn]] void rethrow_in_action(const std::exception_ptr& error, int rank,
                                    const std::vector<Action>& list, std::size_t position);

}  // namespace warpline::parallel
