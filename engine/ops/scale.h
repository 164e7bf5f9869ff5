// A tensor times a number.
#pragma once

#include "engine/tensor.h"

namespace warpline {

Tensor scale(Context& context, const Tensor& input, double alpha);

}  // namespace warpline
