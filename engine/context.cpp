#include "engine/context.h"

namespace warpline {

Context::Context(Device device, int threads)
    : stream_(std::make_shared<DeviceStream>(device, threads, make_allocator(device))) {}

Context::Context(const Context& parent, int threads)
    : random(parent.random),
      stream_(std::make_shared<DeviceStream>(parent.device(), threads, parent.allocator())),
      recording_(parent.recording_) {}

Context::~Context() { stream_->forget_checks(); }

}  // namespace warpline
