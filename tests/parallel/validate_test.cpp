// Each rule has a plan that breaks it; random damage to valid plans is refused or harmless.
#include "parallel/validate.h"

#include <functional>
#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "parallel/lowering.h"
#include "parallel/schedule.h"
#include "parallel/tokens.h"
#include "tests/support/options.h"
#include "tests/support/plans.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

const test::Offers offers{false, true};

Plan lowered(const std::string& name, int n, int m, int buckets = 2) {
  const Plan plan = compute_plan(find_schedule(name), {.ranks = n, .micro_batches = m});
  return lower(plan, {.buckets = std::vector<int>(plan.stage_to_rank.size(), buckets)});
}

// Rank lists of the plan that is damaged below:
//   0  0F0 0>1a0#0 0F1 0>1a1#1 0<1g0#2 0<1g1#3 0B0 0B1 0R0 0R1 S
//   1  1<0a0#0 1<0a1#1 1F0 1B0 1>0g0#2 1F1 1B1 1>0g1#3 1R0 1R1 S
const Plan kPlan = lowered("1f1b", 2, 2);

Report damaged(const std::function<void(Plan&)>& damage) {
  Plan plan = kPlan;
  damage(plan);
  return validate(plan);
}

void erase(Plan& plan, std::size_t rank, int position) {
  plan.per_rank[rank].erase(plan.per_rank[rank].begin() + position);
}

void move(Plan& plan, std::size_t rank, int from, int to) {
  std::vector<Action>& actions = plan.per_rank[rank];
  const Action action = actions[static_cast<std::size_t>(from)];
  actions.erase(actions.begin() + from);
  actions.insert(actions.begin() + to, action);
}

bool says(const Report& report, const std::string& rule, const std::string& text) {
  for (const Violation& violation : report.violations) {
    if (violation.rule == rule && violation.message.find(text) != std::string::npos) return true;
  }
  UNSCOPED_INFO(report.to_string());
  return false;
}

// A random change of one action or of the order: what a wrong schedule, a wrong pass or a wrong edit does.
std::string mutate(Plan& plan, std::mt19937& random) {
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  std::vector<Action>& actions = plan.per_rank[below(plan.per_rank.size())];
  const std::size_t at = below(actions.size());
  const auto place = [&](std::size_t position) {
    return actions.begin() + static_cast<std::ptrdiff_t>(position);
  };
  Action& action = actions[at];
  const int step = random() % 2 == 0 ? 1 : -1;
  switch (below(6)) {
    case 0:
      actions.erase(place(at));
      return "dropped";
    case 1:
      std::swap(action, actions[below(actions.size())]);
      return "swapped";
    case 2:
      std::swap(action, actions[(at + 1) % actions.size()]);
      return "swapped neighbours";
    case 3:
      actions.insert(place(below(actions.size() + 1)), Action(action));
      return "duplicated";
    case 4: {  // another number in one field
      int* const fields[] = {&action.stage,      &action.micro,  &action.peer_rank,
                             &action.peer_stage, &action.ticket, &action.bucket};
      *fields[below(6)] += step;
      return "re-tagged";
    }
    default:
      if (random() % 2 == 0) {
        action.op = static_cast<Op>(below(8));
      } else {
        action.payload = action.payload == Payload::Activation ? Payload::Gradient : Payload::Activation;
      }
      return "another operation";
  }
}

}  // namespace

TEST_CASE("a lowered plan is valid and the report says why it cannot hang", "[validate]") {
  REQUIRE(validate(kPlan).ok());
  CHECK(validate(kPlan).to_string() ==
        "valid; no deadlock on any channel model: V2, V3, V4 and V7 hold, which imply V6\n");
  CHECK_NOTHROW(require_valid(validate(kPlan)));
}

TEST_CASE("form: what cannot be read as a plan", "[validate]") {
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][0].stage = 7; }), "form",
             "rank 0 position 0: 7F0: stages are 0 to 1"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][0].stage = 1; }), "form", "stage 1 is on rank 1"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[1][2].micro = -1; }), "form", "micro-batches are 0 to 1"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][0].ticket = 3; }), "form", "a field is set"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][8].bucket = 2; }), "form", "stage 0 has 2 buckets"));
  CHECK(says(damaged([](Plan& p) { p.per_rank.pop_back(); }), "form", "2 ranks, but 1 lists"));
  CHECK(says(damaged([](Plan& p) { p.stage_to_rank = {0, 0}; }), "form", "rank 0 holds 2 stages"));
  CHECK(says(damaged([](Plan& p) { p.stages = 3; }), "form", "3 stages are not 2 ranks x 1 chunks"));
  CHECK(!validate(Plan{}).ok());
}

