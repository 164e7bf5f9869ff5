// The execution context: what an op needs beside its tensors. It is passed along, never global, so each rank
// thread has its own device, thread pool, memory and gradient mode. One thread at a time uses a context.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/allocator.h"
#include "kernels/device.h"
#include "kernels/stream.h"
#include "kernels/thread_pool.h"

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
  // Same device and memory, own pool and scratch: for a second thread that works for the same rank.
  Context(const Context& parent, int threads);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Device device() const { return device_; }
  int threads() const { return pool_.size(); }
  Stream stream() { return {device_, &pool_, &scratch_}; }
  const std::shared_ptr<Allocator>& allocator() const { return allocator_; }

  bool recording() const { return recording_; }  // do ops record nodes for backward?
  RandomKey random;

 private:
  friend class NoGrad;
  Device device_;
  ThreadPool pool_;
  Scratch scratch_;
  std::shared_ptr<Allocator> allocator_;
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
