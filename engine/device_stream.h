// A stream of a device with what it needs: a thread pool and scratch memory of its own, and the device's
// allocator. What is allocated on a stream keeps it alive.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/allocator.h"
#include "kernels/stream.h"
#include "kernels/thread_pool.h"

namespace warpline {

class DeviceStream {
 public:
  DeviceStream(Device device, int threads, std::shared_ptr<Allocator> allocator);
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  const Stream& stream() const { return stream_; }
  int threads() const { return pool_.size(); }
  const std::shared_ptr<Allocator>& allocator() const { return allocator_; }

  // Waits for the work on the stream; then throws what failed there, or what the first of the checks throws.
  void synchronize();
  // `check` reads an error flag that work on the stream has written, and throws: it is called by the next
  // synchronize(), on `ref` and `cpu`, whose work is done already, at once.
  void check_later(std::function<void()> check);
  // Checks keep their flags, and these this stream, alive: its context ends that.
  void forget_checks();

 private:
  std::shared_ptr<Allocator> allocator_;
  ThreadPool pool_;
  Scratch scratch_;
  Stream stream_;
  std::mutex mutex_;
  std::vector<std::function<void()>> checks_;
};

}  // namespace warpline