TEST_CASE("V1: each pair once, counted per micro-batch", "[validate]") {
  CHECK(says(damaged([](Plan& p) { erase(p, 0, 0); }), "V1", "stage 0 micro-batch 0 has 0 forwards"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[1].insert(p.per_rank[1].begin() + 3, p.per_rank[1][2]); }),
             "V1", "stage 1 micro-batch 0 has 2 forwards, not 1; first 1F0 (rank 1 position 2)"));
  // Totals are right (a half counts half), yet micro-batch 0 has too much and 1 has nothing.
  const Report totals = damaged([](Plan& p) {
    p.per_rank[1][6] = {.op = Op::BackwardInput, .stage = 1, .micro = 0};
    p.per_rank[1].insert(p.per_rank[1].begin() + 7, {.op = Op::BackwardWeight, .stage = 1, .micro = 0});
  });
  CHECK(says(totals, "V1", "stage 1 micro-batch 0 has 1 B, 1 I and 1 W"));
  CHECK(says(totals, "V1", "stage 1 micro-batch 1 has 0 B, 0 I and 0 W"));
}

TEST_CASE("V2: order on a rank", "[validate]") {
  CHECK(says(damaged([](Plan& p) { std::swap(p.per_rank[1][2], p.per_rank[1][3]); }), "V2",
             "1F0 (rank 1 position 3) must come before 1B0 (rank 1 position 2)"));
  CHECK(says(damaged([](Plan& p) { move(p, 0, 8, 6); }), "V2", "0R0 (rank 0 position 6) stands before 0B1"));
  CHECK(says(damaged([](Plan& p) { move(p, 1, 8, 7); }), "V2",
             "1R0 (rank 1 position 7) stands before 1>0g1#3"));
  CHECK(says(damaged([](Plan& p) { move(p, 0, 10, 0); }), "V2", "S (rank 0 position 0) is not the last"));
  const Report halves = damaged([](Plan& p) {
    p.per_rank[0][6] = {.op = Op::BackwardWeight, .stage = 0, .micro = 0};
    p.per_rank[0].insert(p.per_rank[0].begin() + 7, {.op = Op::BackwardInput, .stage = 0, .micro = 0});
  });
  CHECK(says(halves, "V2", "0I0 (rank 0 position 7) must come before 0W0 (rank 0 position 6)"));
}

// Stages 0 and 1 on one rank, as interleaved placements have them on n = 1.
TEST_CASE("V2: a stage after its neighbour on the same rank", "[validate]") {
  Plan plan{
      .stages = 2, .ranks = 1, .micro_batches = 1, .chunks = 2, .stage_to_rank = {0, 0}, .buckets = {0, 0}};
  const auto action = [](Op op, int stage) { return Action{.op = op, .stage = stage, .micro = 0}; };
  plan.per_rank = {{action(Op::Forward, 0), action(Op::Forward, 1), action(Op::Backward, 1),
                    action(Op::Backward, 0), Action{.op = Op::Step}}};
  CHECK(validate(plan).ok());
  Plan forwards = plan;
  std::swap(forwards.per_rank[0][0], forwards.per_rank[0][1]);
  CHECK(says(validate(forwards), "V2", "0F0 (rank 0 position 1) must come before 1F0"));
  Plan backwards = plan;
  std::swap(backwards.per_rank[0][2], backwards.per_rank[0][3]);
  CHECK(says(validate(backwards), "V2", "1B0 (rank 0 position 3) must come before 0B0"));
  plan.per_rank[0].insert(
      plan.per_rank[0].begin() + 1,
      {.op = Op::Send, .stage = 0, .micro = 0, .peer_rank = 0, .peer_stage = 1, .ticket = 0});
  CHECK(says(validate(plan), "V3", "stays on its rank"));
}

