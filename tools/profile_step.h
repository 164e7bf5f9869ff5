// What one training step of a model asks of a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/emu/profile/profile.h"

namespace warpline::tools {

// On one emulated device, with built-in digits and SGD with momentum: forward, backward and the update. Not
// the very first step, which makes the optimiser's buffers. Throws ValueError for an unknown model, or more
// images than there are.
std::vector<emu::profile::KernelProfile> profile_training_step(const std::string& model,
                                                               std::int64_t batch_size);

}  // namespace warpline::tools
