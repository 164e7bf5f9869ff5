#include "tests/support/plans.h"

#include <set>
#include <tuple>
#include <vector>

#include <fmt/core.h>

#include "parallel/tokens.h"

namespace warpline::test {

using parallel::Action;
using parallel::Op;
using parallel::Payload;
using parallel::PipelineShape;
using parallel::Plan;
using parallel::Schedule;

int sweep_plans(const std::function<void(const Schedule&, const PipelineShape&, const Plan&)>& visit) {
  int plans = 0;
  for (const Schedule& schedule : parallel::schedules()) {
    for (int n = 1; n <= 8; ++n) {
      for (int m = 1; m <= 16; ++m) {
        const PipelineShape shape{.ranks = n, .micro_batches = m};
        if (!schedule.refusal(shape).empty()) continue;
        visit(schedule, shape, compute_plan(schedule, shape));
        ++plans;
      }
    }
  }
  return plans;
}

Plan place_naively(const Plan& compute_only) {
  Plan plan = compute_only;
  const auto rank_of = [&](int stage) { return plan.stage_to_rank[static_cast<std::size_t>(stage)]; };
  const auto message = [&](Op op, Payload payload, const Action& action, int peer) {
    return Action{.op = op,
                  .payload = payload,
                  .stage = action.stage,
                  .micro = action.micro,
                  .peer_rank = rank_of(peer),
                  .peer_stage = peer};
  };
  for (std::size_t r = 0; r < plan.per_rank.size(); ++r) {
    const auto remote = [&](int stage) {
      return stage >= 0 && stage < plan.stages && rank_of(stage) != static_cast<int>(r);
    };
    std::vector<Action> actions;
    for (const Action& action : compute_only.per_rank[r]) {
      const bool forward = action.op == Op::Forward;
      const bool moves = forward || makes_gradient(action.op);  // a weight gradient stays where it is
      const int from = action.stage + (forward ? -1 : 1), to = action.stage + (forward ? 1 : -1);
      const Payload payload = forward ? Payload::Activation : Payload::Gradient;
      if (moves && remote(from)) actions.push_back(message(Op::Recv, payload, action, from));
      actions.push_back(action);
      if (moves && remote(to)) actions.push_back(message(Op::Send, payload, action, to));
    }
    if (compute_only.has_backward()) actions.push_back({.op = Op::Step});
    plan.per_rank[r] = actions;
  }
  return plan;
}

std::string rendezvous_problem(const Plan& plan) {
  using Tensor = std::tuple<Payload, int, int>;  // payload, stage that made it, micro
  std::vector<std::set<Tensor>> has(plan.per_rank.size());
  std::set<std::tuple<Op, int, int>> done;
  std::vector<std::size_t> next(plan.per_rank.size(), 0);
  std::string problem;
  const auto lacks = [&](std::size_t r, const Action& action, bool missing) {
    if (missing && problem.empty())
      problem = fmt::format("rank {} lacks an input of {}", r, to_token(action));
  };
  const auto compute = [&](std::size_t r, const Action& a) {
    const bool last = a.stage + 1 == plan.stages;
    if (a.op == Op::Forward) {
      lacks(r, a, a.stage > 0 && !has[r].contains({Payload::Activation, a.stage - 1, a.micro}));
      has[r].insert({Payload::Activation, a.stage, a.micro});
    } else if (makes_gradient(a.op)) {
      lacks(r, a, !done.contains({Op::Forward, a.stage, a.micro}));
      lacks(r, a, !last && !has[r].contains({Payload::Gradient, a.stage + 1, a.micro}));
      has[r].insert({Payload::Gradient, a.stage, a.micro});
    } else if (a.op == Op::BackwardWeight) {
      lacks(r, a, !done.contains({Op::BackwardInput, a.stage, a.micro}));
    }
    if (is_compute(a.op) && !done.insert({a.op, a.stage, a.micro}).second && problem.empty()) {
      problem = fmt::format("{} is done twice", to_token(a));
    }
  };
  for (bool moved = true; moved && problem.empty();) {
    moved = false;
    for (std::size_t r = 0; r < next.size(); ++r) {
      while (next[r] < plan.per_rank[r].size()) {
        const Action& action = plan.per_rank[r][next[r]];
        if (!is_message(action.op)) {
          compute(r, action);
        } else if (action.op == Op::Recv) {
          break;  // moved by its Send
        } else {
          const auto to = static_cast<std::size_t>(action.peer_rank);
          if (to == r || to >= next.size() || next[to] == plan.per_rank[to].size()) break;
          const Action& other = plan.per_rank[to][next[to]];
          if (other.op != Op::Recv || other.peer_rank != static_cast<int>(r)) break;
          if (other.payload != action.payload || other.micro != action.micro ||
              other.peer_stage != action.stage || other.stage != action.peer_stage) {
            return fmt::format("{} meets {}", to_token(action), to_token(other));
          }
          lacks(r, action, !has[r].contains({action.payload, action.stage, action.micro}));
          has[to].insert({action.payload, action.stage, action.micro});
          ++next[to];
        }
        ++next[r];
        moved = true;
      }
    }
  }
  for (std::size_t r = 0; r < next.size() && problem.empty(); ++r) {
    if (next[r] == plan.per_rank[r].size()) continue;
    problem = fmt::format("rank {} hangs at {}", r, to_token(plan.per_rank[r][next[r]]));
  }
  return problem;
}

}  // namespace warpline::test
