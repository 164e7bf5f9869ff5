// The memory of a virtual device: one range of addresses, so that an address tells its device. Its pages cost
// nothing until they are touched.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace warpline::emu {

// Thread-safe.
class DeviceMemory {
 public:
  DeviceMemory(std::byte* base, std::size_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Aligned to 256 bytes, as cudaMalloc's blocks, with a gap behind. Null: no such block is left.
  void* allocate(std::size_t bytes);
  // False: no block begins there.
  bool release(void* data);

  const void* begin() const { return base_; }
  std::size_t capacity() const { return bytes_; }
  std::size_t used() const;
  std::size_t offset(const void* address) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_);
  }

  static constexpr std::size_t kAlignment = 256;

 private:
  mutable std::mutex mutex_;
  std::byte* const base_;
  const std::size_t bytes_;
  std::map<std::size_t, std::size_t> free_, taken_;  // offset -> bytes, gaps included
};

constexpr int kDevices = 64;
// One memory more, which the host and every device reach; no device has this number.
constexpr int kSharedWithHost = 1 << 20;

// Virtual device `index`, made at its first use. Its size is `WARPLINE_EMU_MEMORY` bytes (default 4 GiB).
// DeviceError for an index above 63, Failure where the host has no such range of addresses.
DeviceMemory& device_memory(int index);

// The device whose memory holds the address, or -1.
int device_of(const void* address);

// What devices reach and the host does not; empty until there is a device.
struct DeviceRange {
  const char* begin = nullptr;
  std::size_t bytes = 0;
  bool holds(const void* address) const {
    return static_cast<std::size_t>(static_cast<const char*>(address) - begin) < bytes;
  }
};
extern DeviceRange device_range;

}  // namespace warpline::emu
