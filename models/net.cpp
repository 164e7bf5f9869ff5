// `net`: two convolutions and two dense layers, 431,080 parameters, the network of many an introduction to
// MNIST (after LeNet-5: LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document
// recognition", 1998).
#include <memory>

#include "engine/nn/conv2d.h"
#include "engine/nn/flatten.h"
#include "engine/nn/linear.h"
#include "engine/nn/log_softmax.h"
#include "engine/nn/max_pool2d.h"
#include "engine/nn/relu.h"
#include "engine/ops/nll_loss.h"
#include "models/model.h"

namespace warpline {
namespace {

Tensor nll_sum(Context& context, const Tensor& output, const Tensor& target) {
  return nll_loss(context, output, target, {}, {.reduction = Reduction::Sum});
}

}  // namespace

Model make_net() {
  const auto pool = [] { return std::make_shared<MaxPool2d>(MaxPool2dOptions{.kernel_size = {2, 2}}); };
  Sequential layers;
  layers
      .add("conv1", std::make_shared<Conv2d>(1, 20, Pair{5, 5}))  // 1 x 28 x 28 -> 20 x 24 x 24
      .add("pool1", pool())                                       // 20 x 12 x 12
      .add("relu1", std::make_shared<ReLU>())
      .add("conv2", std::make_shared<Conv2d>(20, 50, Pair{5, 5}))  // 50 x 8 x 8
      .add("pool2", pool())                                        // 50 x 4 x 4
      .add("relu2", std::make_shared<ReLU>())
      .add("flatten", std::make_shared<Flatten>())  // 800
      .add("fc1", std::make_shared<Linear>(800, 500))
      .add("relu3", std::make_shared<ReLU>())
      .add("fc2", std::make_shared<Linear>(500, 10))
      .add("log_softmax", std::make_shared<LogSoftmax>(1));
  return {.layers = layers, .sample_shape = {1, 28, 28}, .loss = nll_sum};
}

}  // namespace warpline
