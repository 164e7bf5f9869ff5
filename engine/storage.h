// A block of device memory shared by a tensor and its views. The version counts in-place changes, through
// whichever view they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/allocator.h"

namespace warpline {

class Storage {
 public:
  Storage(std::shared_ptr<Allocator> allocator, std::size_t bytes, const Stream& stream);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  std::uint64_t version() const { return version_; }
  void bump_version() { ++version_; }
  Allocator& allocator() const { return *allocator_; }

  // Storages alive in this process: returns to its old value after each training step, or something leaks.
  static std::int64_t live();

 private:
  std::shared_ptr<Allocator> allocator_;
  void* data_;
  std::size_t bytes_;
  Device device_;
  std::uint64_t version_ = 0;
};

}  // namespace warpline
