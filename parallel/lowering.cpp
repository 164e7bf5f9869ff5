#include "parallel/lowering.h"

#include <map>
#include <utility>

#include "kernels/error.h"
#include "parallel/simulate.h"
#include "parallel/validate.h"

namespace warpline::parallel {
namespace {

// Both ends of every message, per rank, in ticket order.
std::vector<std::vector<Action>> number_messages(const Plan& plan, const std::vector<Transfer>& messages) {
  std::vector<std::vector<Action>> per_rank(static_cast<std::size_t>(plan.ranks));
  int ticket = 0;
  for (const Transfer& message : messages) {
    const int from = plan.stage_to_rank[static_cast<std::size_t>(message.stage)];
    const int to = plan.stage_to_rank[static_cast<std::size_t>(message.peer_stage)];
    Action send{.op = Op::Send,
                .payload = message.payload,
                .stage = message.stage,
                .micro = message.micro,
                .peer_rank = to,
                .peer_stage = message.peer_stage,
                .ticket = ticket++};
    Action recv = send;
    recv.op = Op::Recv;
    std::swap(recv.stage, recv.peer_stage);
    recv.peer_rank = from;
    per_rank[static_cast<std::size_t>(from)].push_back(send);
    per_rank[static_cast<std::size_t>(to)].push_back(recv);
  }
  return per_rank;
}

// Puts one rank's messages, in ticket order, each at the earliest allowed place: after the message before it,
// a Send after its maker, a Recv where fewer than `window` earlier ones from that peer are unconsumed.
// Earlier than in the simulated run is safe: the actions that a message overtakes send nothing before its
// ticket, so nobody can wait for them there.
std::vector<Action> merge(const std::vector<Action>& compute, const std::vector<Action>& messages,
                          int window) {
  std::map<std::pair<int, int>, std::size_t> forwards, gradients;  // (stage, micro) to position
  for (std::size_t p = 0; p < compute.size(); ++p) {
    const std::pair key(compute[p].stage, compute[p].micro);
    if (compute[p].op == Op::Forward) forwards[key] = p;
    if (makes_gradient(compute[p].op)) gradients[key] = p;
  }
  // The action that makes a Send's tensor or needs a Recv's.
  const auto partner = [&](const Action& message) {
    const bool activation = message.payload == Payload::Activation;
    return (activation ? forwards : gradients).at({message.stage, message.micro});
  };
  std::vector<int> consumes_from(compute.size(), -1);  // peer rank
  for (const Action& message : messages) {
    if (message.op == Op::Recv) consumes_from[partner(message)] = message.peer_rank;
  }
  std::vector<Action> merged;
  std::map<int, int> posted;  // by peer rank
  std::size_t next = 0;
  const auto advance = [&] {
    if (consumes_from[next] >= 0) --posted[consumes_from[next]];
    merged.push_back(compute[next++]);
  };
  for (const Action& message : messages) {
    if (message.op == Op::Send) {
      while (next <= partner(message)) advance();
    } else {
      while (posted[message.peer_rank] >= window) advance();
      ++posted[message.peer_rank];
    }
    merged.push_back(message);
  }
  while (next < compute.size()) advance();
  return merged;
}

// One ReduceGrads for each bucket after the stage's last B or W and its last Send, so that pipeline and data
// communicators are used in one order; Step last.
std::vector<Action> add_reductions(const std::vector<Action>& actions, const std::vector<int>& buckets) {
  std::map<int, std::size_t> last;  // stage to position
  for (std::size_t p = 0; p < actions.size(); ++p) {
    if (ends_backward(actions[p].op) || actions[p].op == Op::Send) last[actions[p].stage] = p;
  }
  std::vector<Action> reduced;
  for (std::size_t p = 0; p < actions.size(); ++p) {
    const int stage = actions[p].stage;
    reduced.push_back(actions[p]);
    const auto found = last.find(stage);
    if (found == last.end() || found->second != p) continue;
    for (int bucket = 0; bucket < buckets[static_cast<std::size_t>(stage)]; ++bucket) {
      reduced.push_back({.op = Op::ReduceGrads, .stage = stage, .bucket = bucket});
    }
  }
  reduced.push_back({.op = Op::Step});
  return reduced;
}

void check(const Plan& plan, const LoweringOptions& options) {
  require_valid(validate_compute(plan));
  for (const std::vector<Action>& actions : plan.per_rank) {
    for (const Action& action : actions) {
      if (!is_compute(action.op))
        fail<ValueError>("lower", "the plan is lowered already; start from compute only");
    }
  }
  if (options.window < 1)
    fail<ValueError>("lower", "the window is {}; it must be at least 1", options.window);
  if (!options.buckets.empty() && options.buckets.size() != plan.buckets.size()) {
    fail<ValueError>("lower", "buckets of {} stages for a plan of {}", options.buckets.size(), plan.stages);
  }
}

}  // namespace

Plan lower(const Plan& compute_only, const LoweringOptions& options) {
  check(compute_only, options);
  const Costs costs = options.costs.forward.empty() ? Costs::uniform(compute_only.stages) : options.costs;
  const Network network{.kind = Network::Kind::Ideal, .window = options.window};
  const std::vector<std::vector<Action>> messages =
      number_messages(compute_only, simulate(compute_only, costs, network).messages);
  const bool backward = compute_only.has_backward();
  Plan plan = compute_only;
  if (backward && !options.buckets.empty()) plan.buckets = options.buckets;
  for (std::size_t r = 0; r < plan.per_rank.size(); ++r) {
    plan.per_rank[r] = merge(compute_only.per_rank[r], messages[r], options.window);
    if (backward) plan.per_rank[r] = add_reductions(plan.per_rank[r], plan.buckets);
  }
  return plan;
}

}  // namespace warpline::parallel
