// The virtual device as CUDA describes devices. Only what the emulator keeps to is told as a limit; figures
// of speed are 0, for there are none.
#include <cstring>

#include "kernels/emu/cuda_runtime/state.h"
#include "kernels/emu/grid.h"
#include "kernels/emu/memory.h"

using warpline::cuda::api;
using warpline::cuda::State;

namespace {

bool exists(const State& state, int device) { return device >= 0 && device < state.devices(); }

cudaDeviceProp describe(int device) {
  cudaDeviceProp p{};
  std::strcpy(p.name, "warpline emulator");
  p.totalGlobalMem = warpline::emu::device_memory(device).capacity();
  p.sharedMemPerBlock = warpline::emu::kSharedBytesUnasked;
  p.sharedMemPerBlockOptin = p.sharedMemPerMultiprocessor = warpline::emu::kMostSharedBytes;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = p.maxThreadsPerMultiProcessor = 1024;
  p.maxBlocksPerMultiProcessor = 16;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 65536;
  p.major = 7;
  p.minor = 5;
  p.textureAlignment = 512;
  p.deviceOverlap = p.asyncEngineCount = 1;
  p.multiProcessorCount = State::instance().pool().size();
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = 1;
  p.pciBusID = device + 1;
  return p;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return api([&](State& state) {
    *count = state.devices();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return api([&](State& state) {
    if (!exists(state, device)) return cudaErrorInvalidDevice;
    warpline::cuda::use_device(device);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  *device = warpline::cuda::current_device();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api([&](State& state) {
    if (!exists(state, device)) return cudaErrorInvalidDevice;
    *properties = describe(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api([&](State& state) {
    if (!exists(state, device)) return cudaErrorInvalidDevice;
    const cudaDeviceProp p = describe(device);
    const struct {
      cudaDeviceAttr attribute;
      int value;
    } rows[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(p.sharedMemPerBlock)},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(p.sharedMemPerBlockOptin)},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, static_cast<int>(p.sharedMemPerMultiprocessor)},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrClockRate, p.clockRate},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrIntegrated, p.integrated},
        {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
        {cudaDevAttrComputeMode, p.computeMode},
        {cudaDevAttrConcurrentKernels, p.concurrentKernels},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrManagedMemory, p.managedMemory},
        {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
    };
    for (const auto& row : rows) {
      if (row.attribute != attribute) continue;
      *value = row.value;
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

// All are alike.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  *device = 0;
  return cudaSuccess;
}

// How a host thread waits, and what caches prefer, changes nothing here.
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
// No profiler is attached.
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

cudaError_t cudaDeviceSynchronize() {
  return api([](State& state) { return state.synchronize(warpline::cuda::current_device()); });
}
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

// Memory and streams of the device stay: a program that resets is about to end.
cudaError_t cudaDeviceReset() {
  const cudaError_t error = cudaDeviceSynchronize();
  State::instance().break_with(cudaSuccess);
  return error;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([&](State& state) {
    if (!exists(state, device) || !exists(state, peer)) return cudaErrorInvalidDevice;
    *can = 0;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return api([&](State& state) {
    return exists(state, peer) ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice;
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int) { return warpline::cuda::note(cudaErrorPeerAccessNotEnabled); }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
