// The sliding window of convolution and pooling along height and width: option checks and output lengths.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpline {

using Pair = std::array<std::int64_t, 2>;  // height, width

std::string to_string(const Pair& pair);  // "3x5"

// ValueError unless kernel, stride and dilation are positive and padding is not negative.
void check_window(std::string_view op, const Pair& kernel, const Pair& stride, const Pair& padding,
                  const Pair& dilation);

struct WindowAxis {
  std::int64_t length = 0;  // of the input
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad_before = 0, pad_after = 0;
  std::int64_t padded() const { return length + pad_before + pad_after; }
};

// floor((length + padding - dilation (kernel - 1) - 1) / stride) + 1. With ceil_mode the division rounds up,
// but a window must start inside the input or the padding before it. ShapeError where the kernel is larger
// than the padded input, or a size leaves int64. `axis` ("height") is for the message.
std::int64_t window_count(std::string_view op, std::string_view axis, const WindowAxis& window,
                          bool ceil_mode = false);

}  // namespace warpline
