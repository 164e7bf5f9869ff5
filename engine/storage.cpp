#include "engine/storage.h"

#include <atomic>
#include <utility>

namespace warpline {
namespace {
std::atomic<std::int64_t> live_storages{0};
}  // namespace

Storage::Storage(std::shared_ptr<DeviceStream> stream, std::size_t bytes)
    : stream_(std::move(stream)), data_(allocator().allocate(bytes, stream_->stream())), bytes_(bytes) {
  live_storages.fetch_add(1, std::memory_order_relaxed);
}

Storage::~Storage() {
  allocator().deallocate(data_, bytes_, stream_->stream());
  live_storages.fetch_sub(1, std::memory_order_relaxed);
}

std::int64_t Storage::live() { return live_storages.load(std::memory_order_relaxed); }

}  // namespace warpline
