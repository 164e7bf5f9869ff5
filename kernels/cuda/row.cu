// Which team suits the rows of an op that works along one axis.
#include "kernels/cuda/device/row.h"
#include "kernels/cuda/kernels.h"

namespace warpline::kernels::WARPLINE_CUDA_TARGET {

// Lanes of a warp share a row in one load where its elements are close; from 32 apart on, neighbouring rows
// are what neighbouring threads should read.
bool rows_suit_warp(const void* args) {
  const auto& axis = *static_cast<const AxisArgs*>(args);
  return axis.inner < kWarp && axis.classes >= kLongForThread;
}

bool rows_suit_block(const void* args) {
  const auto& axis = *static_cast<const AxisArgs*>(args);
  return axis.inner < kWarp && axis.classes >= kLongForWarp;
}

}  // namespace warpline::kernels::WARPLINE_CUDA_TARGET
