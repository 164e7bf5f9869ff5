// A whole model's tensors, collected from the ranks that hold them, and taken apart again. By full names, so
// that a state says nothing about the layout that wrote it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/nn/module.h"
#include "parallel/communicator.h"

namespace warpline {
class Optimizer;
}

namespace warpline::parallel {

// "conv1.weight", "optimizer.conv1.weight.momentum_buffer".
using State = std::map<std::string, Tensor>;
constexpr const char* kOptimizerPrefix = "optimizer.";

// What a rank holds. Handles: the tensors are not copied. The optimiser may be null.
State local_state(Context& context, const std::vector<Parameter*>& parameters, const Optimizer* optimizer);

// Collective. All the parts on rank 0, on its device; empty elsewhere. Ranks that have nothing of their own
// to say pass an empty part. ValueError where two ranks hold one name.
State gather_state(Context& context, Communicator& communicator, const State& part);

// Takes what belongs to these parameters and this optimiser from a whole state. ValueError, ShapeError or
// DTypeError naming the first tensor that is missing or does not fit; nothing is changed then.
void load_state(Context& context, const std::vector<Parameter*>& parameters, Optimizer* optimizer,
                const State& state);

}  // namespace warpline::parallel
