// The order in which gradients of blocks are added, so that the sum has the same bits whoever owns which
// block and in whatever order they arrive: one fixed binary tree over the global block indices.
//
//   level 2  [0 1 2 3]         [4 5]      6 live blocks: a subtree without blocks is left out, so a node
//   level 1  [0 1]  [2 3]      [4 5]      with one child has that child's value: combine(a, none) = a
//   level 0  0  1   2  3       4  5
//
// Two replicas that own blocks 0 1 2 and 3 4 5 hold the sums of [0 1], 2 and of 3, [4 5]: their maximal
// subtrees. Only these have to be exchanged. Siblings are added as soon as both are there, so in order at
// most log2(blocks) + 1 sums are alive (a binary counter).
#pragma once

#include <compare>
#include <map>
#include <vector>

#include "engine/tensor.h"
#include "parallel/blocks.h"

namespace warpline::parallel {

// Covers the blocks [index << level, (index + 1) << level).
struct TreeNode {
  int level = 0;
  std::int64_t index = 0;
  Range blocks() const { return {index << level, (index + 1) << level}; }
  TreeNode parent() const { return {level + 1, index >> 1}; }
  TreeNode sibling() const { return {level, index ^ 1}; }
  auto operator<=>(const TreeNode&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
};

// The root of a tree over `live` blocks: the lowest node that covers them all.
TreeNode root_of(std::int64_t live);

// The fewest nodes that cover exactly the owned live blocks, from left to right. A node's blocks beyond
// `live` do not exist and are owned by everybody.
std::vector<TreeNode> maximal_subtrees(Range owned, std::int64_t live);

// The tensor of each node that is known, by node.
using NodeSums = std::map<TreeNode, Tensor>;

// The sum below `node` from the sums of its descendants, which are consumed. Undefined where there is none.
// Adds in place, the right child into the left one.
Tensor combine_below(Context& context, TreeNode node, NodeSums& sums);

// Adds up the contributions of the blocks that one rank owns, eagerly.
class TreeSum {
 public:
  TreeSum(Range owned, std::int64_t live);

  // The contribution of one block, which becomes the sum's. ValueError: a block not owned, or twice.
  void add(Context& context, std::int64_t block, Tensor value);
  // The sums of maximal_subtrees(), in that order; undefined where no block below contributed. The TreeSum is
  // empty then.
  std::vector<Tensor> take(Context& context);
  std::size_t alive() const { return sums_.size(); }  // partial sums held now

 private:
  Range owned_;  // live blocks only
  std::int64_t live_;
  std::vector<bool> seen_;
  NodeSums sums_;
};

}  // namespace warpline::parallel
