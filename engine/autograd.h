// Backward through the recorded graph: no recursion, deterministic order (latest node first), gradients from
// outside, boundary inputs, and two halves. This is the seam on which a pipeline stage sits.
#pragma once

#include <memory>
#include <vector>

#include "engine/node.h"
#include "engine/tensor.h"

namespace warpline {

// Takes the gradient of a leaf, once a backward call, after the leaf's last contribution of that call and as
// early as that is known. `gradient` shares memory with nothing: the sink may keep or change it. This is
// where per-parameter hooks live: a sink that fills buckets, clips or counts is a hook on every leaf, and
// leaf.name() or leaf.same_as() tells which one it is.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  virtual void accept(Context& context, const Tensor& leaf, Tensor gradient) = 0;
};

// leaf.grad += gradient, in place (or = where it has none): the default.
class AccumulateGrad final : public GradientSink {
 public:
  void accept(Context& context, const Tensor& leaf, Tensor gradient) override;
};

struct BackwardOptions {
  // Leaves whose gradients are returned, in this order, instead of going to the sink; undefined where none
  // arrived. One that needs no gradient (an integer tensor, the network's input) may be listed.
  std::vector<Tensor> boundary;
  GradientSink* sink = nullptr;  // null: AccumulateGrad
  bool retain_graph = false;
};

// gradients[i] belongs to outputs[i]; an undefined one is allowed for an output of one element and means 1;
// an empty list means that of all. Gradients of an output that is listed twice, or reached from another one,
// add up. Throws AutogradError: no graph, freed saved tensors, a non-scalar without a gradient, a changed
// saved tensor; all of these before any gradient is computed.
std::vector<Tensor> backward(Context& context, const std::vector<Tensor>& outputs,
                             const std::vector<Tensor>& gradients, const BackwardOptions& options = {});

// The second half of a split backward: what parameters still need. Zero-bubble schedules run it when they
// would otherwise wait (arXiv 2401.10241). Both halves together give the bits of one whole backward.
// Destroying it without run() gives the parameters' gradients up.
class PendingWeights {
 public:
  PendingWeights();
  ~PendingWeights();
  PendingWeights(PendingWeights&&) noexcept;
  PendingWeights& operator=(PendingWeights&&) noexcept;
  // Delivers every parameter gradient to the sink (null: AccumulateGrad) and frees the graph. Once
  // (AutogradError).
  void run(Context& context, GradientSink* sink = nullptr);

 private:
  friend std::vector<Tensor> backward_input(Context&, const std::vector<Tensor>&, const std::vector<Tensor>&,
                                            const std::vector<Tensor>&, PendingWeights&);
  struct State;
  std::unique_ptr<State> state_;
};

// The first half: computes the gradients of the boundary, and only what those need. What is left goes to
// `pending`, which must hold nothing yet (AutogradError). Otherwise as backward().
std::vector<Tensor> backward_input(Context& context, const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& gradients, const std::vector<Tensor>& boundary,
                                   PendingWeights& pending);

}  // namespace warpline
