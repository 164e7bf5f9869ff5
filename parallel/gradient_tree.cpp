#include "parallel/gradient_tree.h"

#include <algorithm>
#include <utility>

#include "engine/inplace.h"
#include "kernels/error.h"

namespace warpline::parallel {
namespace {

// Every live block below the node is owned.
bool inside(TreeNode node, Range owned, std::int64_t live) {
  const Range blocks = node.blocks();
  return blocks.begin >= owned.begin && std::min(blocks.end, live) <= owned.end;
}

}  // namespace

TreeNode root_of(std::int64_t live) {
  int level = 0;
  while ((std::int64_t{1} << level) < live) ++level;
  return {level, 0};
}

std::vector<TreeNode> maximal_subtrees(Range owned, std::int64_t live) {
  const Range range = clip(owned, live);
  const int root = root_of(live).level;
  std::vector<TreeNode> nodes;
  for (std::int64_t block = range.begin; block < range.end;) {
    TreeNode node{0, block};
    while (node.level < root && inside(node.parent(), range, live)) node = node.parent();
    nodes.push_back(node);
    block = node.blocks().end;
  }
  return nodes;
}

Tensor combine_below(Context& context, TreeNode node, NodeSums& sums) {
  if (const auto found = sums.find(node); found != sums.end()) {
    Tensor sum = std::move(found->second);
    sums.erase(found);
    return sum;
  }
  if (node.level == 0 || sums.empty()) return {};
  const TreeNode left_child{node.level - 1, node.index * 2};
  Tensor left = combine_below(context, left_child, sums);
  Tensor right = combine_below(context, left_child.sibling(), sums);
  if (!left.defined()) return right;
  if (right.defined()) add_into(context, left, right);
  return left;
}

TreeSum::TreeSum(Range owned, std::int64_t live)
    : owned_(clip(owned, live)), live_(live), seen_(static_cast<std::size_t>(owned_.size())) {}

void TreeSum::add(Context& context, std::int64_t block, Tensor value) {
  if (block < owned_.begin || block >= owned_.end) {
    fail<ValueError>("gradient tree", "block {} is not one of the owned blocks [{}, {})", block, owned_.begin,
                     owned_.end);
  }
  std::vector<bool>::reference seen = seen_[static_cast<std::size_t>(block - owned_.begin)];
  if (seen) fail<ValueError>("gradient tree", "block {} contributes a second time", block);
  seen = true;
  TreeNode node{0, block};
  const int root = root_of(live_).level;
  while (node.level < root && inside(node.parent(), owned_, live_)) {
    const TreeNode sibling = node.sibling();
    if (sibling.blocks().begin < live_) {
      const auto found = sums_.find(sibling);
      if (found == sums_.end()) break;
      Tensor other = std::move(found->second);
      sums_.erase(found);
      if (sibling < node) std::swap(value, other);
      add_into(context, value, other);
    }
    node = node.parent();
  }
  sums_.emplace(node, std::move(value));
}

std::vector<Tensor> TreeSum::take(Context& context) {
  std::vector<Tensor> taken;
  for (const TreeNode node : maximal_subtrees(owned_, live_)) {
    taken.push_back(combine_below(context, node, sums_));
  }
  return taken;
}

}  // namespace warpline::parallel
