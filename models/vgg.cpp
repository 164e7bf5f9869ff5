// `vgg`: a plain stack of 3 x 3 convolutions for 3 x 32 x 32 images, for pipelines that want many stages of
// like cost (after Simonyan and Zisserman, arXiv 1409.1556). `depth` counts the layers that it can be cut
// into: depth - 1 blocks of convolution and ReLU, some of them with a max-pool, and the classifier.
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include "engine/nn/conv2d.h"
#include "engine/nn/flatten.h"
#include "engine/nn/linear.h"
#include "engine/nn/max_pool2d.h"
#include "engine/nn/relu.h"
#include "kernels/error.h"
#include "models/logits.h"
#include "models/model.h"

namespace warpline {
namespace {

constexpr int kMostDepth = 24;
constexpr int kLevels = 3;  // 32 x 32, 16 x 16, 8 x 8

std::shared_ptr<Module> conv_block(std::int64_t in, std::int64_t out, bool pool) {
  auto conv = std::make_shared<Conv2d>(in, out, Pair{3, 3}, Conv2dOptions{.padding = {1, 1}});
  // PyTorch's default shrinks what passes through a deep stack of ReLUs to nothing; this bound keeps its
  // variance (He, Zhang, Ren and Sun, arXiv 1502.01852, section 2.2).
  conv->parameters()[0]->init_bound = std::sqrt(6.0 / static_cast<double>(in * 9));
  conv->parameters()[1]->init_bound = 0.0;
  auto block = std::make_shared<Sequential>();
  block->add("conv", conv);
  block->add("relu", std::make_shared<ReLU>());
  if (pool) block->add("pool", std::make_shared<MaxPool2d>(MaxPool2dOptions{.kernel_size = {2, 2}}));
  return block;
}

}  // namespace

Model make_vgg(int depth) {
  if (depth < 2 || depth > kMostDepth) {
    fail<ValueError>("vgg", "its depth is 2 to {} layers; got {}", kMostDepth, depth);
  }
  Sequential layers;
  const int blocks = depth - 1;
  std::int64_t channels = 3, side = 32;
  for (int i = 0; i < blocks; ++i) {
    // Levels as even as they can be; twice the channels on each, at a quarter of the pixels, half the cost.
    const int level = i * kLevels / blocks;
    const bool last_of_level = (i + 1) * kLevels / blocks != level;
    const std::int64_t out = std::int64_t{16} << level;
    layers.add(fmt::format("block{}", i + 1), conv_block(channels, out, last_of_level));
    channels = out;
    if (last_of_level) side /= 2;
  }
  auto classifier = std::make_shared<Sequential>();
  classifier->add("flatten", std::make_shared<Flatten>());
  classifier->add("fc", std::make_shared<Linear>(channels * side * side, 10));
  layers.add("classifier", classifier);
  return {.layers = layers, .sample_shape = {3, 32, 32}, .loss = cross_entropy_sum, .colour = true};
}

}  // namespace warpline
