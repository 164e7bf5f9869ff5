// A block of device memory shared by a tensor and its views. The version counts in-place changes, through
// whichever view they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/device_stream.h"

namespace warpline {

class Storage {
 public:
  Storage(std::shared_ptr<DeviceStream> stream, std::size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return stream_->stream().device; }
  // That it is allocated on.
  DeviceStream& stream() const { return *stream_; }
  std::uint64_t version() const { return version_; }
  void bump_version() { ++version_; }
  Allocator& allocator() const { return *stream_->allocator(); }

  // Storages alive in this process: returns to its old value after each training step, or something leaks.
  static std::int64_t live();

 private:
  std::shared_ptr<DeviceStream> stream_;
  void* data_;
  std::size_t bytes_;
  std::uint64_t version_ = 0;
};

}  // namespace warpline
