// Cuts by count, by cost and by hand; the cut by cost is as good as any.
#include "parallel/partition.h"

#include <algorithm>
#include <functional>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/nn/linear.h"
#include "engine/nn/relu.h"
#include "kernels/error.h"
#include "tests/support/options.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

const test::Offers offers{false, true};

double largest_stage(const std::vector<double>& costs, const std::vector<int>& cuts) {
  double largest = 0;
  for (const Layers stage : stages_of(cuts, static_cast<int>(costs.size()))) {
    double sum = 0;
    for (int i = stage.begin; i < stage.end; ++i) sum += costs[static_cast<std::size_t>(i)];
    largest = std::max(largest, sum);
  }
  return largest;
}

// Over every way to cut.
double best_largest_stage(const std::vector<double>& costs, std::size_t begin, int stages) {
  double sum = 0;
  if (stages == 1) {
    for (std::size_t i = begin; i < costs.size(); ++i) sum += costs[i];
    return sum;
  }
  double best = 1e300;
  for (std::size_t cut = begin + 1; cut + static_cast<std::size_t>(stages) - 1 <= costs.size(); ++cut) {
    sum += costs[cut - 1];
    best = std::min(best, std::max(sum, best_largest_stage(costs, cut, stages - 1)));
  }
  return best;
}

Sequential small_model() {
  Sequential model;
  model.add("first", std::make_shared<ReLU>());
  model.add("wide", std::make_shared<Linear>(12, 400));
  model.add("relu", std::make_shared<ReLU>());
  model.add("out", std::make_shared<Linear>(400, 3));
  return model;
}

}  // namespace

TEST_CASE("the cut by cost is optimal", "[partition]") {
  std::mt19937_64 random(test::options().seed);
  std::uniform_int_distribution<int> cost(0, 20);  // whole numbers: sums are exact
  int tried = 0;
  for (std::size_t layers = 1; layers <= 9; ++layers) {
    for (int stages = 1; stages <= static_cast<int>(layers); ++stages) {
      for (int repeat = 0; repeat < 10; ++repeat) {
        std::vector<double> costs(layers);
        for (double& c : costs) c = cost(random);
        const std::vector<int> cuts = cut_by_cost(costs, stages);
        REQUIRE_NOTHROW(check_cuts(cuts, static_cast<int>(layers)));
        REQUIRE(cuts.size() + 1 == static_cast<std::size_t>(stages));
        REQUIRE(largest_stage(costs, cuts) == best_largest_stage(costs, 0, stages));
        ++tried;
      }
    }
  }
  fmt::print("[partition] {} cuts by cost, each as good as the best of all\n", tried);
}

TEST_CASE("the cut by count has sizes that differ by one, larger first", "[partition]") {
  CHECK(cut_by_count(10, 3) == std::vector<int>{4, 7});
  CHECK(cut_by_count(4, 4) == std::vector<int>{1, 2, 3});
  CHECK(cut_by_count(4, 1).empty());
}

TEST_CASE("more stages than layers is refused, with the most that there can be", "[partition]") {
  CHECK_THROWS_WITH(cut_by_count(4, 5), Catch::Contains("use at most 4 stages"));
  CHECK_THROWS_AS(cut_by_cost({1, 1}, 3), ValueError);
  CHECK_THROWS_AS(cut_by_cost({1, 1}, 0), ValueError);
}

TEST_CASE("cuts by hand are numbers or names", "[partition]") {
  const Sequential model = small_model();
  CHECK(parse_cuts(model, "1,out") == std::vector<int>{1, 3});
  CHECK_THROWS_WITH(parse_cuts(model, "outt"), Catch::Contains("first, wide, relu, out"));
  for (const char* text : {"", "0", "4", "2,2", "3,1", "1,,2", "-1", "99999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_cuts(model, text), ValueError);
  }
}

TEST_CASE("estimated costs follow the multiply-adds", "[partition]") {
  const std::vector<double> costs = estimate_costs(small_model(), {12});
  REQUIRE(costs.size() == 4);
  CHECK(costs[1] > 4800);      // 12 x 400 weights, used once a sample
  CHECK(costs[1] > costs[3]);  // 400 x 3
  CHECK(costs[3] > costs[0]);
  CHECK(costs == estimate_costs(small_model(), {12}));
}

TEST_CASE("measuring times every layer and leaves no parameter behind", "[partition]") {
  Context context({DeviceKind::Ref, 0});
  Sequential model = small_model();
  const std::vector<double> costs = measure_costs(context, model, {12}, 4, 2);
  REQUIRE(costs.size() == 4);
  for (const double cost : costs) CHECK(cost > 0);
  for (const Parameter* parameter : model.parameters()) CHECK_FALSE(parameter->value.defined());
  CHECK(context.allocator()->stats().live_bytes == 0);
}
