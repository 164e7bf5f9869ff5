#include "engine/allocator.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kernels/error.h"
#include "kernels/runtime.h"

namespace warpline {
namespace {

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

const std::size_t kClasses = size_class(kMaxBytes).index + 1;

class CachingAllocator final : public Allocator {
 public:
  explicit CachingAllocator(Device device) : device_(device), runtime_(runtime(device.kind)) {}

  ~CachingAllocator() override { release_cached(); }

  void* allocate(std::size_t bytes, const Stream& stream) override {
    if (bytes > kMaxBytes) {
      fail<Failure>("memory", "a block has at most {} bytes: {} were asked for; check the shapes", kMaxBytes,
                    bytes);
    }
    const SizeClass size = size_class(bytes);
    const std::lock_guard lock(mutex_);
    void* data = take(size.index, stream.native);
    if (data == nullptr) data = take(size.index, nullptr);
    if (data == nullptr) data = ask_system(size);
    runtime_.claim(data, bytes, stream);
    stats_.live_bytes += static_cast<std::int64_t>(bytes);
    stats_.peak_live_bytes = std::max(stats_.peak_live_bytes, stats_.live_bytes);
    ++stats_.live_blocks;
    return data;
  }

  void deallocate(void* data, std::size_t bytes, const Stream& stream) noexcept override {
    const SizeClass size = size_class(bytes);
    const std::lock_guard lock(mutex_);
    if (const auto uses = uses_.find(data); uses != uses_.end()) {
      for (const Stream& other : uses->second) wait(stream, other);
      uses_.erase(uses);
    }
    runtime_.disclaim(data, size.bytes, stream);
    free_of(stream.native)[size.index].push_back(data);
    stats_.live_bytes -= static_cast<std::int64_t>(bytes);
    --stats_.live_blocks;
  }

  void record_use(void* data, const Stream& stream) override {
    if (stream.native == nullptr) return;  // its work is done already
    const std::lock_guard lock(mutex_);
    uses_[data].push_back(stream);
  }

  void forget(const Stream& stream) noexcept override {
    const std::lock_guard lock(mutex_);
    for (auto& [data, streams] : uses_)  // it has done what it was to do
      std::erase_if(streams, [&](const Stream& used) { return used.native == stream.native; });
    const auto found = free_.find(stream.native);
    if (found == free_.end()) return;
    auto& anybodys = free_of(nullptr);
    for (std::size_t index = 0; index < kClasses; ++index) {
      auto& blocks = found->second[index];
      anybodys[index].insert(anybodys[index].end(), blocks.begin(), blocks.end());
    }
    free_.erase(found);
  }

  AllocatorStats stats() const override {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peak() override {
    const std::lock_guard lock(mutex_);
    stats_.peak_live_bytes = stats_.live_bytes;
  }

 private:
  // By size class; the last freed is the first used again: it may still be in the cache.
  using FreeBlocks = std::vector<std::vector<void*>>;

  FreeBlocks& free_of(void* native) {
    FreeBlocks& blocks = free_[native];
    if (blocks.empty()) blocks.resize(kClasses);
    return blocks;
  }

  // A device that takes no more work has failed, and its next synchronisation says so.
  void wait(const Stream& later, const Stream& earlier) noexcept {
    try {
      runtime_.wait(later, earlier);
    } catch (const Error&) {
    }
  }

  void* take(std::size_t index, void* native) {
    FreeBlocks& free = free_of(native);
    if (free[index].empty()) return nullptr;
    void* data = free[index].back();
    free[index].pop_back();
    return data;
  }

  void* ask_system(const SizeClass& size) {
    void* data = runtime_.allocate(device_.index, size.bytes);
    if (data == nullptr) {
      release_cached();
      data = runtime_.allocate(device_.index, size.bytes);
    }
    if (data == nullptr) {
      fail<Failure>("memory",
                    "{} has no {} bytes left: {} are live in {} blocks; use a smaller batch or more "
                    "micro-batches",
                    to_string(device_), size.bytes, stats_.live_bytes, stats_.live_blocks);
    }
    // deallocate() must not fail: a stream's list has room for all blocks that there were when it was in use.
    const std::size_t total = ++totals_[size.index];
    for (auto& [native, free] : free_) {
      if (free[size.index].capacity() < total) free[size.index].reserve(2 * total);
    }
    ++stats_.system_allocations;
    stats_.reserved_bytes += static_cast<std::int64_t>(size.bytes);
    return data;
  }

  // Work that is still to run may use a cached block of its stream.
  void release_cached() {
    for (auto& [native, free] : free_) {
      runtime_.synchronize({device_, nullptr, nullptr, native});
      for (std::size_t bytes = 1, index = 0; index < kClasses; ++index) {
        const std::size_t block = size_class(bytes).bytes;
        for (void* data : free[index]) {
          runtime_.release(device_.index, data, block);
          stats_.reserved_bytes -= static_cast<std::int64_t>(block);
        }
        totals_[index] -= free[index].size();
        free[index].clear();
        bytes = block + 1;
      }
    }
  }

  const Device device_;
  Runtime& runtime_;
  mutable std::mutex mutex_;
  std::map<void*, FreeBlocks> free_;  // by native stream; null: anybody's
  std::vector<std::size_t> totals_ =
      std::vector<std::size_t>(kClasses);                // blocks held from the system, by size class
  std::unordered_map<void*, std::vector<Stream>> uses_;  // on other streams
  AllocatorStats stats_;
};

}  // namespace

std::shared_ptr<Allocator> make_allocator(Device device) {
  return std::make_shared<CachingAllocator>(device);
}

}  // namespace warpline
