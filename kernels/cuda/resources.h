// What each CUDA kernel uses of a GPU, as ptxas told it while the build compiled the kernels of float32.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warpline::cuda {

struct KernelResources {
  std::string_view kernel;  // "max_kernel<float, BlockTeam>"
  int compute_capability;   // 80: 8.0
  int registers;            // a thread
  int shared_bytes;         // a block; static
  int spilled_bytes;        // a thread
  // Per cent of a multiprocessor's threads that find room, by the warps of a block less one. 0: such a block
  // does not fit.
  std::array<std::uint8_t, 32> occupancy;
};

// Empty where nvcc was not there.
const std::vector<KernelResources>& kernel_resources();

}  // namespace warpline::cuda
