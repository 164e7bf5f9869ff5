// A schedule is data. A Plan lists, for each rank, what it computes and what it sends, in order. It is
// validated, simulated, drawn and executed; it knows no device. Letters as everywhere: i micro-batch, j
// stage, m micro-batches, n pipeline ranks, v chunks a rank (stages = n v).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace warpline::parallel {

enum class Op : std::uint8_t {
  Forward,
  BackwardInput,
  BackwardWeight,
  Backward,
  Send,
  Recv,
  ReduceGrads,
  Step
};
enum class Payload : std::uint8_t { Activation, Gradient };

// Plain data; fields that an op does not use stay at -1.
struct Action {
  Op op = Op::Forward;
  Payload payload = Payload::Activation;  // Send, Recv
  int stage = -1;                         // of this rank
  int micro = -1;                         // index within the replica's micro-batches, from 0
  int peer_rank = -1;                     // Send, Recv: pipeline rank
  int peer_stage = -1;                    // Send, Recv
  int ticket = -1;                        // Send, Recv: position in the one global order of messages
  int bucket = -1;                        // ReduceGrads
  auto operator<=>(const Action&) const = default;
};

struct Plan {
  int stages = 0, ranks = 0, micro_batches = 0, chunks = 1;
  std::vector<int> stage_to_rank;
  std::vector<std::vector<Action>> per_rank;
  bool operator==(const Plan&) const = default;
  bool has_backward() const;  // false: inference
};

}  // namespace warpline::parallel
