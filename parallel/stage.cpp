#include "parallel/stage.h"

#include <utility>

#include "kernels/error.h"

namespace warpline::parallel {

Stage::Stage(Context& context, Sequential layers, bool input_wants_gradient, LossFunction loss)
    : context_(context),
      layers_(std::move(layers)),
      input_wants_gradient_(input_wants_gradient),
      loss_(loss) {}

Tensor Stage::forward(int micro, const Tensor& input) {
  Micro state;
  state.input = input.detach();
  if (input_wants_gradient_) state.input.set_requires_grad();
  state.output = layers_.forward(context_, state.input);
  Tensor seam = state.output.detach();
  micros_.insert_or_assign(micro, std::move(state));
  return seam;
}

double Stage::loss(int micro, const Tensor& target) {
  Micro& state = find(micro);
  state.output = loss_(context_, state.output, target);
  return state.output.item();
}

Tensor Stage::infer(const Tensor& input) {
  const NoGrad no_grad(context_);
  return layers_.forward(context_, input);
}

// A stage without parameters, behind others without any, has no graph and nothing to do.
Tensor Stage::backward(int micro, const Tensor& gradient, double seed, GradientSink& sink) {
  const Micro state = std::move(find(micro));
  micros_.erase(micro);
  if (!state.output.requires_grad()) return {};
  const Tensor start = start_of(state, gradient, seed);
  return warpline::backward(context_, {state.output}, {start}, {.boundary = {state.input}, .sink = &sink})[0];
}

Tensor Stage::backward_input(int micro, const Tensor& gradient, double seed) {
  Micro& state = find(micro);
  if (!state.output.requires_grad()) return {};
  const Tensor start = start_of(state, gradient, seed);
  Tensor input_gradient =
      warpline::backward_input(context_, {state.output}, {start}, {state.input}, state.pending)[0];
  state.input = Tensor();
  return input_gradient;
}

void Stage::backward_weight(int micro, GradientSink& sink) {
  Micro state = std::move(find(micro));
  micros_.erase(micro);
  if (state.output.requires_grad()) state.pending.run(context_, &sink);
}

Tensor Stage::start_of(const Micro& state, const Tensor& gradient, double seed) const {
  if (gradient.defined()) return gradient;
  return Tensor::full(context_, state.output.shape(), seed, state.output.dtype());
}

Stage::Micro& Stage::find(int micro) {
  const auto found = micros_.find(micro);
  if (found == micros_.end()) {
    fail<Failure>("stage", "micro-batch {} has not run forward, or has run backward already", micro);
  }
  return found->second;
}

}  // namespace warpline::parallel
