// What a CUDA program includes, and what tools/emu-nvcc includes before a .cu: the host's API and, in a .cu,
// the kernels' side. `__global__`, `__device__`,
// `__shared__` and their like are the tool's to rewrite.
#pragma once

// Programs look for the guards of CUDA's own headers.
#define __CUDA_RUNTIME_H__

#include "kernels/emu/cuda_runtime/cuda_runtime_api.h"
#include "kernels/emu/cuda_runtime/driver_types.h"
#include "kernels/emu/cuda_runtime/vector_types.h"

#ifdef __CUDACC__

#include <cstdio>
#include <ctime>

#include "kernels/emu/cuda_runtime/device_functions.h"
#include "kernels/emu/cuda_runtime/launch.h"
#include "kernels/emu/cuda_runtime/math_functions.h"

#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__

// The arguments are where CUDA has them: pointers to each, in order.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*function)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             warpline::emu::Site site = warpline::emu::Site::here(__builtin_FILE(),
                                                                                  __builtin_LINE())) {
  [[maybe_unused]] int i = 0;
  // Braces: evaluated from left to right.
  const auto configured = warpline::cuda::kernel(
      "(cudaLaunchKernel)", site, [=](auto visit) { return visit(function); },
      [=](const auto&... a) { function(a...); })(grid, block, shared_bytes, stream);
  struct InOrder {
    InOrder(const decltype(configured)& launch, Parameters... values) : error(launch(values...)) {}
    cudaError_t error;
  };
  return InOrder{configured, *static_cast<Parameters*>(arguments[i++])...}.error;
}
template <class T>
cudaError_t cudaLaunchKernel(const T*, dim3, dim3, void**, std::size_t = 0, cudaStream_t = nullptr) {
  static_assert(sizeof(T) == 0,
                "cudaLaunchKernel of a void*: its parameters are not known here; pass the kernel itself");
  return cudaErrorNotSupported;
}

#endif
