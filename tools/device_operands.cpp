#include "tools/device_operands.h"

#include <algorithm>

#include "kernels/error.h"

namespace warpline::tools {

DeviceOperands::DeviceOperands(const Problem& problem, const Stream& stream)
    : runtime_(runtime(stream.device.kind)), stream_(stream) {
  for (const Operand& operand : problem.operands) {
    if (operand.absent) {
      pointers_.push_back(nullptr);
      continue;
    }
    const std::size_t bytes = std::max<std::size_t>(operand.values.size(), 1);
    void* const data = runtime_.allocate(stream.device.index, bytes);
    if (data == nullptr) {
      release();
      fail<Failure>("memory", "the device has no block of {} bytes left; use a smaller --shape", bytes);
    }
    pointers_.push_back(data);
    blocks_.emplace_back(data, bytes);
    runtime_.claim(data, bytes, stream);
    runtime_.host_to_device(data, operand.values.data(), operand.values.size(), stream);
  }
}

DeviceOperands::~DeviceOperands() { release(); }

void DeviceOperands::release() noexcept {
  for (const auto& [data, bytes] : blocks_) runtime_.disclaim(data, bytes, stream_);
  try {
    runtime_.synchronize(stream_);
  } catch (...) {
    // What failed there was told to whoever waited for it, or an error is on its way already.
  }
  for (const auto& [data, bytes] : blocks_) runtime_.release(stream_.device.index, data, bytes);
}

std::vector<std::vector<std::byte>> DeviceOperands::outputs(const Problem& problem) const {
  runtime_.synchronize(stream_);
  std::vector<std::vector<std::byte>> read(problem.operands.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    const Operand& operand = problem.operands[i];
    if (!operand.output || operand.absent) continue;
    read[i].resize(operand.values.size());
    runtime_.device_to_host(read[i].data(), pointers_[i], read[i].size());
  }
  return read;
}

}  // namespace warpline::tools
