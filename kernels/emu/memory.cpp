#include "kernels/emu/memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include <sys/mman.h>

#include "kernels/emu/environment.h"
#include "kernels/error.h"

namespace warpline::emu {

DeviceRange device_range;

namespace {

std::size_t round_up(std::size_t bytes) {
  return (bytes + DeviceMemory::kAlignment - 1) / DeviceMemory::kAlignment * DeviceMemory::kAlignment;
}

std::size_t wanted_capacity() { return number_from("WARPLINE_EMU_MEMORY", std::uint64_t{4} << 30, 4096); }

// One range for all devices, side by side.
class Devices {
 public:
  Devices() : capacity_(wanted_capacity() / kPage * kPage) {
    void* range =
        mmap(nullptr, kMemories * capacity_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) fail_to_reserve(kMemories * capacity_);
    base_ = static_cast<std::byte*>(range);
    device_range = {static_cast<const char*>(range), kDevices * capacity_};
  }
  ~Devices() { munmap(base_, kMemories * capacity_); }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  DeviceMemory& at(int index) {
    if (index == kSharedWithHost) {
      index = kDevices;
    } else if (index < 0 || index >= kDevices) {
      fail<DeviceError>("emu", "virtual devices are emu:0 to emu:{}: there is no emu:{}", kDevices - 1,
                        index);
    }
    const std::lock_guard lock(mutex_);
    std::unique_ptr<DeviceMemory>& memory = memories_[static_cast<std::size_t>(index)];
    if (!memory) {
      std::byte* const base = base_ + static_cast<std::size_t>(index) * capacity_;
      if (mprotect(base, capacity_, PROT_READ | PROT_WRITE) != 0) fail_to_reserve(capacity_);
      memory = std::make_unique<DeviceMemory>(base, capacity_);
    }
    return *memory;
  }

  int index_of(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    if (byte < base_ || byte >= base_ + kMemories * capacity_) return -1;
    const auto index = static_cast<int>(static_cast<std::size_t>(byte - base_) / capacity_);
    return index == kDevices ? kSharedWithHost : index;
  }

 private:
  static constexpr int kMemories = kDevices + 1;
  static constexpr std::size_t kPage = 4096;

  [[noreturn]] static void fail_to_reserve(std::size_t bytes) {
    fail<Failure>(
        "emu",
        "the host gives no {} bytes of addresses for virtual devices ({}); set WARPLINE_EMU_MEMORY to less",
        bytes, std::strerror(errno));
  }

  std::size_t capacity_;
  std::byte* base_ = nullptr;
  std::mutex mutex_;
  std::array<std::unique_ptr<DeviceMemory>, kMemories> memories_;
};

Devices& devices() {
  static Devices instance;
  return instance;
}

}  // namespace

DeviceMemory::DeviceMemory(std::byte* base, std::size_t bytes) : base_(base), bytes_(bytes) {
  free_[0] = bytes_;
}

void* DeviceMemory::allocate(std::size_t bytes) {
  if (bytes > bytes_) return nullptr;
  const std::size_t wanted = round_up(bytes + 1);
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return range.second >= wanted; });
  if (found == free_.end()) return nullptr;
  const auto [offset, size] = *found;
  free_.erase(found);
  if (size > wanted) free_[offset + wanted] = size - wanted;
  taken_[offset] = wanted;
  return base_ + offset;
}

bool DeviceMemory::release(void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(offset(data));
  if (found == taken_.end()) return false;
  auto [offset, size] = *found;
  taken_.erase(found);
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && after->first == offset + size) {
    size += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin() && std::prev(after)->first + std::prev(after)->second == offset) {
    std::prev(after)->second += size;
  } else {
    free_[offset] = size;
  }
  return true;
}

std::size_t DeviceMemory::used() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [offset, size] : taken_) bytes += size;
  return bytes;
}

DeviceMemory& device_memory(int index) { return devices().at(index); }

int device_of(const void* address) { return devices().index_of(address); }

}  // namespace warpline::emu
