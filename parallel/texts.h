// Small facts that ranks tell each other outside of steps, as strings: reports, hashes, losses. All
// collective.
#pragma once

#include <string>
#include <vector>

#include "parallel/communicator.h"

namespace warpline::parallel {

// The root's text, on every rank.
std::string broadcast_text(Context& context, Communicator& communicator, const std::string& text,
                           int root = 0);
// Every rank's text on the root, by rank; empty elsewhere.
std::vector<std::string> gather_texts(Context& context, Communicator& communicator, const std::string& text,
                                      int root = 0);
// ValueError on every rank that differs from rank 0, naming the first line that does; the others are stopped
// by it at their next call. `what` leads the message: "rank 2 and rank 0 disagree about the model".
void require_same_text(Context& context, Communicator& communicator, const std::string& what,
                       const std::string& text);

}  // namespace warpline::parallel
