#include "parallel/plan.h"

#include <algorithm>

#include "kernels/error.h"
#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

bool within(int value, int count) { return value >= 0 && value < count; }

std::string sizes_problem(const Plan& plan) {
  if (plan.ranks < 1 || plan.chunks < 1 || plan.micro_batches < 1) {
    return fmt::format("ranks {}, chunks {} and micro-batches {} must be at least 1", plan.ranks, plan.chunks,
                       plan.micro_batches);
  }
  if (plan.stages != static_cast<long long>(plan.ranks) * plan.chunks) {
    return fmt::format("{} stages are not {} ranks x {} chunks", plan.stages, plan.ranks, plan.chunks);
  }
  const auto stages = static_cast<std::size_t>(plan.stages);
  if (plan.stage_to_rank.size() != stages || plan.buckets.size() != stages) {
    return fmt::format("{} stages, but the stage map has {} entries and the bucket list {}", plan.stages,
                       plan.stage_to_rank.size(), plan.buckets.size());
  }
  if (plan.per_rank.size() != static_cast<std::size_t>(plan.ranks)) {
    return fmt::format("{} ranks, but {} lists of actions", plan.ranks, plan.per_rank.size());
  }
  std::vector<int> held(plan.per_rank.size(), 0);
  for (std::size_t j = 0; j < stages; ++j) {
    if (!within(plan.stage_to_rank[j], plan.ranks)) {
      return fmt::format("stage {} is on rank {}; ranks are 0 to {}", j, plan.stage_to_rank[j],
                         plan.ranks - 1);
    }
    ++held[static_cast<std::size_t>(plan.stage_to_rank[j])];
    if (plan.buckets[j] < 0) return fmt::format("stage {} has {} gradient buckets", j, plan.buckets[j]);
  }
  for (std::size_t r = 0; r < held.size(); ++r) {
    if (held[r] != plan.chunks) {
      return fmt::format("rank {} holds {} stages; every rank holds {}", r, held[r], plan.chunks);
    }
  }
  return "";
}

}  // namespace

bool Plan::has_backward() const {
  return std::any_of(per_rank.begin(), per_rank.end(), [](const std::vector<Action>& actions) {
    return std::any_of(actions.begin(), actions.end(), [](const Action& action) {
      return makes_gradient(action.op) || ends_backward(action.op);
    });
  });
}

std::string action_problem(const Plan& plan, const Action& action, int rank) {
  if (action.op > Op::Step || action.payload > Payload::Gradient) return "an unknown operation or payload";
  Action used;  // only the fields that this op uses
  used.op = action.op;
  if (action.op != Op::Step) {
    if (!within(action.stage, plan.stages)) return fmt::format("stages are 0 to {}", plan.stages - 1);
    const int holder = plan.stage_to_rank[static_cast<std::size_t>(action.stage)];
    if (holder != rank) return fmt::format("stage {} is on rank {}", action.stage, holder);
    used.stage = action.stage;
  }
  if (is_compute(action.op) || is_message(action.op)) {
    if (!within(action.micro, plan.micro_batches)) {
      return fmt::format("micro-batches are 0 to {}", plan.micro_batches - 1);
    }
    used.micro = action.micro;
  }
  if (is_message(action.op)) {
    if (!within(action.peer_stage, plan.stages)) return fmt::format("stages are 0 to {}", plan.stages - 1);
    if (!within(action.peer_rank, plan.ranks)) {
      return fmt::format("its peer is rank {}; ranks are 0 to {}", action.peer_rank, plan.ranks - 1);
    }
    if (action.ticket < -1) return "a negative ticket";
    used.payload = action.payload;
    used.peer_rank = action.peer_rank;
    used.peer_stage = action.peer_stage;
    used.ticket = action.ticket;
  }
  if (action.op == Op::ReduceGrads) {
    const int buckets = plan.buckets[static_cast<std::size_t>(action.stage)];
    if (!within(action.bucket, buckets)) return fmt::format("stage {} has {} buckets", action.stage, buckets);
    used.bucket = action.bucket;
  }
  return used == action ? "" : "a field is set that this operation does not use";
}

std::string form_problem(const Plan& plan) {
  std::string problem = sizes_problem(plan);
  if (!problem.empty()) return problem;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const std::vector<Action>& actions = plan.per_rank[static_cast<std::size_t>(rank)];
    for (std::size_t position = 0; position < actions.size(); ++position) {
      problem = action_problem(plan, actions[position], rank);
      if (problem.empty()) continue;
      return fmt::format("rank {} position {}: {}: {}", rank, position, to_token(actions[position]), problem);
    }
  }
  return "";
}

void require_form(const Plan& plan, const char* tag) {
  const std::string problem = form_problem(plan);
  if (!problem.empty()) fail<ValueError>(tag, "not a plan: {}", problem);
}

}  // namespace warpline::parallel
