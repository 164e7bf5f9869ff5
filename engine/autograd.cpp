#include "engine/autograd.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/checks.h"
#include "engine/graph.h"
#include "engine/inplace.h"
#include "engine/transfer.h"
#include "kernels/error.h"

namespace warpline {
namespace {

// The sum of the gradients that arrive at one place. A tensor that anybody else may still read, such as the
// gradient that a sibling branch got as well, is copied before it is added to or given away for good.
class GradientSum {
 public:
  void add(Context& context, Tensor gradient) {
    if (!gradient.defined()) return;
    if (!sum_.defined()) {
      sum_ = std::move(gradient);
      return;
    }
    own(context);
    add_into(context, sum_, gradient);
  }
  // To read only.
  const Tensor& sum() const { return sum_; }
  void clear() { sum_ = Tensor(); }
  // To keep or change.
  Tensor take(Context& context) {
    if (sum_.defined()) own(context);
    return std::exchange(sum_, Tensor());
  }

 private:
  void own(Context& context) {
    if (!sum_.sole_owner()) sum_ = copy_to(context, sum_);
  }
  Tensor sum_;
};

void check_outputs(Context& context, const std::vector<Tensor>& outputs,
                   const std::vector<Tensor>& gradients) {
  if (!gradients.empty() && gradients.size() != outputs.size()) {
    fail<AutogradError>("backward", "each output has one gradient: {} outputs, {} gradients", outputs.size(),
                        gradients.size());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    check_same_device("backward", context, {{"output", output}});
    if (!output.requires_grad()) {
      fail<AutogradError>("backward",
                          "output {} has no graph: no input of the ops that made {} required a gradient, or "
                          "they ran under NoGrad",
                          i, describe(output));
    }
    if (!gradients.empty() && gradients[i].defined()) {
      check_same("backward", context, {"output", output}, {"its gradient", gradients[i]});
    } else if (output.count() != 1) {
      fail<AutogradError>("backward",
                          "output {} of shape {} needs a gradient: only an output of one element has 1 as a "
                          "default; pass a gradient or sum the output",
                          i, to_string(output.shape()));
    }
  }
}

// One walk over a graph, whole or in two halves. Nodes are visited latest first and their edges in order; a
// node or leaf gets all its contributions within one half. So both ways add the same numbers in the same
// order.
class Pass {
 public:
  Pass(Context& context, const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients,
       const std::vector<Tensor>& boundary) {
    check_outputs(context, outputs, gradients);
    std::vector<std::shared_ptr<Node>> roots;
    for (const Tensor& output : outputs) roots.push_back(output.node());
    std::vector<std::shared_ptr<Node>> nodes = nodes_below(roots);
    for (const std::shared_ptr<Node>& node : nodes) {
      for (const SavedTensor* saved : node->saved()) saved->check(node->name());
    }
    for (std::shared_ptr<Node>& node : nodes) {
      step_of_.emplace(node.get(), steps_.size());
      for (const Edge& edge : node->inputs()) {
        if (edge.leaf.defined()) ++leaf_of(edge.leaf).missing;
      }
      steps_.push_back({std::move(node), {}, false});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Tensor gradient = gradients.empty() ? Tensor() : gradients[i];
      if (!gradient.defined()) gradient = Tensor::full(context, outputs[i].shape(), 1.0, outputs[i].dtype());
      sum_of(outputs[i]).add(context, std::move(gradient));
    }
    for (const Tensor& tensor : boundary) {
      boundary_.push_back(tensor);
      if (!tensor.defined() || !tensor.requires_grad()) continue;
      if (!tensor.is_leaf()) {
        fail<AutogradError>("backward",
                            "a boundary is made of leaves: {} is the result of {}; detach() it before the "
                            "forward pass",
                            describe(tensor), tensor.node()->name());
      }
      if (std::exchange(leaf_of(tensor).boundary, true)) {
        fail<AutogradError>("backward", "a boundary lists each leaf once: {} is there twice",
                            describe(tensor));
      }
    }
  }

