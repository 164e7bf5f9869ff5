#include "engine/transfer.h"

#include <cstring>

namespace warpline {

// `ref` and `cpu` share the host's memory. Empty tensors have no bytes to touch.
void host_to_device(void* device_data, const void* host_data, std::size_t bytes, const Stream&) {
  if (bytes != 0) std::memcpy(device_data, host_data, bytes);
}

void device_to_host(void* host_data, const void* device_data, std::size_t bytes) {
  if (bytes != 0) std::memcpy(host_data, device_data, bytes);
}

void device_to_device(void* to, const void* from, std::size_t bytes, const Stream&) {
  if (bytes != 0) std::memmove(to, from, bytes);
}

void zero_device(void* data, std::size_t bytes, const Stream&) {
  if (bytes != 0) std::memset(data, 0, bytes);
}

Tensor copy_to(Context& context, const Tensor& tensor) {
  Tensor copy = Tensor::empty(context, tensor.shape(), tensor.dtype());
  device_to_device(copy.data(), tensor.data(), static_cast<std::size_t>(tensor.bytes()), context.stream());
  return copy;
}

}  // namespace warpline
