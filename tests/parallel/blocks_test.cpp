// Batches and ranges of blocks are cut by one rule on every rank.
#include "parallel/blocks.h"

#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

std::vector<std::int64_t> sizes(std::int64_t count, int m) {
  const Blocks blocks(count, m);
  std::vector<std::int64_t> all;
  for (int i = 0; i < m; ++i) all.push_back(blocks.samples(i).size());
  return all;
}

}  // namespace

TEST_CASE("a batch is cut as drawn in the header", "[blocks]") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(sizes(8, 4) == Sizes{2, 2, 2, 2});
  CHECK(sizes(5, 4) == Sizes{2, 1, 1, 1});
  CHECK(sizes(61, 4) == Sizes{16, 15, 15, 15});
  CHECK(sizes(2, 4) == Sizes{1, 1, 0, 0});
  CHECK(sizes(8, 3) == Sizes{3, 3, 2});
  CHECK(sizes(1, 1) == Sizes{1});
  CHECK(Blocks(2, 4).live() == 2);
  CHECK(Blocks(61, 4).live() == 4);
}

TEST_CASE("blocks and ranges of blocks cover every sample once, in order", "[blocks]") {
  int tried = 0;
  for (std::int64_t count = 1; count <= 40; ++count) {
    for (int m = 1; m <= 12; ++m) {
      for (int replicas = 1; replicas <= m; ++replicas) {
        const Blocks blocks(count, m);
        std::int64_t next = 0;
        std::int64_t next_block = 0;
        for (int r = 0; r < replicas; ++r) {
          const Range owned = part(m, replicas, r);
          REQUIRE(owned.begin == next_block);
          next_block = owned.end;
          const Range samples = blocks.samples(owned);
          for (std::int64_t block = owned.begin; block < owned.end; ++block) {
            const Range range = blocks.samples(static_cast<int>(block));
            REQUIRE(range.begin == next);
            REQUIRE((range.size() == count / m || range.size() == count / m + 1));
            REQUIRE((range.size() > 0) == (block < blocks.live()));
            REQUIRE(part_of(m, replicas, block) == r);
            next = range.end;
          }
          REQUIRE(samples.end == next);
        }
        REQUIRE(next == count);
        ++tried;
      }
    }
  }
  fmt::print("[blocks] {} cuts of batches over replicas\n", tried);
}

TEST_CASE("a part that cannot be is refused", "[blocks]") {
  CHECK_THROWS_AS(Blocks(0, 4), ValueError);
  CHECK_THROWS_AS(Blocks(4, 0), ValueError);
  CHECK_THROWS_AS(part(4, 2, 2), ValueError);
  CHECK_THROWS_AS(part(4, 2, -1), ValueError);
  CHECK_THROWS_AS(part(-1, 2, 0), ValueError);
  CHECK_THROWS_AS(part_of(4, 2, 4), ValueError);
}