  void run_whole(Context& context, GradientSink& sink, bool retain_graph) {
    deliver_complete(context, sink);
    for (Step& step : steps_) {
      run(context, step, wanted(step, [](const Edge&) { return true; }), &sink);
      step.gradient.clear();
      if (!retain_graph) finish(step);
    }
  }

  // Nodes from which the boundary is reached, asked for what leads there. Keeps what the rest needs.
  void run_input_half(Context& context) {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {  // earliest first: inputs before users
      for (const Edge& edge : step->node->inputs()) step->to_boundary |= to_boundary(edge);
    }
    for (Step& step : steps_) {
      if (!step.to_boundary) continue;
      run(context, step, wanted(step, [this](const Edge& edge) { return to_boundary(edge); }), nullptr);
      if (!needed_later(step)) {
        step.gradient.clear();
        finish(step);
      }
    }
  }

  // After run_input_half: the rest. Frees the graph as it goes.
  void run_weight_half(Context& context, GradientSink& sink) {
    deliver_complete(context, sink);
    for (Step& step : steps_) {
      if (step.node == nullptr) continue;
      run(context, step, wanted(step, [this](const Edge& edge) { return !to_boundary(edge); }), &sink);
      step.gradient.clear();
      finish(step);
    }
  }

  // Also lets go of the boundary: a pending second half keeps only what it still needs.
  std::vector<Tensor> take_boundary_gradients(Context& context) {
    std::vector<Tensor> gradients;
    for (const Tensor& tensor : std::exchange(boundary_, {})) {
      const bool wanted = tensor.defined() && tensor.requires_grad();
      gradients.push_back(wanted ? leaf_of(tensor).gradient.take(context) : Tensor());
    }
    for (Leaf& leaf : leaves_) {
      if (leaf.boundary) leaf.tensor = Tensor();
    }
    return gradients;
  }

 private:
  struct Step {
    std::shared_ptr<Node> node;  // null once a split backward is through with it
    GradientSum gradient;
    bool to_boundary;
  };
  struct Leaf {
    Tensor tensor;
    GradientSum gradient;
    std::int64_t missing = 0;  // edges that have not delivered yet
    bool boundary = false;
  };

  Leaf& leaf_of(const Tensor& tensor) {
    const auto [entry, added] = leaf_index_.emplace(tensor.impl(), leaves_.size());
    if (added) leaves_.push_back({tensor, {}, 0, false});
    return leaves_[entry->second];
  }
  GradientSum& sum_of(const Tensor& output) {
    return output.is_leaf() ? leaf_of(output).gradient : steps_[step_of_.at(output.node().get())].gradient;
  }

  // Does the gradient along this edge belong to the first half?
  bool to_boundary(const Edge& edge) {
    if (edge.node != nullptr) return steps_[step_of_.at(edge.node.get())].to_boundary;
    return edge.leaf.defined() && leaf_of(edge.leaf).boundary;
  }
  bool needed_later(const Step& step) {
    return std::ranges::any_of(step.node->inputs(), [this](const Edge& edge) {
      return edge.wants_gradient() && !to_boundary(edge);
    });
  }
  template <class Predicate>
  static std::vector<bool> wanted(const Step& step, Predicate predicate) {
    std::vector<bool> mask;
    for (const Edge& edge : step.node->inputs()) mask.push_back(edge.wants_gradient() && predicate(edge));
    return mask;
  }

