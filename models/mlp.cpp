// `mlp`: three dense layers, 784 -> 128 -> 64 -> 10, which end in logits.
#include <memory>

#include "engine/nn/flatten.h"
#include "engine/nn/linear.h"
#include "engine/nn/relu.h"
#include "models/logits.h"
#include "models/model.h"

namespace warpline {

Model make_mlp() {
  Sequential layers;
  layers.add("flatten", std::make_shared<Flatten>())
      .add("fc1", std::make_shared<Linear>(784, 128))
      .add("relu1", std::make_shared<ReLU>())
      .add("fc2", std::make_shared<Linear>(128, 64))
      .add("relu2", std::make_shared<ReLU>())
      .add("fc3", std::make_shared<Linear>(64, 10));
  return {.layers = layers, .sample_shape = {1, 28, 28}, .loss = cross_entropy_sum};
}

}  // namespace warpline
