// Memory of one device. Caching: a freed block is kept and handed out again for a request of its size class,
// so a training step in steady state asks the system for nothing. Freed blocks, and what rounding adds behind
// the bytes asked for, are poisoned in builds that check memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/device.h"
#include "kernels/stream.h"

namespace warpline {

struct AllocatorStats {
  std::int64_t live_bytes = 0;       // as requested, not rounded
  std::int64_t peak_live_bytes = 0;  // since construction or reset_peak()
  std::int64_t live_blocks = 0;
  std::int64_t reserved_bytes = 0;      // held from the system, live and cached
  std::int64_t system_allocations = 0;  // how often the system was asked
};

// Thread-safe. Blocks are aligned to 64 bytes; zero bytes give a valid, unique block. A block belongs to the
// stream that it is allocated on, which may use it at once: whatever had the block before is put on that
// stream as well.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual void* allocate(std::size_t bytes, const Stream& stream) = 0;
  virtual void deallocate(void* data, std::size_t bytes, const Stream& stream) noexcept = 0;
  // The block is also used on `stream`: it must not be handed out again before that stream has passed the
  // point where it is deallocated.
  virtual void record_use(void* data, const Stream& stream) = 0;
  // The stream has ended: its blocks are anybody's.
  virtual void forget(const Stream& stream) noexcept = 0;
  virtual AllocatorStats stats() const = 0;
  virtual void reset_peak() = 0;
};

std::shared_ptr<Allocator> make_allocator(Device device);

}  // namespace warpline
