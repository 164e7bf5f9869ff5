// Who waits for whom in which call: what a rank says when a wait ran past its deadline. It is made from the
// states of all ranks, so it says who has not arrived, and no two ranks blame each other:
//
//   rank 0 waits for rank 1 to send in #4 recv 5 x float32 from rank 1 (last completed: #3 barrier)
//   rank 1 makes no call (last completed: #3 barrier)
//   lagging: rank 1
//   waiting: 0; making no call: 1; ended: none
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/members.h"

namespace warpline::parallel {

// For a message that has not met its other end.
struct Wait {
  int peer = 0;  // rank of the communicator
  bool sends = false;
  Signature call;
};

// Of a rank on one communicator.
struct RankState {
  std::optional<Signature> current;  // the call at the head of its FIFO
  std::vector<Wait> waits;           // that keep it
  std::optional<Signature> last;     // completed
  bool left = false;                 // makes no more calls
  bool cancelled = false;            // an exception unwinds its stack
};

struct CommunicatorState {
  Members members;
  std::vector<RankState> ranks;
};

// Of all communicators of a run; the first is the world's. Several lines, the last without its end.
std::string wait_report(std::span<const CommunicatorState> communicators);

// The text of the TimeoutError of a rank that waited for `awaited`.
std::string waited_too_long(const Members& members, int rank, const Signature& awaited, double seconds,
                            std::span<const CommunicatorState> communicators);

// The text of the PeerError of a rank whose peer has left, having completed `last`.
std::string waits_for_one_that_has_ended(const Members& members, int rank, const Signature& call, int peer,
                                         const std::optional<Signature>& last);

}  // namespace warpline::parallel
