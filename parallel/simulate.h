// Runs a plan on paper: when each action starts and ends under given costs, how long everybody waits, how
// many micro-batches are alive. Discrete events, no clock, no devices: the same input, the same answer.
#pragma once

#include <string>
#include <vector>

#include "parallel/costs.h"
#include "parallel/plan.h"

namespace warpline::parallel {

struct Network {
  enum class Kind {
    Ideal,     // messages follow from the compute order (Send and Recv are ignored) and never wait for others
    OneQueue,  // as NCCL on one stream: a rank's Sends and Recvs run one at a time, in list order, and a
               // message moves when both ends have come to it
  };
  Kind kind = Kind::OneQueue;
  // Ideal only: a message leaves when fewer than this many earlier ones of its ordered pair of ranks are on
  // their way or not yet consumed. 0: no limit.
  int window = 0;
};

struct Span {
  double start = 0, end = 0;
};

// A message under way. (Message is what a communicator moves.)
struct Transfer {
  Payload payload = Payload::Activation;
  int stage = 0, peer_stage = 0, micro = 0;  // from, to
  double start = 0, end = 0;                 // leaves, arrives
};

struct Timeline {
  std::vector<std::vector<Span>> per_rank;  // as Plan::per_rank; OneQueue: Send and Recv while it moves
  std::vector<Transfer> messages;           // in the order in which they leave
  double makespan = 0;                      // end of the last compute action; the first starts at 0
  // Four different numbers are called "bubble" (docs/pipeline.md). Idle share: 1 - busy / (ranks x makespan).
  double idle_share = 0;
  std::vector<double> span_idle;  // of a rank, between its own first start and last end
  std::vector<int> peak_live;     // most (stage, micro-batch) pairs of a rank held between F and B (or W)
};

// ValueError where the costs do not fit the plan, and where the plan stops before its end: the message says
// which action every waiting rank stands at.
Timeline simulate(const Plan& plan, const Costs& costs, Network network = {});

}  // namespace warpline::parallel
