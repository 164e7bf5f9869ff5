// The networks that come with warpline: layers that any strategy can cut, the samples they read and the loss
// they are trained on. A new one is a file and a row in the table of model.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/nn/module.h"
#include "parallel/worker.h"

namespace warpline {

struct Model {
  Sequential layers;
  Shape sample_shape;           // [channels, height, width]
  parallel::LossFunction loss;  // target: class numbers, int64
  bool colour = false;          // reads the built-in colour digits
};

inline constexpr int kDefaultDepth = 8;

// depth counts for `vgg` only. ValueError: an unknown name (it lists those that exist), a depth outside 2
// to 24.
Model make_model(std::string_view name, int depth = kDefaultDepth);

Model make_net();
Model make_mlp();
Model make_vgg(int depth);

}  // namespace warpline
