// The only place where tensor bytes are copied between host and devices.
#pragma once

#include <cstddef>

#include "engine/tensor.h"

namespace warpline {

void host_to_device(void* device_data, const void* host_data, std::size_t bytes, const Stream& stream);
// Waits for `stream`, and throws what failed on it.
void device_to_host(void* host_data, DeviceStream& stream, const void* device_data, std::size_t bytes);
void device_to_device(void* to, const void* from, std::size_t bytes, const Stream& stream);
void zero_device(void* data, std::size_t bytes, const Stream& stream);

// A copy of `tensor` on the context's device, whatever device it is on. A new leaf: it carries no gradient.
Tensor copy_to(Context& context, const Tensor& tensor);

}  // namespace warpline
