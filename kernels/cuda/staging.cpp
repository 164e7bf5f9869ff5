#include "kernels/cuda/staging.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cuda/call.h"

namespace warpline::cuda {

void Staging::copy(void* to, const void* from, std::size_t bytes, const Stream& stream) {
  Buffer buffer = take(bytes, stream.device);
  std::memcpy(buffer.data, from, bytes);
  auto* const native = static_cast<cudaStream_t>(stream.native);
  // A buffer whose copy fails is given up: nobody can tell when it is free again.
  check(cudaMemcpyAsync(to, buffer.data, bytes, cudaMemcpyHostToDevice, native), "cudaMemcpyAsync",
        stream.device);
  check(cudaEventRecord(buffer.copied, native), "cudaEventRecord", stream.device);
  const std::lock_guard lock(mutex_);
  buffers_.push_back(buffer);
}

// The smallest that is free and large enough, else a new one; sizes are powers of two, so that batches of
// about one size share them.
Staging::Buffer Staging::take(std::size_t bytes, Device device) {
  {
    const std::lock_guard lock(mutex_);
    auto best = buffers_.end();
    for (auto buffer = buffers_.begin(); buffer != buffers_.end(); ++buffer) {
      if (buffer->device != device.index || buffer->bytes < bytes) continue;
      if (best != buffers_.end() && best->bytes <= buffer->bytes) continue;
      const cudaError_t status = cudaEventQuery(buffer->copied);
      if (status == cudaErrorNotReady) {
        cudaGetLastError();  // not an error, yet the next launch would tell it
        continue;
      }
      check(status, "cudaEventQuery", device);
      best = buffer;
    }
    if (best != buffers_.end()) {
      const Buffer taken = *best;
      buffers_.erase(best);
      return taken;
    }
  }
  Buffer buffer;
  buffer.bytes = std::bit_ceil(std::max<std::size_t>(bytes, 4096));
  buffer.device = device.index;
  check(cudaHostAlloc(&buffer.data, buffer.bytes, cudaHostAllocPortable), "cudaHostAlloc", device);
  check(cudaEventCreateWithFlags(&buffer.copied, cudaEventDisableTiming), "cudaEventCreateWithFlags", device);
  return buffer;
}

}  // namespace warpline::cuda
