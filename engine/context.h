// The execution context: what an op needs beside its tensors. It is passed along, never global, so each rank
// thread has its own device, thread pool, memory and gradient mode. One thread at a time uses a context.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/device_stream.h"
#include "kernels/device.h"

namespace warpline {

// Keys every random draw, so that no way of splitting the work shifts a stream of random numbers.
struct RandomKey {
  std::uint64_t seed = 1;
  std::int64_t step = 0;
  std::int64_t sample = 0;  // global index of the first sample of the micro-batch
};

class Context {
 public:
  explicit Context(Device device = {}, int threads = 1);
  // Same device and memory, own stream: for a second thread that works for the same rank.
  Context(const Context& parent, int threads);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Device device() const { return stream_->stream().device; }
  int threads() const { return stream_->threads(); }
  Stream stream() const { return stream_->stream(); }
  const std::shared_ptr<DeviceStream>& device_stream() const { return stream_; }
  // Waits for all work of this context, and throws what failed in it.
  void synchronize() { stream_->synchronize(); }
  const std::shared_ptr<Allocator>& allocator() const { return stream_->allocator(); }

  bool recording() const { return recording_; }  // do ops record nodes for backward?
  RandomKey random;

 private:
  friend class NoGrad;
  std::shared_ptr<DeviceStream> stream_;
  bool recording_ = true;
};

// While it lives, ops of this context record nothing.
class NoGrad {
 public:
  explicit NoGrad(Context& context) : context_(context), before_(context.recording_) {
    context_.recording_ = false;
  }
  ~NoGrad() { context_.recording_ = before_; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  Context& context_;
  bool before_;
};

}  // namespace warpline
