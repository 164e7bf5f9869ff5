// Makes an error of each call of CUDA's that fails. For the host's side of target `cuda` only.
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

#include "kernels/device.h"

namespace warpline::cuda {

// Failure: "[cuda] cudaMalloc on cuda:1: out of memory (cudaErrorMemoryAllocation); ...".
[[noreturn]] void fail_call(cudaError_t status, std::string_view call, Device device);

inline void check(cudaError_t status, std::string_view call, Device device) {
  if (status != cudaSuccess) fail_call(status, call, device);
}

// Most calls mean the calling thread's current device. Ranks are threads, each with a device of its own.
inline void make_current(Device device) { check(cudaSetDevice(device.index), "cudaSetDevice", device); }

}  // namespace warpline::cuda
