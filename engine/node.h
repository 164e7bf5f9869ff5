// A node remembers one op of the forward pass. Nodes are named types with explicit saved tensors: a graph
// prints, and the memory that a micro-batch retains can be counted. Every node has exactly one differentiable
// output.
//
// An op file reads as: check, allocate, call the kernel, record.
//
//   class MulNode final : public Node {
//    public:
//     MulNode(const Tensor& a, const Tensor& b) : a_(a), b_(b) {}
//     std::string_view name() const override { return "mul"; }
//     std::vector<Tensor> backward(Context& context, const Tensor& gradient,
//                                  const std::vector<bool>& wanted) override {
//       std::vector<Tensor> gradients(2);
//       if (wanted[0]) gradients[0] = mul(context, gradient, b_.get(name()));
//       if (wanted[1]) gradients[1] = mul(context, gradient, a_.get(name()));
//       return gradients;
//     }
//     std::vector<SavedTensor*> saved() override { return {&a_, &b_}; }
//    private:
//     SavedTensor a_, b_;
//   };
//
//   Tensor mul(Context& context, const Tensor& a, const Tensor& b) {
//     ... check, allocate y, call the kernel ...
//     record<MulNode>(context, y, {&a, &b}, save_if(b, a), save_if(a, b));
//     return y;
//   }
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace warpline {

// A tensor kept for backward, with the version that it had; without its history, so that a node may save its
// own output. get() throws AutogradError naming the op, the expected and the found version after an in-place
// change, and another one once release() was called.
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& tensor);  // an undefined tensor saves nothing
  const Tensor& get(std::string_view op) const;
  void check(std::string_view op) const;  // what get() checks
  bool defined() const { return tensor_.defined(); }
  std::int64_t bytes() const;                       // of the tensor; 0 where none is held
  const std::shared_ptr<Storage>& storage() const;  // of a defined one
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
  std::int64_t count = 0;  // elements of the input, hence of its gradient
  bool wants_gradient() const { return node != nullptr || leaf.defined(); }
};

class Node {
 public:
  Node();
  virtual ~Node();  // destroys a chain of a million nodes without recursion
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  virtual std::string_view name() const = 0;  // "conv2d"

  // gradient: of the output; read it only, others may hold it. wanted[i]: is the gradient of inputs()[i]
  // needed now? Input gradients and parameter gradients may be asked for in two calls, so result [i] must be
  // the same bits whatever else is wanted. Result [i] has the input's shape and is undefined where not
  // wanted: every backward overwrites, the engine accumulates (and copies what shares memory with anything
  // else). Runs without recording.
  virtual std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                                       const std::vector<bool>& wanted) = 0;

  virtual std::vector<SavedTensor*> saved() { return {}; }

  std::span<const Edge> inputs() const { return inputs_; }
  // One edge an input, in order. An undefined input (an omitted bias) or one without a gradient gets an edge
  // to nowhere.
  void set_inputs(std::span<const Tensor* const> tensors);

  // Backward is done with this node: releases what it saved, and, if that was anything, its edges, since a
  // second pass could not get through.
  void free_saved();

  std::int64_t sequence() const { return sequence_; }  // creation order within the process: later nodes first
  static std::int64_t live();

 private:
  std::vector<Edge> inputs_;
  std::int64_t sequence_;
};

// Must an op with these inputs be recorded? Undefined inputs count as wanting nothing.
bool records(const Context& context, std::initializer_list<const Tensor*> inputs);

// `saved` if `other` wants a gradient, else undefined: what a node saves for the gradient of `other` only.
inline Tensor save_if(const Tensor& other, const Tensor& saved) {
  return other.defined() && other.requires_grad() ? saved : Tensor();
}

// Gives `output` a node of type N, made from `arguments`, if the context records and an input wants a
// gradient; otherwise does nothing. An op calls it last: whatever it throws must be thrown before.
template <class N, class... A>
void record(Context& context, Tensor& output, std::initializer_list<const Tensor*> inputs, A&&... arguments) {
  if (!records(context, inputs)) return;
  auto node = std::make_shared<N>(std::forward<A>(arguments)...);
  node->set_inputs({inputs.begin(), inputs.size()});
  output.set_node(std::move(node));
}

}  // namespace warpline
