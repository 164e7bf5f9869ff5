// What schedule authors write: orders, placements, names and refusals.
#include "parallel/schedule.h"

#include <functional>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "parallel/tokens.h"
#include "parallel/validate.h"
#include "tests/support/plans.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

std::string order(const std::string& name, int n, int m, int rank) {
  const Plan plan = compute_plan(find_schedule(name), {.ranks = n, .micro_batches = m});
  std::string words;
  for (const Action& action : plan.per_rank[static_cast<std::size_t>(rank)]) {
    words += (words.empty() ? "" : " ") + to_token(action);
  }
  return words;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("orders as drawn in the schedules' files", "[schedule]") {
  CHECK(order("naive", 3, 2, 1) == "1F0 1B0 1F1 1B1");
  CHECK(order("gpipe", 3, 3, 2) == "2F0 2F1 2F2 2B2 2B1 2B0");
  CHECK(order("1f1b", 3, 4, 0) == "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3");
  CHECK(order("1f1b", 3, 4, 1) == "1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3");
  CHECK(order("1f1b", 3, 4, 2) == "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3");
  CHECK(order("inference", 3, 4, 2) == "2F0 2F1 2F2 2F3");
}

// Warm-up longer than the batch once produced micro-batch -1 elsewhere.
TEST_CASE("fewer micro-batches than ranks", "[schedule]") {
  CHECK(order("1f1b", 4, 2, 0) == "0F0 0F1 0B0 0B1");
  CHECK(order("1f1b", 4, 1, 0) == "0F0 0B0");
  CHECK(order("1f1b", 1, 2, 0) == "0F0 0B0 0F1 0B1");
}

TEST_CASE("every order holds V1 and V2", "[schedule]") {
  int valid = 0;
  const int plans =
      test::sweep_plans([&](const Schedule& schedule, const PipelineShape& shape, const Plan& plan) {
        INFO(schedule.name << " n=" << shape.ranks << " m=" << shape.micro_batches);
        const Report report = validate_compute(plan);
        CHECK(report.to_string() == Report{}.to_string());
        CHECK(plan.has_backward() == schedule.has_backward);
        valid += report.ok() ? 1 : 0;
      });
  CHECK(plans == 4 * 8 * 16);
  fmt::print("compute orders valid: {} of {}\n", valid, plans);
}

TEST_CASE("placements", "[schedule]") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 1, .chunks = 2};
  CHECK(stage_to_rank(Placement::Linear, {.ranks = 3}) == std::vector<int>{0, 1, 2});
  CHECK(stage_to_rank(Placement::Looped, shape) == std::vector<int>{0, 1, 2, 0, 1, 2});
  CHECK(stage_to_rank(Placement::V, shape) == std::vector<int>{0, 1, 2, 2, 1, 0});
}

TEST_CASE("an unknown schedule lists the names, the nearest first", "[schedule]") {
  CHECK(refusal([] { find_schedule("gpip"); }) ==
        "[schedule] no schedule is called 'gpip'; there are: gpipe, naive, 1f1b, inference");
  CHECK(refusal([] { find_schedule("1F1B"); }).find("there are: 1f1b") != std::string::npos);
  CHECK(!refusal([] { find_schedule(""); }).empty());
}

TEST_CASE("impossible shapes are refused with the reason", "[schedule]") {
  const Schedule& gpipe = find_schedule("gpipe");
  const auto why = [&](const PipelineShape& shape) { return refusal([&] { compute_plan(gpipe, shape); }); };
  CHECK(why({.ranks = 0}) == "[schedule] pipeline ranks must be at least 1, not 0");
  CHECK(why({.ranks = 2, .micro_batches = -3}) == "[schedule] micro-batches must be at least 1, not -3");
  CHECK(why({.ranks = 2, .micro_batches = 2, .chunks = 0}) == "[schedule] chunks must be at least 1, not 0");
  CHECK(why({.ranks = 2, .micro_batches = 4, .chunks = 2}) ==
        "[schedule] gpipe cannot do this: it places one stage on each rank, so chunks must be 1, not 2");
  CHECK(why({.ranks = 2000000000, .micro_batches = 2000000000, .chunks = 2000000000}).find("may hold") !=
        std::string::npos);
  CHECK(why({.ranks = 1024, .micro_batches = 1024}).empty());
}
