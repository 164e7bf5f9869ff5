// A problem's operands in the memory of a device, for programs that run rows of the kernel table by
// themselves.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/runtime.h"
#include "tools/kernel_problems.h"

namespace warpline::tools {

class DeviceOperands {
 public:
  // The stream outlives the operands. Failure where the device has no room for them.
  DeviceOperands(const Problem& problem, const Stream& stream);
  ~DeviceOperands();
  DeviceOperands(const DeviceOperands&) = delete;
  DeviceOperands& operator=(const DeviceOperands&) = delete;

  const std::vector<void*>& pointers() const { return pointers_; }  // one an operand
  // Waits for the stream. What the output operands hold, one an operand; nothing for the others.
  std::vector<std::vector<std::byte>> outputs(const Problem& problem) const;

 private:
  void release() noexcept;

  Runtime& runtime_;
  const Stream& stream_;
  std::vector<void*> pointers_;
  std::vector<std::pair<void*, std::size_t>> blocks_;
};

}  // namespace warpline::tools
