// A schedule is data. A Plan lists, for each rank, what it computes and what it sends, in order. It is
// validated, simulated, drawn and executed; it knows no device. Letters as everywhere: i micro-batch, j
// stage, m micro-batches, n pipeline ranks, v chunks a rank (stages = n v).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
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
  int stage = -1;                         // of this rank; Step has none
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
  std::vector<int> buckets;  // a stage's gradient buckets, each reduced once; 0: nothing to reduce
  std::vector<std::vector<Action>> per_rank = {};
  bool operator==(const Plan&) const = default;
  bool has_backward() const;  // false: inference
};

constexpr bool is_compute(Op op) { return op <= Op::Backward; }
constexpr bool is_message(Op op) { return op == Op::Send || op == Op::Recv; }
// Hands a gradient to the stage before: whole backward, or its first half.
constexpr bool makes_gradient(Op op) { return op == Op::Backward || op == Op::BackwardInput; }
// The last use of what a micro-batch keeps alive on a stage.
constexpr bool ends_backward(Op op) { return op == Op::Backward || op == Op::BackwardWeight; }

// What keeps a plan from being read at all (sizes that disagree, an index out of range, a stage on a rank
// that does not hold it, a field set that the op does not use); empty: nothing. Every function that takes a
// Plan may index by its fields once this is empty.
std::string form_problem(const Plan& plan);
// The same for one action in the list of `rank`, where the sizes of the plan are known to be sound.
std::string action_problem(const Plan& plan, const Action& action, int rank);
void require_form(const Plan& plan, const char* tag);  // ValueError

}  // namespace warpline::parallel
