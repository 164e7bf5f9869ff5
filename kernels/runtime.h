// What a kind of device offers beside kernels: memory, streams, copies. `ref` and `cpu` do everything at
// once, in the host's memory; a device target does it in the order of its streams, later.
#pragma once

#include <cstddef>

#include "kernels/device.h"
#include "kernels/stream.h"

namespace warpline {

class Runtime {
 public:
  virtual ~Runtime() = default;

  // System memory, aligned to 64 bytes or more. Null: the device has no such block left. Its bytes are
  // nobody's.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void release(int device, void* data, std::size_t bytes) noexcept = 0;

  // A stream of its own for `Stream::native`, whose work may use the pool until it is closed.
  virtual void* open_stream(int device, ThreadPool* pool) = 0;
  virtual void close_stream(void* native) noexcept = 0;  // waits; what failed is not told

  // Waits for all that was put on the stream, and throws what failed there. A null native stream never has
  // work left.
  virtual void synchronize(const Stream& stream) = 0;
  // What is put on `later` from now on waits for what is on `earlier` now.
  virtual void wait(const Stream& later, const Stream& earlier) = 0;

  // In the order of the stream. `from` may be changed as soon as host_to_device has returned.
  virtual void host_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) = 0;
  virtual void device_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) = 0;
  virtual void zero(void* data, std::size_t bytes, const Stream& stream) = 0;
  // At once: whoever wrote the bytes has been waited for.
  virtual void device_to_host(void* to, const void* from, std::size_t bytes) = 0;

  // From this point of the stream on, these bytes of an allocated block have an owner (again), or none any
  // more: what builds that check memory make of it.
  virtual void claim(void* data, std::size_t bytes, const Stream& stream) = 0;
  virtual void disclaim(void* data, std::size_t bytes, const Stream& stream) noexcept = 0;
};

// Throws DeviceError for a kind that this build or this machine does not have.
Runtime& runtime(DeviceKind kind);

}  // namespace warpline
