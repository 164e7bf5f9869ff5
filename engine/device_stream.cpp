#include "engine/device_stream.h"

#include <utility>

#include "kernels/runtime.h"

namespace warpline {

DeviceStream::DeviceStream(Device device, int threads, std::shared_ptr<Allocator> allocator)
    : allocator_(std::move(allocator)),
      pool_(threads),
      scratch_(threads),
      stream_{device, &pool_, &scratch_, runtime(device.kind).open_stream(device.index, &pool_)} {}

DeviceStream::~DeviceStream() {
  if (stream_.native == nullptr) return;
  runtime(stream_.device.kind).close_stream(stream_.native);
  allocator_->forget(stream_);
}

void DeviceStream::synchronize() {
  runtime(stream_.device.kind).synchronize(stream_);
  std::vector<std::function<void()>> checks;
  {
    const std::lock_guard lock(mutex_);
    checks.swap(checks_);
  }
  for (const auto& check : checks) check();
}

void DeviceStream::check_later(std::function<void()> check) {
  if (stream_.native == nullptr) {
    check();
    return;
  }
  const std::lock_guard lock(mutex_);
  checks_.push_back(std::move(check));
}

void DeviceStream::forget_checks() {
  std::vector<std::function<void()>> checks;
  const std::lock_guard lock(mutex_);
  checks.swap(checks_);
}

}  // namespace warpline
