// The order of an epoch: a permutation, the same for all ranks, each equally likely.
#include "models/shuffle.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace warpline;

using Order = std::vector<std::uint32_t>;

TEST_CASE("an epoch visits each sample once", "[shuffle]") {
  for (const std::int64_t count : {0, 1, 2, 3, 61, 1000, 60000}) {
    Order sorted(static_cast<std::size_t>(count));
    std::iota(sorted.begin(), sorted.end(), 0U);
    Order order = shuffled(1, 0, count);
    if (count > 60) CHECK(order != sorted);
    std::sort(order.begin(), order.end());
    CHECK(order == sorted);
  }
}

TEST_CASE("the order follows from seed and epoch alone", "[shuffle]") {
  const Order order = shuffled(7, 3, 500);
  CHECK(shuffled(7, 3, 500) == order);
  CHECK(shuffled(7, 4, 500) != order);
  CHECK(shuffled(8, 3, 500) != order);
  // Another order would not continue the checkpoints that exist.
  CHECK(shuffled(1, 0, 10) == Order{8, 3, 9, 7, 6, 1, 5, 0, 2, 4});
}

TEST_CASE("all orders are equally likely", "[shuffle]") {
  constexpr int kEpochs = 24000, kOrders = 24;
  std::map<Order, int> seen;
  for (int epoch = 0; epoch < kEpochs; ++epoch) ++seen[shuffled(5, epoch, 4)];
  REQUIRE(seen.size() == kOrders);
  double chi_squared = 0;
  for (const auto& [order, times] : seen) {
    const double expected = double{kEpochs} / kOrders;
    chi_squared += (times - expected) * (times - expected) / expected;
  }
  // 23 degrees of freedom: above 49.7 once in a thousand seeds, and this seed is fixed.
  CHECK(chi_squared < 49.7);
  fmt::print("{} epochs of 4 samples: chi squared {:.1f} over {} orders\n", kEpochs, chi_squared, kOrders);
}
