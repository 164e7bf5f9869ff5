// Pinned memory of the host that copies to a GPU start from. CUDA copies from ordinary memory either while
// the caller waits or at a time that it does not tell; with bytes of our own the caller goes on at once, and
// may change its own.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/stream.h"

namespace warpline::cuda {

// Thread-safe. Buffers are used again; there are about as many as copies were ever under way at the same
// time. They live as long as the process.
class Staging {
 public:
  void copy(void* to, const void* from, std::size_t bytes, const Stream& stream);

 private:
  struct Buffer {
    void* data = nullptr;
    std::size_t bytes = 0;
    int device = 0;  // of the event
    cudaEvent_t copied = nullptr;
  };
  Buffer take(std::size_t bytes, Device device);

  std::mutex mutex_;
  std::vector<Buffer> buffers_;  // their copies are done, or under way
};

}  // namespace warpline::cuda
