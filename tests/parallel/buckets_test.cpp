// Buckets hold every parameter once, from the last used to the first, with room for flags.
#include "parallel/buckets.h"

#include <catch2/catch.hpp>

using namespace warpline;
using namespace warpline::parallel;

namespace {

// `net`: two convolutions and two linear layers, weight and bias each; 431,080 elements.
const std::vector<std::int64_t> kNet = {500, 20, 25000, 50, 400000, 500, 5000, 10};

std::vector<std::vector<std::size_t>> members(const std::vector<BucketLayout>& buckets) {
  std::vector<std::vector<std::size_t>> all;
  for (const BucketLayout& bucket : buckets) all.push_back(bucket.parameters);
  return all;
}

}  // namespace

TEST_CASE("net has three buckets, and a small one leaves first", "[buckets]") {
  const std::vector<BucketLayout> buckets = assign_buckets(kNet, 4, {}, 2);
  CHECK(members(buckets) == std::vector<std::vector<std::size_t>>{{7, 6, 5}, {4}, {3, 2, 1, 0}});
  CHECK(buckets[0].count < 32 * 1024 / 4);
}

TEST_CASE("parameters, flags and padding share a bucket without overlap", "[buckets]") {
  for (const int replicas : {2, 3, 5}) {
    for (const std::int64_t bytes : {64, 4096, 1 << 20}) {
      const std::vector<BucketLayout> buckets = assign_buckets(kNet, 4, {bytes, bytes / 2}, replicas);
      std::size_t next_parameter = kNet.size();
      for (const BucketLayout& bucket : buckets) {
        std::int64_t end = 0;
        for (std::size_t k = 0; k < bucket.parameters.size(); ++k) {
          REQUIRE(bucket.parameters[k] == --next_parameter);
          REQUIRE(bucket.offsets[k] == end);
          end += kNet[bucket.parameters[k]];
        }
        REQUIRE(bucket.flags == end);
        REQUIRE(bucket.count % replicas == 0);
        const std::int64_t used = end + static_cast<std::int64_t>(bucket.parameters.size());
        REQUIRE(bucket.count >= used);
        REQUIRE(bucket.count < used + replicas);
      }
      REQUIRE(next_parameter == 0);
    }
  }
}

TEST_CASE("a tiny parameter in front of a large one does not make a bucket of its own", "[buckets]") {
  CHECK(members(assign_buckets({500, 20, 25000, 50}, 4, {}, 2)) ==
        std::vector<std::vector<std::size_t>>{{3, 2}, {1, 0}});
  CHECK(members(assign_buckets({3, 0, 5}, 4, {}, 2)) == std::vector<std::vector<std::size_t>>{{2, 1, 0}});
  CHECK(assign_buckets({}, 4, {}, 2).empty());
}
