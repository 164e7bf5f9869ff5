#include "engine/transfer.h"

#include <vector>

#include "kernels/runtime.h"

namespace warpline {

void host_to_device(void* device_data, const void* host_data, std::size_t bytes, const Stream& stream) {
  runtime(stream.device.kind).host_to_device(device_data, host_data, bytes, stream);
}

void device_to_host(void* host_data, DeviceStream& stream, const void* device_data, std::size_t bytes) {
  stream.synchronize();
  runtime(stream.stream().device.kind).device_to_host(host_data, device_data, bytes);
}

void device_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream) {
  runtime(stream.device.kind).device_to_device(to, from, bytes, stream);
}

void zero_device(void* data, std::size_t bytes, const Stream& stream) {
  runtime(stream.device.kind).zero(data, bytes, stream);
}

Tensor copy_to(Context& context, const Tensor& tensor) {
  Tensor copy = Tensor::empty(context, tensor.shape(), tensor.dtype());
  const auto bytes = static_cast<std::size_t>(tensor.bytes());
  if (tensor.device().kind == context.device().kind) {
    if (&tensor.storage()->stream() != context.device_stream().get())
      tensor.storage()->stream().synchronize();
    device_to_device(copy.data(), tensor.data(), bytes, context.stream());
  } else {
    std::vector<std::byte> staged(bytes);
    tensor.copy_to_host(staged, tensor.dtype());
    host_to_device(copy.data(), staged.data(), bytes, context.stream());
  }
  return copy;
}

}  // namespace warpline
