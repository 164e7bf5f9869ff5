// Looks at a recorded graph: what it is made of, and the memory that it keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/node.h"

namespace warpline {

// Every node that the roots' gradients reach, each once, latest first: a topological order, since an op is
// recorded after its inputs. Without recursion; null roots are passed over.
std::vector<std::shared_ptr<Node>> nodes_below(const std::vector<std::shared_ptr<Node>>& roots);

// One line a node in backward order: "#12 conv2d <- #9, conv1.weight; saves 45.0 KiB". #1 is the earliest
// node of this graph.
std::string print_graph(const Tensor& output);

// Bytes that the graph below `output` keeps for backward, parameters that its nodes saved included. A storage
// counts once, and whole, even where only a view of it was saved.
std::int64_t retained_bytes(const Tensor& output);

}  // namespace warpline
