// The simulator against closed forms: GPipe (arXiv 1811.06965), 1F1B (arXiv 2104.04473), and numbers that
// were worked out independently for a link with latency.
#include "parallel/simulate.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "parallel/lowering.h"
#include "parallel/schedule.h"
#include "tests/support/plans.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

constexpr Network kIdeal{.kind = Network::Kind::Ideal};

Plan compute(const std::string& name, int n, int m) {
  return compute_plan(find_schedule(name), {.ranks = n, .micro_batches = m});
}

double lowered_makespan(const Plan& plan, const Costs& costs) {
  return simulate(lower(plan, {.costs = costs}), costs).makespan;
}

// Costs are integers, so makespans are exact.
double expected_makespan(const std::string& name, int n, int m, double f, double b) {
  if (name == "naive") return m * n * (f + b);
  return (m + n - 1) * (name == "inference" ? f : f + b);
}

}  // namespace

TEST_CASE("closed forms hold for balanced stages", "[simulate]") {
  int exact = 0;
  const int plans =
      test::sweep_plans([&](const Schedule& schedule, const PipelineShape& shape, const Plan& plan) {
        const std::string name(schedule.name);
        const int n = shape.ranks, m = shape.micro_batches;
        const Costs costs = Costs::uniform(n, 2, 3, 4);
        const double expected = expected_makespan(name, n, m, 2, 7);
        const double busy = m * (schedule.has_backward ? 9 : 2);
        const double share = name == "naive" ? 1 - 1.0 / n : static_cast<double>(n - 1) / (m + n - 1);
        bool good = true;
        for (const Timeline& timeline : {simulate(plan, costs, kIdeal), simulate(lower(plan), costs)}) {
          good = good && timeline.makespan == expected && std::abs(timeline.idle_share - share) < 1e-12;
          for (int r = 0; r < n; ++r) {
            const auto rank = static_cast<std::size_t>(r);
            good = good && timeline.peak_live[rank] == schedule.live_bound(shape, r);
            good = good && timeline.span_idle[rank] >= 0 && timeline.span_idle[rank] <= expected - busy;
          }
        }
        INFO(name << " n=" << n << " m=" << m);
        CHECK(good);
        exact += good ? 1 : 0;
      });
  fmt::print("makespan, idle share and live micro-batches exact: {} of {}\n", exact, plans);
}

TEST_CASE("idle inside a rank's own span", "[simulate]") {
  const auto idle = [](const std::string& name) {
    return simulate(lower(compute(name, 3, 3)), Costs::uniform(3)).span_idle;
  };
  CHECK(idle("gpipe") == std::vector<double>{6, 3, 0});  // rank r waits for the n-1-r stages behind it
  CHECK(idle("1f1b") == std::vector<double>{6, 3, 0});
  CHECK(idle("inference") == std::vector<double>{0, 0, 0});
}

TEST_CASE("uneven stages: GPipe's exact makespan, and 1F1B is no slower", "[simulate]") {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> pick(1, 9);
  int exact = 0, cases = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const int n = 1 + trial % 8, m = 1 + static_cast<int>(random() % 16);
    Costs costs = Costs::uniform(n);
    double sum = 0, most_forward = 0, most_backward = 0;
    for (std::size_t j = 0; j < costs.forward.size(); ++j) {
      costs.forward[j] = pick(random);
      costs.backward_input[j] = pick(random);
      costs.backward_weight[j] = pick(random);
      const double backward = costs.backward_input[j] + costs.backward_weight[j];
      sum += costs.forward[j] + backward;
      most_forward = std::max(most_forward, costs.forward[j]);
      most_backward = std::max(most_backward, backward);
    }
    const double gpipe = simulate(compute("gpipe", n, m), costs, kIdeal).makespan;
    CHECK(gpipe == sum + (m - 1) * (most_forward + most_backward));
    CHECK(simulate(compute("1f1b", n, m), costs, kIdeal).makespan <= gpipe);
    exact += gpipe == sum + (m - 1) * (most_forward + most_backward) ? 1 : 0;
    ++cases;
  }
  fmt::print("uneven stages, GPipe's formula exact: {} of {}\n", exact, cases);
}

