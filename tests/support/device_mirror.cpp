#include "tests/support/device_mirror.h"

#include <cstring>
#include <stdexcept>

#include "kernels/poison.h"

namespace warpline::test {

DeviceMirror::~DeviceMirror() {
  for (const auto& [begin, block] : blocks_) {
    const std::size_t before = static_cast<std::size_t>(block.host.data - begin);
    runtime_.disclaim(block.device + before, block.host.data_bytes, stream_);
  }
  try {
    runtime_.synchronize(stream_);
  } catch (const std::exception&) {
    // finish() has told, or another error is under way
  }
  for (const auto& [begin, block] : blocks_) {
    runtime_.release(stream_.device.index, block.device, block.host.bytes);
  }
}

void* DeviceMirror::to_device(const void* data, std::size_t bytes_if_unknown) {
  if (data == nullptr) return nullptr;
  auto* const address = static_cast<std::byte*>(const_cast<void*>(data));
  HostArray host = HostArray::that_holds(address);
  if (host.begin == nullptr) {
    // The emulated device reads the host's memory where nobody checks: SparseMemory needs that.
    if (bytes_if_unknown == 0 && stream_.device.kind == DeviceKind::Emu) return address;
    if (bytes_if_unknown == 0) throw std::logic_error("a kernel's arrays must be Guarded");
    host = {address, bytes_if_unknown, address, bytes_if_unknown};
  }
  const auto before = static_cast<std::size_t>(host.data - host.begin);
  Block& block = blocks_[host.begin];
  if (block.device == nullptr) {
    block = {host, static_cast<std::byte*>(runtime_.allocate(stream_.device.index, host.bytes))};
    if (block.device == nullptr) throw std::runtime_error("the device has no memory left");
    runtime_.synchronize(stream_);
    // Canaries, which nobody owns: a checked device is not to see them arrive.
    if (stream_.device.kind == DeviceKind::Cuda) {
      runtime_.host_to_device(block.device, host.begin, host.bytes, stream_);
    } else if (!poisons()) {
      std::memcpy(block.device, host.begin, host.bytes);
    }
    runtime_.claim(block.device + before, host.data_bytes, stream_);
    runtime_.host_to_device(block.device + before, host.data, host.data_bytes, stream_);
  }
  return block.device + (address - host.begin);
}

void DeviceMirror::finish() {
  runtime_.synchronize(stream_);
  for (const auto& [begin, block] : blocks_) {
    // A build that poisons reports who touches the canaries' place; they stay at home.
    const std::ptrdiff_t first = poisons() ? block.host.data - begin : 0;
    runtime_.device_to_host(begin + first, block.device + first,
                            poisons() ? block.host.data_bytes : block.host.bytes);
  }
}

}  // namespace warpline::test