  void run(Context& context, Step& step, const std::vector<bool>& mask, GradientSink* sink) {
    Node& node = *step.node;
    std::vector<Tensor> results(mask.size());
    if (step.gradient.sum().defined() && std::ranges::find(mask, true) != mask.end()) {
      results = node.backward(context, step.gradient.sum(), mask);
      if (results.size() != mask.size()) {
        fail<Failure>(node.name(), "backward made {} gradients for {} inputs", results.size(), mask.size());
      }
    }
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (!mask[i]) continue;
      const Edge& edge = node.inputs()[i];
      Tensor gradient = std::exchange(results[i], Tensor());
      if (gradient.defined() && gradient.count() != edge.count) {
        fail<Failure>(node.name(), "backward made a gradient of shape {} for input {}, which has {} elements",
                      to_string(gradient.shape()), i, edge.count);
      }
      if (edge.node != nullptr) {
        steps_[step_of_.at(edge.node.get())].gradient.add(context, std::move(gradient));
        continue;
      }
      Leaf& leaf = leaf_of(edge.leaf);
      leaf.gradient.add(context, std::move(gradient));
      if (--leaf.missing == 0) deliver(context, leaf, sink);
    }
  }

  void deliver(Context& context, Leaf& leaf, GradientSink* sink) {
    if (leaf.boundary || !leaf.gradient.sum().defined()) return;
    sink->accept(context, leaf.tensor, leaf.gradient.take(context));
  }
  // Outputs that are leaves themselves and get nothing else.
  void deliver_complete(Context& context, GradientSink& sink) {
    for (Leaf& leaf : leaves_) {
      if (leaf.missing == 0) deliver(context, leaf, &sink);
    }
  }

  static void finish(Step& step) {
    step.node->free_saved();
    step.node.reset();
  }

  std::vector<Step> steps_;  // latest first
  std::unordered_map<const Node*, std::size_t> step_of_;
  std::vector<Leaf> leaves_;
  std::unordered_map<const TensorImpl*, std::size_t> leaf_index_;
  std::vector<Tensor> boundary_;
};

GradientSink& or_default(GradientSink* sink) {
  static AccumulateGrad accumulate;  // stateless
  return sink == nullptr ? accumulate : *sink;
}

}  // namespace

void AccumulateGrad::accept(Context& context, const Tensor& leaf, Tensor gradient) {
  Tensor target = leaf;
  Tensor sum = leaf.grad();
  if (sum.defined()) {
    add_into(context, sum, gradient);
  } else {
    target.set_grad(std::move(gradient));
  }
}

std::vector<Tensor> backward(Context& context, const std::vector<Tensor>& outputs,
                             const std::vector<Tensor>& gradients, const BackwardOptions& options) {
  const NoGrad no_grad(context);
  Pass pass(context, outputs, gradients, options.boundary);
  pass.run_whole(context, or_default(options.sink), options.retain_graph);
  return pass.take_boundary_gradients(context);
}

struct PendingWeights::State {
  Pass pass;
};

PendingWeights::PendingWeights() = default;
PendingWeights::~PendingWeights() = default;
PendingWeights::PendingWeights(PendingWeights&&) noexcept = default;
PendingWeights& PendingWeights::operator=(PendingWeights&&) noexcept = default;

void PendingWeights::run(Context& context, GradientSink* sink) {
  if (state_ == nullptr) {
    fail<AutogradError>("backward",
                        "no weight gradients are pending: run() works once for each "
                        "backward_input()");
  }
  const NoGrad no_grad(context);
  const std::unique_ptr<State> state = std::move(state_);  // freed on the way out, whatever a sink throws
  state->pass.run_weight_half(context, or_default(sink));
}

std::vector<Tensor> backward_input(Context& context, const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& gradients, const std::vector<Tensor>& boundary,
                                   PendingWeights& pending) {
  if (pending.state_ != nullptr) {
    fail<AutogradError>("backward",
                        "weight gradients of another backward_input() are still pending: run() "
                        "them first");
  }
  const NoGrad no_grad(context);
  auto state = std::make_unique<PendingWeights::State>(
      PendingWeights::State{Pass(context, outputs, gradients, boundary)});
  state->pass.run_input_half(context);
  std::vector<Tensor> result = state->pass.take_boundary_gradients(context);
  pending.state_ = std::move(state);
  return result;
}

}  // namespace warpline