// In its steady state 1F1B waits for a round trip, GPipe does not: with latency the order flips.
TEST_CASE("latency: GPipe is faster than 1F1B", "[simulate]") {
  const Costs free = Costs::uniform(4, 1, 1, 1, 0), slow = Costs::uniform(4, 1, 1, 1, 0.3);
  CHECK(simulate(compute("gpipe", 4, 8), slow, kIdeal).makespan == Approx(34.8));
  CHECK(simulate(compute("1f1b", 4, 8), slow, kIdeal).makespan == Approx(37.8));
  CHECK(simulate(compute("gpipe", 4, 8), free, kIdeal).makespan == 33);
  CHECK(simulate(compute("1f1b", 4, 8), free, kIdeal).makespan == 33);
  CHECK(lowered_makespan(compute("gpipe", 4, 8), slow) == Approx(34.8));
}

TEST_CASE("tickets on one queue a rank are as fast as an ideal network", "[simulate]") {
  const Plan gpipe = compute("gpipe", 8, 16), one_f_one_b = compute("1f1b", 4, 16);
  const Costs eight = Costs::uniform(8, 1, 1, 1, 0.3), four = Costs::uniform(4, 1, 1, 1, 0.3);
  CHECK(simulate(gpipe, eight, kIdeal).makespan == Approx(73.2));
  CHECK(simulate(one_f_one_b, four, kIdeal).makespan == Approx(65.4));
  const double a = lowered_makespan(gpipe, eight), b = lowered_makespan(one_f_one_b, four);
  CHECK(a <= 73.2 * 1.02);
  CHECK(b <= 65.4 * 1.02);
  fmt::print("gpipe 8x16: ideal 73.2, tickets {:g}; 1f1b 4x16: ideal 65.4, tickets {:g}\n", a, b);
  double worst = 0;
  test::sweep_plans([&](const Schedule&, const PipelineShape& shape, const Plan& plan) {
    const Costs costs = Costs::uniform(shape.ranks, 1, 1, 1, 0.3);
    worst = std::max(worst, lowered_makespan(plan, costs) / simulate(plan, costs, kIdeal).makespan);
  });
  CHECK(worst <= 1.02);
  fmt::print("slowest against an ideal network over the sweep: {:.4f}\n", worst);
}

TEST_CASE("messages leave after they are made and within the window", "[simulate]") {
  Costs costs = Costs::uniform(3, 1, 1, 1, 0.5);
  costs.forward = {1, 15, 1};
  const Timeline free = simulate(compute("gpipe", 3, 6), costs, kIdeal);
  const Timeline bound = simulate(compute("gpipe", 3, 6), costs, {.kind = Network::Kind::Ideal, .window = 2});
  REQUIRE(free.messages.size() == 24);
  CHECK(free.makespan == bound.makespan);
  // Rank 0 makes micro-batch 5 at time 6; rank 1 takes micro-batch 3 at 1.5 + 3 x 15, which opens the window.
  const auto leaves = [](const Timeline& timeline) {
    return std::find_if(timeline.messages.begin(), timeline.messages.end(),
                        [](const Transfer& message) { return message.stage == 0 && message.micro == 5; })
        ->start;
  };
  CHECK(leaves(free) == 6);
  CHECK(leaves(bound) == 46.5);
}

TEST_CASE("a plan that stops says where", "[simulate]") {
  const Plan naively = test::place_naively(compute("1f1b", 2, 2));
  CHECK_THROWS_WITH(simulate(naively, Costs::uniform(2)),
                    Catch::Contains("the plan stops at time") && Catch::Contains("rank 0 position"));
  CHECK_NOTHROW(simulate(test::place_naively(compute("gpipe", 2, 2)), Costs::uniform(2)));
}

TEST_CASE("costs that mean nothing are refused", "[simulate]") {
  const Plan plan = compute("gpipe", 2, 2);
  const auto refused = [&](const Costs& costs) {
    CHECK_THROWS_AS(simulate(plan, costs, kIdeal), ValueError);
  };
  refused(Costs::uniform(3));
  refused(Costs::uniform(2, -1));
  refused(Costs::uniform(2, 1, std::numeric_limits<double>::infinity()));
  refused(Costs::uniform(2, 1, 1, std::numeric_limits<double>::quiet_NaN()));
  refused(Costs::uniform(2, 0, 0, 0));
  refused(Costs::uniform(2, 1, 1, 1, -0.5));
}
