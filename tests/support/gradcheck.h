// Gradients of an op against central differences, in float64 on `ref`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace warpline::test {

struct GradcheckInput {
  std::vector<double> values;
  Shape shape;
};

using GradcheckFunction = std::function<Tensor(Context&, const std::vector<Tensor>&)>;

// "" where, for a fixed outside gradient, the gradient of every element of every input agrees with the
// central difference, and each input's gradient has the same bits when it alone is wanted. Otherwise what
// differs. Prints how many elements were compared. `f` must be smooth within 1e-4 of the inputs.
std::string gradcheck(const std::string& name, const GradcheckFunction& f,
                      const std::vector<GradcheckInput>& inputs);

// "" where the node that made `output` computes the gradients that are wanted and no other, for every subset
// of the inputs that have one.
std::string wanted_check(Context& context, const Tensor& output);

}  // namespace warpline::test
