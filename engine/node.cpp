#include "engine/node.h"

#include <algorithm>
#include <atomic>

#include "kernels/error.h"

namespace warpline {
namespace {

std::atomic<std::int64_t> next_sequence{1};
std::atomic<std::int64_t> live_nodes{0};

// Nodes whose last owner has gone, while an outer call on this thread's stack destroys one of them.
using Doomed = std::vector<std::shared_ptr<Node>>;
thread_local Doomed* doomed = nullptr;

// Gives up edges. Without this a chain would be destroyed by recursion, a stack frame or more a node.
void drop(std::vector<Edge> edges) {
  Doomed mine;
  const bool outermost = doomed == nullptr;
  if (outermost) doomed = &mine;
  for (Edge& edge : edges) {
    if (edge.node != nullptr) doomed->push_back(std::move(edge.node));
  }
  if (!outermost) return;
  while (!mine.empty()) {
    const std::shared_ptr<Node> next = std::move(mine.back());
    mine.pop_back();
  }
  doomed = nullptr;
}

}  // namespace

SavedTensor::SavedTensor(const Tensor& tensor) {
  if (!tensor.defined()) return;
  tensor_ = tensor.detach();
  version_ = tensor.storage()->version();
}

void SavedTensor::check(std::string_view op) const {
  if (released_) {
    fail<AutogradError>("autograd",
                        "backward through {} a second time: its saved tensors were freed by the first; pass "
                        "retain_graph to the first backward, or run the forward pass again",
                        op);
  }
  if (!tensor_.defined()) return;
  const std::uint64_t found = tensor_.storage()->version();
  if (found != version_) {
    fail<AutogradError>("autograd",
                        "{} needs a tensor of shape {} that was changed in place since: version {} was "
                        "saved, version {} found; change a copy, or after backward",
                        op, to_string(tensor_.shape()), version_, found);
  }
}

const Tensor& SavedTensor::get(std::string_view op) const {
  check(op);
  return tensor_;
}

std::int64_t SavedTensor::bytes() const { return tensor_.defined() ? tensor_.bytes() : 0; }

const std::shared_ptr<Storage>& SavedTensor::storage() const { return tensor_.storage(); }

void SavedTensor::release() {
  tensor_ = Tensor();
  released_ = true;
}

Node::Node() : sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)) {
  live_nodes.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() {
  live_nodes.fetch_sub(1, std::memory_order_relaxed);
  drop(std::move(inputs_));
}

void Node::set_inputs(std::span<const Tensor* const> tensors) {
  inputs_.clear();
  inputs_.reserve(tensors.size());
  for (const Tensor* tensor : tensors) {
    Edge edge;
    if (tensor->defined()) {
      edge.count = tensor->count();
      edge.node = tensor->node();
      if (edge.node == nullptr && tensor->requires_grad()) edge.leaf = *tensor;
    }
    inputs_.push_back(std::move(edge));
  }
}

void Node::free_saved() {
  const std::vector<SavedTensor*> tensors = saved();
  if (std::ranges::none_of(tensors, [](const SavedTensor* tensor) { return tensor->defined(); })) return;
  for (SavedTensor* tensor : tensors) tensor->release();
  drop(std::exchange(inputs_, {}));
}

std::int64_t Node::live() { return live_nodes.load(std::memory_order_relaxed); }

bool records(const Context& context, std::initializer_list<const Tensor*> inputs) {
  return context.recording() && std::ranges::any_of(inputs, [](const Tensor* tensor) {
           return tensor->defined() && tensor->requires_grad();
         });
}

}  // namespace warpline
