// Lowering adds messages in ticket order, reductions and the step; its plans run where the obvious placement
// hangs.
#include "parallel/lowering.h"

#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "parallel/schedule.h"
#include "parallel/tokens.h"
#include "parallel/validate.h"
#include "tests/support/plans.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

std::string words(const Plan& plan, std::size_t rank) {
  std::string text;
  for (const Action& action : plan.per_rank[rank]) text += (text.empty() ? "" : " ") + to_token(action);
  return text;
}

Plan compute(const std::string& name, int n, int m) {
  return compute_plan(find_schedule(name), {.ranks = n, .micro_batches = m});
}

// Costs that pull tickets about: uneven stages, a slow link, free forwards.
std::vector<Costs> odd_costs(int stages) {
  Costs uneven = Costs::uniform(stages, 1, 1, 1, 0.25);
  for (std::size_t j = 0; j < uneven.forward.size(); ++j) {
    uneven.forward[j] = j % 2 == 0 ? 1 : 15;
    uneven.backward_input[j] = j % 3 == 0 ? 0 : 7;
  }
  return {Costs::uniform(stages), Costs::uniform(stages, 1, 1, 1, 4), Costs::uniform(stages, 0, 0, 1),
          uneven};
}

// Most Recvs from one peer that are posted before the action that needs them, along the list.
int most_posted(const Plan& plan) {
  int most = 0;
  for (const std::vector<Action>& actions : plan.per_rank) {
    for (int peer = 0; peer < plan.ranks; ++peer) {
      int posted = 0;
      for (const Action& action : actions) {
        if (action.op == Op::Recv && action.peer_rank == peer) most = std::max(most, ++posted);
        const int source = action.op == Op::Forward ? action.stage - 1 : action.stage + 1;
        const bool consumes =
            (action.op == Op::Forward || makes_gradient(action.op)) && source >= 0 && source < plan.stages;
        if (consumes && plan.stage_to_rank[static_cast<std::size_t>(source)] == peer) --posted;
      }
    }
  }
  return most;
}

}  // namespace

TEST_CASE("a small plan, word by word", "[lowering]") {
  const Plan plan = lower(compute("1f1b", 2, 2), {.buckets = {2, 1}});
  CHECK(words(plan, 0) == "0F0 0>1a0#0 0F1 0>1a1#1 0<1g0#2 0<1g1#3 0B0 0B1 0R0 0R1 S");
  CHECK(words(plan, 1) == "1<0a0#0 1<0a1#1 1F0 1B0 1>0g0#2 1F1 1B1 1>0g1#3 1R0 S");
  const Plan stream = lower(compute("inference", 2, 3), {.buckets = {2, 1}});
  CHECK(words(stream, 0) == "0F0 0>1a0#0 0F1 0>1a1#1 0F2 0>1a2#2");
  CHECK(words(lower(compute("gpipe", 1, 2)), 0) == "0F0 0F1 0B1 0B0 S");
}

TEST_CASE("every lowered plan is valid, bounded and runs with rendezvous sends", "[lowering]") {
  int sound = 0, lowered = 0;
  test::sweep_plans([&](const Schedule& schedule, const PipelineShape& shape, const Plan& plan) {
    for (const Costs& costs : odd_costs(plan.stages)) {
      const int window = 1 + lowered % 3;
      const std::vector<int> buckets(plan.stage_to_rank.size(), lowered % 4);
      const Plan full = lower(plan, {.costs = costs, .window = window, .buckets = buckets});
      ++lowered;
      const std::string report = validate(full).ok() ? "" : validate(full).to_string();
      const std::string problem = test::rendezvous_problem(full);
      const bool good = report.empty() && problem.empty() && most_posted(full) <= window;
      if (!good) {
        FAIL_CHECK(schedule.name << " n=" << shape.ranks << " m=" << shape.micro_batches << " window "
                                 << window << " posted " << most_posted(full) << ": " << report << problem);
      }
      sound += good ? 1 : 0;
    }
  });
  CHECK(sound == lowered);
  CHECK(lowered == 4 * 512);
  fmt::print("lowered plans valid and free of deadlock: {} of {}\n", sound, lowered);
}

TEST_CASE("lowering is deterministic", "[lowering]") {
  const LoweringOptions options{.costs = Costs::uniform(5, 1, 1, 1, 0.3), .buckets = {1, 2, 3, 0, 1}};
  CHECK(lower(compute("1f1b", 5, 7), options) == lower(compute("1f1b", 5, 7), options));
}

// The reason for tickets: receive-before-use and send-after-make is valid with buffered sends only.
TEST_CASE("the obvious placement hangs with rendezvous sends", "[lowering]") {
  int hangs = 0, cases = 0;
  for (int n = 2; n <= 8; ++n) {
    for (int m = 2; m <= 16; ++m) {
      const std::string problem = test::rendezvous_problem(test::place_naively(compute("1f1b", n, m)));
      hangs += problem.find("hangs") != std::string::npos ? 1 : 0;
      ++cases;
      CHECK(test::rendezvous_problem(test::place_naively(compute("gpipe", n, m))).empty());
    }
    CHECK(test::rendezvous_problem(test::place_naively(compute("1f1b", n, 1))).empty());
  }
  CHECK(hangs == cases);
  fmt::print("1f1b placed naively hangs under rendezvous: {} of {}\n", hangs, cases);
}

TEST_CASE("what cannot be lowered is refused", "[lowering]") {
  const Plan plan = compute("gpipe", 2, 2);
  CHECK_THROWS_AS(lower(lower(plan)), ValueError);
  CHECK_THROWS_AS(lower(plan, {.window = 0}), ValueError);
  CHECK_THROWS_AS(lower(plan, {.buckets = {1}}), ValueError);
  CHECK_THROWS_AS(lower(plan, {.costs = Costs::uniform(3)}), ValueError);
  Plan missing = plan;
  missing.per_rank[0].pop_back();
  CHECK_THROWS_WITH(lower(missing), Catch::Contains("V1: stage 0 micro-batch 0 has 0 B"));
  // Rank 0 wants the gradient of micro-batch 1 while rank 1 waits for its forward: each order alone is fine.
  Plan crossed = compute("naive", 2, 2);
  std::swap(crossed.per_rank[0][0], crossed.per_rank[0][2]);
  std::swap(crossed.per_rank[0][1], crossed.per_rank[0][3]);
  CHECK_THROWS_WITH(lower(crossed),
                    Catch::Contains("the plan stops") && Catch::Contains("rank 1 position 0 waits at 1F0"));
}
