#include "engine/context.h"

namespace warpline {

Context::Context(Device device, int threads)
    : device_(device), pool_(threads), scratch_(threads), allocator_(make_host_allocator()) {}

Context::Context(const Context& parent, int threads)
    : random(parent.random),
      device_(parent.device_),
      pool_(threads),
      scratch_(threads),
      allocator_(parent.allocator_),
      recording_(parent.recording_) {}

}  // namespace warpline
