// Blocks of memory, copies and fills.
#include "kernels/emu/memory.h"

#include <cstring>
#include <utility>
#include <vector>

#include "kernels/emu/check/checker.h"
#include "kernels/emu/cuda_runtime/state.h"
#include "kernels/emu/device_variables.h"

using warpline::cuda::Allocation;
using warpline::cuda::api;
using warpline::cuda::State;
using warpline::emu::kSharedWithHost;
using warpline::emu::Moment;
using warpline::emu::check::Checker;

namespace {

cudaError_t allocate(State& state, void** data, std::size_t bytes, Allocation allocation) {
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  void* const block = warpline::emu::device_memory(allocation.device).allocate(bytes);
  if (block == nullptr) return cudaErrorMemoryAllocation;
  allocation.bytes = bytes;
  if (warpline::cuda::checked()) {
    Checker& checker = Checker::instance();
    const std::lock_guard lock(checker.mutex());
    checker.claim(allocation.device, block, bytes);
    // The host writes there unseen.
    if (allocation.device == kSharedWithHost) checker.own_written(allocation.device, block, bytes);
  }
  state.add(block, allocation);
  *data = block;
  return cudaSuccess;
}

// As CUDA does: not before all work of the device is done; of every device, where all reach the block.
cudaError_t release(State& state, void* data, bool host) {
  if (data == nullptr) return cudaSuccess;
  const auto place = state.place_of(data);
  if (!place || place->offset != 0 || (place->allocation.type == cudaMemoryTypeHost) != host)
    return cudaErrorInvalidValue;
  const int device = place->allocation.device;
  for (int other = 0; other < state.devices(); ++other) {
    if (device != other && device != kSharedWithHost) continue;
    if (const cudaError_t error = state.synchronize(other); error != cudaSuccess) return error;
  }
  state.remove(data);
  if (warpline::cuda::checked()) {
    Checker& checker = Checker::instance();
    const std::lock_guard lock(checker.mutex());
    checker.disclaim(device, data, place->allocation.bytes);
  }
  warpline::emu::device_memory(device).release(data);
  return cudaSuccess;
}

// Where one end of a copy may lie: on the host, or within one block.
bool lies_whole(State& state, const void* data, std::size_t bytes) {
  if (warpline::emu::is_device_variable(data))
    return warpline::emu::is_device_variable(static_cast<const std::byte*>(data) + bytes - 1);
  if (warpline::emu::device_of(data) < 0) return data != nullptr;
  const auto place = state.place_of(data);
  return place && bytes <= place->allocation.bytes - place->offset;
}

bool is_host_only(const void* data) {
  return warpline::emu::device_of(data) < 0 && !warpline::emu::is_device_variable(data);
}

void tell_checks(const char* what, int device, const Moment& moment, const void* to, const void* from,
                 std::size_t bytes) {
  if (!warpline::cuda::checked()) return;
  Checker& checker = Checker::instance();
  const std::lock_guard lock(checker.mutex());
  checker.begin_work(what, device, moment);
  if (from != nullptr) checker.access({.address = from, .bytes = bytes, .aligned = false});
  checker.access({.address = to, .bytes = bytes, .writes = true, .aligned = false});
  checker.end_work(moment);
}

cudaError_t copy(State& state, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait) {
  CUstream_st* const found = state.find(stream);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0) return cudaSuccess;
  if (!lies_whole(state, to, bytes) || !lies_whole(state, from, bytes)) return cudaErrorInvalidValue;
  const int device = found->device;
  // An asynchronous copy from the host's ordinary memory has read it when it returns.
  const bool staged = !wait && is_host_only(from);
  const auto* const first = static_cast<const std::byte*>(from);
  auto kept = staged ? std::vector<std::byte>(first, first + bytes) : std::vector<std::byte>();
  state.put(*found, [=, kept = std::move(kept)](const Moment& moment) {
    tell_checks("a copy", device, moment, to, from, bytes);
    std::memmove(to, staged ? kept.data() : from, bytes);
  });
  // One to the host's ordinary memory has written it.
  if (wait || is_host_only(to)) return warpline::cuda::synchronize(*found);
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return api([&](State& state) {
    return allocate(state, data, bytes, {0, warpline::cuda::current_device(), cudaMemoryTypeDevice});
  });
}
cudaError_t cudaMallocManaged(void** data, std::size_t bytes, unsigned) {
  return api([&](State& state) {
    return allocate(state, data, bytes, {0, kSharedWithHost, cudaMemoryTypeManaged});
  });
}
cudaError_t cudaMallocHost(void** data, std::size_t bytes, unsigned) {
  return api([&](State& state) {
    return allocate(state, data, bytes, {0, kSharedWithHost, cudaMemoryTypeHost});
  });
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  return cudaMallocHost(data, bytes, flags);
}
cudaError_t cudaFree(void* data) {
  return api([&](State& state) { return release(state, data, false); });
}
cudaError_t cudaFreeHost(void* data) {
  return api([&](State& state) { return release(state, data, true); });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return api([&](State&) {
    const auto& memory = warpline::emu::device_memory(warpline::cuda::current_device());
    *total = memory.capacity();
    *free = memory.capacity() - memory.used();
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return api([&](State& state) { return copy(state, to, from, bytes, kind, nullptr, true); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return api([&](State& state) { return copy(state, to, from, bytes, kind, stream, false); });
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  return api([&](State& state) {
    CUstream_st* const found = state.find(stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    if (bytes == 0) return cudaSuccess;
    if (is_host_only(data) || !lies_whole(state, data, bytes)) return cudaErrorInvalidValue;
    state.put(*found, [=, device = found->device](const Moment& moment) {
      tell_checks("a fill", device, moment, data, nullptr, bytes);
      std::memset(data, value, bytes);
    });
    return cudaSuccess;
  });
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return cudaMemsetAsync(data, value, bytes, nullptr);
}

cudaError_t cudaMallocPitch(void** data, std::size_t* pitch, std::size_t width, std::size_t height) {
  constexpr std::size_t kRow = 512;  // of the GPUs of this compute capability
  *pitch = (width + kRow - 1) / kRow * kRow;
  return cudaMalloc(data, *pitch * height);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return api([&](State& state) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    for (std::size_t row = 0; row < height; ++row) {
      const cudaError_t error =
          copy(state, static_cast<std::byte*>(to) + row * to_pitch,
               static_cast<const std::byte*>(from) + row * from_pitch, width, kind, nullptr, true);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

// At once, and after what the stream holds.
cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t) { return cudaMalloc(data, bytes); }
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  return error != cudaSuccess ? error : cudaFree(data);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return api([&](State& state) {
    const auto place = state.place_of(host);
    if (!place || place->allocation.type != cudaMemoryTypeHost) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
