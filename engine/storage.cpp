#include "engine/storage.h"

#include <atomic>
#include <utility>

namespace warpline {
namespace {
std::atomic<std::int64_t> live_storages{0};
}  // namespace

Storage::Storage(std::shared_ptr<Allocator> allocator, std::size_t bytes, const Stream& stream)
    : allocator_(std::move(allocator)),
      data_(allocator_->allocate(bytes, stream)),
      bytes_(bytes),
      device_(stream.device) {
  live_storages.fetch_add(1, std::memory_order_relaxed);
}

Storage::~Storage() {
  allocator_->deallocate(data_, bytes_);
  live_storages.fetch_sub(1, std::memory_order_relaxed);
}

std::int64_t Storage::live() { return live_storages.load(std::memory_order_relaxed); }

}  // namespace warpline
