// What one rank did, in numbers that rank 0 can collect: the `ranks` of a run's JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpline::parallel {

struct RankReport {
  int rank = 0;     // of the whole run
  int replica = 0;  // data-parallel index
  int stage = 0;    // pipeline rank within the replica; with chunks it holds several stages of the plan
  std::string device;
  std::vector<std::string> layers;   // names of the model's layers that this rank holds
  std::int64_t parameter_count = 0;  // elements
  // Payload of training steps only, collectives included; of infer() where nothing was trained.
  std::int64_t bytes_sent = 0, bytes_received = 0, messages_sent = 0;
  double compute_seconds = 0;              // in forward, backward and optimiser steps
  double wait_seconds = 0;                 // for messages and reductions
  std::int64_t peak_activation_bytes = 0;  // most bytes live within a step beyond those live at its start
  std::vector<std::string> actions;        // tokens of the last step, in the order in which they were run
  bool operator==(const RankReport&) const = default;
};

// The best speed-up that this cut allows: for each replica all its compute over the largest share of a rank,
// summed over the replicas.
double speedup_bound(const std::vector<RankReport>& reports);

}  // namespace warpline::parallel
