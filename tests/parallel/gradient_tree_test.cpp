// The sum over blocks has the same bits whoever owns which block and in whatever order they arrive.
#include "parallel/gradient_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "tests/support/options.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

const test::Offers offers{false, true};

using Values = std::vector<float>;

// Magnitudes from 1e-6 to 1e6 and both signs: any other order of additions shows in some last bit.
std::vector<Values> spiky_blocks(std::int64_t blocks, std::mt19937_64& random) {
  std::uniform_real_distribution<float> exponent(-6, 6), sign(-1, 1);
  std::vector<Values> all(static_cast<std::size_t>(blocks), Values(7));
  for (Values& block : all) {
    for (float& value : block) value = std::copysign(std::pow(10.0F, exponent(random)), sign(random));
  }
  return all;
}

// The definition, on plain floats and by recursion from the root.
Values tree_sum(const std::vector<Values>& blocks, std::size_t begin, std::size_t width) {
  if (width == 1) return blocks[begin];
  Values left = tree_sum(blocks, begin, width / 2);
  if (begin + width / 2 >= blocks.size()) return left;
  const Values right = tree_sum(blocks, begin + width / 2, width / 2);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
  return left;
}

Values expected_sum(const std::vector<Values>& blocks) {
  std::size_t width = 1;
  while (width < blocks.size()) width *= 2;
  return tree_sum(blocks, 0, width);
}

bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Every owner adds its blocks in a random order; then all subtree sums meet.
Values distributed_sum(Context& context, const std::vector<Values>& blocks, const std::vector<Range>& owners,
                       std::mt19937_64& random) {
  const auto live = static_cast<std::int64_t>(blocks.size());
  NodeSums sums;
  for (const Range owned : owners) {
    TreeSum sum(owned, live);
    std::vector<std::int64_t> order(static_cast<std::size_t>(clip(owned, live).size()));
    std::iota(order.begin(), order.end(), owned.begin);
    std::shuffle(order.begin(), order.end(), random);
    for (const std::int64_t block : order) {
      sum.add(context, block, Tensor::from_host(context, blocks[static_cast<std::size_t>(block)], {7}));
    }
    const std::vector<TreeNode> nodes = maximal_subtrees(owned, live);
    std::vector<Tensor> values = sum.take(context);
    for (std::size_t k = 0; k < nodes.size(); ++k) sums.emplace(nodes[k], values[k]);
  }
  return combine_below(context, root_of(live), sums).to_host<float>();
}

}  // namespace

TEST_CASE("any ownership and any order of arrival give the bits of the tree", "[gradient_tree]") {
  Context context({DeviceKind::Ref, 0});
  std::mt19937_64 random(test::options().seed);
  int tried = 0;
  int other_order_differs = 0;
  for (std::int64_t live = 1; live <= 17; ++live) {
    const std::vector<Values> blocks = spiky_blocks(live, random);
    const Values expected = expected_sum(blocks);
    Values in_turn(7);
    for (const Values& block : blocks) {
      for (std::size_t i = 0; i < block.size(); ++i) in_turn[i] += block[i];
    }
    other_order_differs += same_bits(in_turn, expected) ? 0 : 1;
    for (int replicas = 1; replicas <= 5; ++replicas) {
      for (const std::int64_t extra : {0, 1, 3}) {  // blocks at the end that are empty
        std::vector<Range> owners;
        for (int r = 0; r < replicas; ++r) owners.push_back(part(live + extra, replicas, r));
        for (int repeat = 0; repeat < 3; ++repeat) {
          REQUIRE(same_bits(distributed_sum(context, blocks, owners, random), expected));
          ++tried;
        }
      }
    }
  }
  CHECK(other_order_differs > 8);  // the inputs tell orders apart
  fmt::print("[gradient_tree] {} splits and orders, each the bits of the tree\n", tried);
}

TEST_CASE("maximal subtrees are the fewest that cover a range", "[gradient_tree]") {
  using Nodes = std::vector<TreeNode>;
  CHECK(maximal_subtrees({0, 4}, 4) == Nodes{{2, 0}});
  CHECK(maximal_subtrees({0, 3}, 6) == Nodes{{1, 0}, {0, 2}});
  // [4 5] has no sibling, so it may stand for everything from 4 on.
  CHECK(maximal_subtrees({3, 6}, 6) == Nodes{{0, 3}, {2, 1}});
  CHECK(maximal_subtrees({0, 5}, 5) == Nodes{{3, 0}});
  CHECK(maximal_subtrees({2, 4}, 2).empty());
  CHECK(maximal_subtrees({1, 4}, 2) == Nodes{{0, 1}});
  CHECK(root_of(1) == TreeNode{0, 0});
  CHECK(root_of(5) == TreeNode{3, 0});
}

TEST_CASE("in order, the sums alive are a binary counter", "[gradient_tree]") {
  Context context({DeviceKind::Ref, 0});
  for (const bool backwards : {false, true}) {
    TreeSum sum({0, 16}, 16);
    for (std::int64_t i = 0; i < 16; ++i) {
      sum.add(context, backwards ? 15 - i : i, Tensor::full(context, {3}, 1.0));
      REQUIRE(sum.alive() == static_cast<std::size_t>(__builtin_popcountll(static_cast<unsigned>(i + 1))));
    }
    CHECK(sum.take(context)[0].to_host<float>() == Values{16, 16, 16});
  }
}

TEST_CASE("blocks that contribute nothing are left out", "[gradient_tree]") {
  Context context({DeviceKind::Ref, 0});
  TreeSum sum({0, 6}, 6);
  sum.add(context, 5, Tensor::full(context, {1}, 8.0));
  sum.add(context, 1, Tensor::full(context, {1}, 2.0));
  CHECK(sum.take(context)[0].item() == 10.0);
  TreeSum nothing({0, 6}, 6);
  CHECK_FALSE(nothing.take(context)[0].defined());
}

TEST_CASE("a block that is not owned, or comes twice, is refused", "[gradient_tree]") {
  Context context({DeviceKind::Ref, 0});
  TreeSum sum({2, 4}, 8);
  const Tensor one = Tensor::full(context, {1}, 1.0);
  CHECK_THROWS_AS(sum.add(context, 4, one), ValueError);
  sum.add(context, 2, one);
  CHECK_THROWS_AS(sum.add(context, 2, one), ValueError);
}
