// Backward through the recorded graph: no recursion, deterministic order (latest node first), gradients from
// outside, boundary inputs, and two halves. This is the seam on which a pipeline stage sits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/node.h"
#include "engine/tensor.h"

namespace warpline {

// Takes the gradient of a leaf, once a backward call, after the leaf's last contribution of that call.
// `gradient` is fresh: the sink may keep it.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  virtual void accept(Context& context, const Tensor& leaf, Tensor gradient) = 0;
};

// leaf.grad += gradient (or = where it has none): the default.
class AccumulateGrad final : public GradientSink {
 public:
  void accept(Context& context, const Tensor& leaf, Tensor gradient) override;
};

struct BackwardOptions {
  // Leaves whose gradients are returned, in this order, instead of going to the sink; undefined where none
  // arrived.
  std::vector<Tensor> boundary;
  GradientSink* sink = nullptr;  // null: AccumulateGrad
  bool retain_graph = false;
};

// gradients[i] belongs to outputs[i]; an undefined one is allowed for an output of one element and means 1.
// Throws AutogradError: no graph, freed saved tensors, a non-scalar without a gradient, a changed saved
// tensor.
std::vector<Tensor> backward(Context& context, const std::vector<Tensor>& outputs,
                             const std::vector<Tensor>& gradients, const BackwardOptions& options = {});

// The first half of a split backward: gradients of the boundary now, what parameters need kept for later.
// Zero-bubble schedules run the second half when they would otherwise wait (arXiv 2401.10241).
class PendingWeights {
 public:
  PendingWeights();
  ~PendingWeights();
  PendingWeights(PendingWeights&&) noexcept;
  PendingWeights& operator=(PendingWeights&&) noexcept;
  // Delivers every parameter gradient to the sink, frees the graph. Once (AutogradError).
  void run(Context& context, GradientSink* sink = nullptr);

 private:
  friend std::vector<Tensor> backward_input(Context&, const std::vector<Tensor>&, const std::vector<Tensor>&,
                                            const std::vector<Tensor>&, PendingWeights&);
  struct State;
  std::unique_ptr<State> state_;
};

std::vector<Tensor> backward_input(Context& context, const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& gradients, const std::vector<Tensor>& boundary,
                                   PendingWeights& pending);

// One line a node in backward order: "#12 conv2d <- #9, conv1.weight; saves 45.0 KiB".
std::string print_graph(const Tensor& output);
// Bytes that the graph below `output` keeps for backward; a storage counts once.
std::int64_t retained_bytes(const Tensor& output);

}  // namespace warpline
