#include "engine/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/checks.h"

namespace warpline {

std::vector<std::shared_ptr<Node>> nodes_below(const std::vector<std::shared_ptr<Node>>& roots) {
  std::vector<std::shared_ptr<Node>> nodes;
  std::unordered_set<const Node*> seen;
  const auto visit = [&](const std::shared_ptr<Node>& node) {
    if (node != nullptr && seen.insert(node.get()).second) nodes.push_back(node);
  };
  for (const std::shared_ptr<Node>& root : roots) visit(root);
  for (std::size_t next = 0; next < nodes.size(); ++next) {
    const Node& node = *nodes[next];  // `nodes` grows below, the node stays where it is
    for (const Edge& edge : node.inputs()) visit(edge.node);
  }
  std::ranges::sort(nodes, [](const auto& a, const auto& b) { return a->sequence() > b->sequence(); });
  return nodes;
}

std::string print_graph(const Tensor& output) {
  const std::vector<std::shared_ptr<Node>> nodes = nodes_below({output.node()});
  std::unordered_map<const Node*, std::size_t> number;
  for (std::size_t i = 0; i < nodes.size(); ++i) number[nodes[i].get()] = nodes.size() - i;
  std::string text;
  for (const std::shared_ptr<Node>& node : nodes) {
    std::vector<std::string> inputs;
    for (const Edge& edge : node->inputs()) {
      if (edge.node != nullptr) inputs.push_back(fmt::format("#{}", number[edge.node.get()]));
      if (edge.leaf.defined()) {
        inputs.push_back(edge.leaf.name().empty() ? describe(edge.leaf) : edge.leaf.name());
      }
    }
    std::int64_t bytes = 0;
    for (const SavedTensor* saved : node->saved()) bytes += saved->bytes();
    text += fmt::format("#{} {} <- {}; saves {:.1f} KiB\n", number[node.get()], node->name(),
                        fmt::join(inputs, ", "), static_cast<double>(bytes) / 1024.0);
  }
  return text;
}

std::int64_t retained_bytes(const Tensor& output) {
  std::unordered_set<const Storage*> counted;
  std::int64_t bytes = 0;
  for (const std::shared_ptr<Node>& node : nodes_below({output.node()})) {
    for (const SavedTensor* saved : node->saved()) {
      if (!saved->defined()) continue;
      const Storage& storage = *saved->storage();
      if (counted.insert(&storage).second) bytes += static_cast<std::int64_t>(storage.bytes());
    }
  }
  return bytes;
}

}  // namespace warpline
