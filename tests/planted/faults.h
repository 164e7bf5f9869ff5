// Small kernels with one fault each, and the check that must name it.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/stream.h"

namespace warpline::test {

constexpr int kPlantedFloats = 1000;

struct PlantedFault {
  std::string_view name, check;
  // `in` holds numbers, `out` is unwritten; kPlantedFloats each. Without the fault: the same kernel, done
  // right.
  void (*run)(bool fault, const float* in, float* out, const Stream& stream);
};

const std::vector<PlantedFault>& planted_faults();

}  // namespace warpline::test
