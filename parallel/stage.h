// A run of layers that one rank holds, and what its micro-batches keep alive between forward and backward.
// A stage sees tensors from the stage before and gradients from the one behind; it talks to nobody.
#pragma once

#include <map>

#include "engine/autograd.h"
#include "engine/nn/module.h"

namespace warpline::parallel {

// Sum, not mean, over the samples of a block: one element.
using LossFunction = Tensor (*)(Context& context, const Tensor& output, const Tensor& target);

class Stage {
 public:
  // input_wants_gradient: a layer before this stage has parameters. loss: of the last stage, else null.
  Stage(Context& context, Sequential layers, bool input_wants_gradient, LossFunction loss);

  const Sequential& layers() const { return layers_; }

  // Keeps what backward needs. The result is without history: the seam between stages.
  Tensor forward(int micro, const Tensor& input);
  // Last stage, after forward: the block's loss, from which its backward then starts.
  double loss(int micro, const Tensor& target);
  // Keeps nothing.
  Tensor infer(const Tensor& input);

  // The gradient of the input, undefined where it wants none. `gradient` is that of the output, or undefined
  // on the last stage, where `seed` is that of the loss. The micro-batch holds no memory afterwards; the
  // first half of a split backward leaves it to the second.
  Tensor backward(int micro, const Tensor& gradient, double seed, GradientSink& sink);
  Tensor backward_input(int micro, const Tensor& gradient, double seed);
  void backward_weight(int micro, GradientSink& sink);

  std::size_t live() const { return micros_.size(); }  // micro-batches that hold memory

 private:
  struct Micro {
    Tensor input, output;  // the output is the loss once that was computed
    PendingWeights pending;
  };
  Micro& find(int micro);
  Tensor start_of(const Micro& state, const Tensor& gradient, double seed) const;

  Context& context_;
  Sequential layers_;
  bool input_wants_gradient_;
  LossFunction loss_;
  std::map<int, Micro> micros_;
};

}  // namespace warpline::parallel
