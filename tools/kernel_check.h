// Whether a kernel's results are those of `ref`: no row is timed before that is known.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/kernel_problems.h"

namespace warpline::tools {

using Outputs = std::vector<std::vector<std::byte>>;  // one an operand; empty for what is no output

Outputs reference_outputs(const Problem& problem);

// Empty where they agree: floats within the problem's tolerance (infinities and NaN with their like only),
// all others exactly. Else what the first difference is.
std::string first_difference(const Problem& problem, const Outputs& actual, const Outputs& expected);

}  // namespace warpline::tools