TEST_CASE("V3: every crossing has one Send and one Recv", "[validate]") {
  CHECK(says(damaged([](Plan& p) { erase(p, 0, 3); }), "V3",
             "the activation of micro-batch 1 from stage 0 to stage 1 has 0 Sends and 1 Recvs"));
  CHECK(says(damaged([](Plan& p) { erase(p, 1, 1), erase(p, 0, 3); }), "V3", "has 0 Sends and 0 Recvs"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][3].ticket = 9; }), "V3",
             "0>1a1#9 (rank 0 position 3) and 1<0a1#1"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][3].peer_rank = 0; }), "V3",
             "names rank 0; stage 1 is on rank 1"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][3].payload = Payload::Gradient; }), "V3", "does not join"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[0][3].ticket = p.per_rank[1][1].ticket = 0; }), "V3",
             "one ticket"));
}

TEST_CASE("V4: made before sent, received before used", "[validate]") {
  CHECK(says(damaged([](Plan& p) { std::swap(p.per_rank[0][0], p.per_rank[0][1]); }), "V4",
             "0F0 (rank 0 position 1) must come before 0>1a0#0 (rank 0 position 0)"));
  CHECK(says(damaged([](Plan& p) { move(p, 1, 0, 2); }), "V4",
             "1<0a0#0 (rank 1 position 2) must come before 1F0"));
}

// Sizes agree, so a back end without tags would hand over the wrong tensor without a word.
TEST_CASE("V5: messages meet in order", "[validate]") {
  const Report swapped = damaged([](Plan& p) { std::swap(p.per_rank[1][0], p.per_rank[1][1]); });
  CHECK(says(swapped, "V5", "message 0 from rank 0 to rank 1: 0>1a0#0 (rank 0 position 1) meets 1<0a1#1"));
  CHECK(
      says(damaged([](Plan& p) { erase(p, 1, 1); }), "V5", "rank 0 sends rank 1 2 messages, which takes 1"));
}

TEST_CASE("V7: tickets increase", "[validate]") {
  CHECK(says(damaged([](Plan& p) { std::swap(p.per_rank[1][0], p.per_rank[1][1]); }), "V7",
             "1<0a0#0 (rank 1 position 1) comes after 1<0a1#1"));
  const Plan naively =
      test::place_naively(compute_plan(find_schedule("1f1b"), {.ranks = 2, .micro_batches = 2}));
  CHECK(says(validate(naively), "V7", "0>1a0 (rank 0 position 1) has no ticket"));
}

TEST_CASE("V10: reduced once, stepped once", "[validate]") {
  CHECK(says(damaged([](Plan& p) { erase(p, 0, 9); }), "V10", "stage 0 reduces 1 buckets; it has 2"));
  CHECK(says(damaged([](Plan& p) { std::swap(p.per_rank[0][8], p.per_rank[0][9]); }), "V10",
             "bucket 0 is next"));
  CHECK(says(damaged([](Plan& p) { p.per_rank[1].pop_back(); }), "V10", "rank 1 has 0 steps"));
  Plan stream = lowered("inference", 2, 2, 0);
  stream.per_rank[0].push_back({.op = Op::Step});
  CHECK(says(validate(stream), "V10", "rank 0 has 1 steps (S), not 0"));
}

TEST_CASE("random damage is refused or harmless", "[validate]") {
  std::mt19937 random(static_cast<unsigned>(test::options().seed));
  int mutants = 0, refused = 0, equal = 0, harmless = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::vector<Schedule>& rows = schedules();
    const std::string name(rows[random() % rows.size()].name);
    const Plan plan = lowered(name, 1 + static_cast<int>(random() % 5), 1 + static_cast<int>(random() % 6),
                              static_cast<int>(random() % 3));
    Plan mutant = plan;
    std::string what = mutate(mutant, random);
    ++mutants;
    const Report report = validate(mutant);
    if (!report.ok()) {
      ++refused;
    } else if (mutant == plan) {
      ++equal;
    } else if (test::rendezvous_problem(mutant).empty()) {
      ++harmless;  // another order that ends even under the strictest model, with every input in place
    } else {
      FAIL_CHECK(name << ", " << what << ": accepted, but " << test::rendezvous_problem(mutant));
    }
  }
  CHECK(refused > 0);
  CHECK(refused + equal + harmless == mutants);
  fmt::print("mutants handled: {} of {} ({} refused, {} equal to the plan, {} other sound orders)\n",
             refused + equal + harmless, mutants, refused, equal, harmless);
}
