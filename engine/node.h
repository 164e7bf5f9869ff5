// A node remembers one op of the forward pass. Nodes are named types with explicit saved tensors: a graph
// prints, and the memory that a micro-batch retains can be counted. Every node has exactly one differentiable
// output.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/tensor.h"

namespace warpline {

// A tensor kept for backward, with the version that it had. get() throws AutogradError naming the op, the
// expected and the found version after an in-place change, and another one once release() was called.
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& tensor);
  const Tensor& get(std::string_view op) const;
  bool defined() const { return tensor_.defined(); }
  std::int64_t bytes() const;
  void release();

 private:
  Tensor tensor_;
  std::uint64_t version_ = 0;
  bool released_ = false;
};

// Where a gradient goes: to the node that made the input, or to a leaf that requires it, or nowhere.
struct Edge {
  std::shared_ptr<Node> node;
  Tensor leaf;
  bool wants_gradient() const { return node != nullptr || leaf.defined(); }
};

class Node {
 public:
  Node();
  virtual ~Node();  // destroys a chain of a million nodes without recursion
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  virtual std::string_view name() const = 0;  // "conv2d"

  // gradient: of the output. wanted[i]: is the gradient of inputs()[i] needed now? (Input gradients and
  // parameter gradients may be asked for in two calls.) Result [i] is a fresh tensor, undefined where not
  // wanted: every backward overwrites, the engine accumulates.
  virtual std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                                       const std::vector<bool>& wanted) = 0;

  virtual std::vector<SavedTensor*> saved() = 0;

  std::span<const Edge> inputs() const { return inputs_; }
  void set_inputs(std::span<const Tensor* const> tensors);  // one edge an input, in order

  std::int64_t sequence() const { return sequence_; }  // creation order within the process: later nodes first
  static std::int64_t live();

 private:
  std::vector<Edge> inputs_;
  std::int64_t sequence_;
};

}  // namespace warpline
