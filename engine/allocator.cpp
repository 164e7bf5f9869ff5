#include "engine/allocator.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <vector>

#include "kernels/error.h"
#include "kernels/poison.h"

namespace warpline {
namespace {

constexpr std::size_t kAlignment = 64;
// A block above this is a mistake in a shape. Sanitizers, which end the program where the system would
// refuse, have the same limit.
constexpr std::size_t kMaxBytes = std::size_t{1} << 40;

// Four classes to each power of two from 256 bytes on (at most a quarter is lost to rounding), steps of 64
// below.
struct SizeClass {
  std::size_t index, bytes;
};

SizeClass size_class(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  if (bytes <= 256) {
    const std::size_t index = (bytes - 1) / 64;
    return {index, (index + 1) * 64};
  }
  const auto power =
      static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power+1)
  const std::size_t base = std::size_t{1} << power, step = base / 4;
  const std::size_t quarter = (bytes - 1 - base) / step;
  return {4 + (power - 8) * 4 + quarter, base + (quarter + 1) * step};
}

class HostAllocator final : public Allocator {
 public:
  HostAllocator() : classes_(size_class(kMaxBytes).index + 1) {}

  ~HostAllocator() override { release_cached(); }

  void* allocate(std::size_t bytes, const Stream&) override {
    if (bytes > kMaxBytes) {
      fail<Failure>("memory", "a block has at most {} bytes: {} were asked for; check the shapes", kMaxBytes,
                    bytes);
    }
    const SizeClass size = size_class(bytes);
    const std::lock_guard lock(mutex_);
    Class& blocks = classes_[size.index];
    void* data = nullptr;
    if (blocks.free.empty()) {
      data = ask_system(size.bytes);
      ++blocks.total;
      // deallocate() must not fail: there is always room for every block of the class.
      if (blocks.free.capacity() < blocks.total) blocks.free.reserve(2 * blocks.total);
    } else {
      data = blocks.free.back();
      blocks.free.pop_back();
    }
    unpoison(data, bytes);
    stats_.live_bytes += static_cast<std::int64_t>(bytes);
    stats_.peak_live_bytes = std::max(stats_.peak_live_bytes, stats_.live_bytes);
    ++stats_.live_blocks;
    return data;
  }

  void deallocate(void* data, std::size_t bytes) noexcept override {
    const SizeClass size = size_class(bytes);
    const std::lock_guard lock(mutex_);
    poison(data, size.bytes);
    classes_[size.index].free.push_back(data);
    stats_.live_bytes -= static_cast<std::int64_t>(bytes);
    --stats_.live_blocks;
  }

  // Host kernels have finished when they return, and communicators keep the storage of what they move.
  void record_use(void*, const Stream&) override {}

  AllocatorStats stats() const override {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peak() override {
    const std::lock_guard lock(mutex_);
    stats_.peak_live_bytes = stats_.live_bytes;
  }

 private:
  struct Class {
    std::vector<void*> free;  // last freed, first used again: it may still be in the cache
    std::size_t total = 0;    // blocks held from the system, live and free
  };

  void* ask_system(std::size_t bytes) {
    void* data = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (data == nullptr) {
      release_cached();
      data = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    }
    if (data == nullptr) {
      fail<Failure>("memory",
                    "the host has no {} bytes left: {} are live in {} blocks; use a smaller batch or more "
                    "micro-batches",
                    bytes, stats_.live_bytes, stats_.live_blocks);
    }
    poison(data, bytes);
    ++stats_.system_allocations;
    stats_.reserved_bytes += static_cast<std::int64_t>(bytes);
    return data;
  }

  void release_cached() {
    for (std::size_t bytes = 1, index = 0; index < classes_.size(); ++index) {
      const std::size_t block = size_class(bytes).bytes;
      Class& blocks = classes_[index];
      for (void* data : blocks.free) {
        unpoison(data, block);
        ::operator delete (data, std::align_val_t{kAlignment});
        stats_.reserved_bytes -= static_cast<std::int64_t>(block);
      }
      blocks.total -= blocks.free.size();
      blocks.free.clear();
      bytes = block + 1;
    }
  }

  mutable std::mutex mutex_;
  std::vector<Class> classes_;
  AllocatorStats stats_;
};

}  // namespace

std::shared_ptr<Allocator> make_host_allocator() { return std::make_shared<HostAllocator>(); }

}  // namespace warpline
