// Convolution and pooling shapes in which no two numbers that could be confused are equal: height and width,
// the two kernel sizes, strides, paddings and dilations differ wherever a shape has room for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "kernels/args.h"

namespace warpline::test {

using Pair = std::array<std::int64_t, 2>;  // height, width

struct Window {
  Pair input, kernel, stride{1, 1}, padding{0, 0}, dilation{1, 1};

  // PyTorch's output length; in ceil mode a window must start inside the input or the left padding.
  Pair output(bool ceil_mode = false, Pair extra_padding = {0, 0}) const {
    Pair result{};
    for (const std::size_t d : {0, 1}) {
      const std::int64_t room =
          input[d] + 2 * padding[d] + extra_padding[d] - dilation[d] * (kernel[d] - 1) - 1;
      result[d] = (room + (ceil_mode ? stride[d] - 1 : 0)) / stride[d] + 1;
      if (ceil_mode && (result[d] - 1) * stride[d] >= input[d] + padding[d]) --result[d];
    }
    return result;
  }
};

// extra_padding goes below and to the right only, as "same" does for even kernels.
inline Conv2dArgs conv2d_args(std::int64_t batch, std::int64_t channels, std::int64_t filters,
                              std::int64_t groups, const Window& w, Pair extra_padding = {0, 0}) {
  Conv2dArgs args;
  args.batch = batch;
  args.channels = channels;
  args.filters = filters;
  args.groups = groups;
  args.height = w.input[0], args.width = w.input[1];
  args.kernel_h = w.kernel[0], args.kernel_w = w.kernel[1];
  args.stride_h = w.stride[0], args.stride_w = w.stride[1];
  args.pad_h = w.padding[0], args.pad_w = w.padding[1];
  args.dilation_h = w.dilation[0], args.dilation_w = w.dilation[1];
  const Pair out = w.output(false, extra_padding);
  args.out_h = out[0], args.out_w = out[1];
  return args;
}

inline MaxPool2dArgs max_pool2d_args(std::int64_t planes, const Window& w, bool ceil_mode = false) {
  MaxPool2dArgs args;
  args.planes = planes;
  args.height = w.input[0], args.width = w.input[1];
  args.kernel_h = w.kernel[0], args.kernel_w = w.kernel[1];
  args.stride_h = w.stride[0], args.stride_w = w.stride[1];
  args.pad_h = w.padding[0], args.pad_w = w.padding[1];
  args.dilation_h = w.dilation[0], args.dilation_w = w.dilation[1];
  const Pair out = w.output(ceil_mode);
  args.out_h = out[0], args.out_w = out[1];
  return args;
}

inline std::int64_t x_size(const Conv2dArgs& a) { return a.batch * a.channels * a.height * a.width; }
inline std::int64_t y_size(const Conv2dArgs& a) { return a.batch * a.filters * a.out_h * a.out_w; }
inline std::int64_t weight_size(const Conv2dArgs& a) {
  return a.filters * (a.channels / a.groups) * a.kernel_h * a.kernel_w;
}
inline std::int64_t x_size(const MaxPool2dArgs& a) { return a.planes * a.height * a.width; }
inline std::int64_t y_size(const MaxPool2dArgs& a) { return a.planes * a.out_h * a.out_w; }

template <class Args>
std::string describe_window(const Args& a) {
  return fmt::format("{}x{} kernel {}x{} stride {}x{} padding {}x{} dilation {}x{} -> {}x{}", a.height,
                     a.width, a.kernel_h, a.kernel_w, a.stride_h, a.stride_w, a.pad_h, a.pad_w, a.dilation_h,
                     a.dilation_w, a.out_h, a.out_w);
}
inline std::string describe(const Conv2dArgs& a) {
  return fmt::format("batch {} channels {} filters {} groups {} of {}", a.batch, a.channels, a.filters,
                     a.groups, describe_window(a));
}
inline std::string describe(const MaxPool2dArgs& a) {
  return fmt::format("{} planes of {}", a.planes, describe_window(a));
}

// Shapes that every row of a convolution meets.
inline std::vector<Conv2dArgs> conv2d_sweep() {
  return {
      conv2d_args(1, 1, 1, 1, {{1, 1}, {1, 1}}),
      conv2d_args(2, 3, 5, 1, {{7, 9}, {3, 2}}),
      conv2d_args(3, 2, 4, 1, {{6, 11}, {2, 3}, {2, 1}, {1, 2}}),
      conv2d_args(2, 4, 6, 2, {{9, 7}, {3, 2}, {2, 3}, {1, 0}, {1, 2}}),
      conv2d_args(1, 6, 6, 6, {{8, 5}, {3, 3}, {1, 2}, {2, 1}}),  // depthwise
      conv2d_args(2, 3, 9, 3, {{5, 8}, {2, 4}, {1, 1}, {0, 3}}),  // depthwise, 3 filters a channel
      conv2d_args(1, 2, 3, 1, {{13, 17}, {3, 4}, {3, 2}, {2, 3}, {3, 2}}),
      conv2d_args(2, 2, 2, 1, {{10, 11}, {2, 2}, {5, 4}}),  // stride steps over cells
      conv2d_args(2, 2, 2, 1, {{9, 10}, {3, 2}, {4, 5}, {0, 1}, {1, 3}}),
      conv2d_args(1, 3, 2, 1, {{4, 6}, {4, 6}}),                  // one window
      conv2d_args(1, 2, 2, 1, {{2, 3}, {5, 4}, {1, 1}, {2, 3}}),  // kernel larger than the image
      conv2d_args(2, 3, 7, 1, {{5, 6}, {1, 1}}),
      conv2d_args(2, 8, 16, 1, {{5, 3}, {1, 1}, {2, 1}}),
      conv2d_args(2, 3, 4, 1, {{7, 8}, {4, 2}}, {1, 1}),  // odd cells right and below
      conv2d_args(1, 2, 3, 1, {{6, 5}, {2, 4}, {1, 1}, {0, 1}, {3, 1}}, {3, 1}),
      conv2d_args(3, 1, 20, 1, {{28, 28}, {5, 5}}),  // LeNet's
      conv2d_args(1, 20, 50, 1, {{12, 12}, {5, 5}}),
      conv2d_args(1, 3, 8, 1, {{16, 17}, {3, 3}, {1, 1}, {1, 1}}),
      conv2d_args(1, 16, 17, 1, {{8, 8}, {3, 3}, {1, 1}, {1, 1}}),
      conv2d_args(1, 7, 13, 1, {{1, 67}, {1, 5}, {1, 1}, {0, 2}}),
      conv2d_args(1, 5, 3, 1, {{131, 1}, {7, 1}, {2, 1}, {3, 0}, {2, 1}}),
      conv2d_args(65, 3, 3, 1, {{3, 4}, {2, 3}}),
      conv2d_args(70'000, 2, 1, 1, {{1, 3}, {1, 2}}),  // a CUDA grid's y stops at 65,535
      conv2d_args(1, 36, 3, 1, {{5, 6}, {3, 5}}),      // 540 products a cell: deeper than one packed block
      // Enough filters and channels in a group for tiles of a matrix product.
      conv2d_args(2, 36, 34, 2, {{9, 7}, {3, 2}, {2, 3}, {1, 0}, {1, 2}}),
      conv2d_args(3, 17, 70, 1, {{8, 6}, {2, 3}, {1, 2}, {1, 2}, {2, 1}}),
      conv2d_args(1, 66, 16, 1, {{7, 8}, {1, 2}, {3, 2}, {0, 1}}),  // stride steps over cells
      conv2d_args(1, 40, 48, 1, {{5, 4}, {2, 4}}, {1, 1}),
      conv2d_args(0, 33, 35, 1, {{4, 5}, {2, 3}}),
      conv2d_args(0, 3, 5, 1, {{7, 9}, {3, 2}}),
  };
}

// Shapes that every row of a pooling meets, in floor and in ceil mode.
inline std::vector<MaxPool2dArgs> max_pool2d_sweep() {
  std::vector<MaxPool2dArgs> result;
  for (const bool ceil_mode : {false, true}) {
    for (const MaxPool2dArgs& args : {
             max_pool2d_args(1, {{1, 1}, {1, 1}}, ceil_mode),
             max_pool2d_args(6, {{24, 24}, {2, 2}, {2, 2}}, ceil_mode),
             max_pool2d_args(5, {{7, 9}, {2, 2}, {2, 2}}, ceil_mode),
             max_pool2d_args(3, {{8, 11}, {3, 2}, {1, 3}}, ceil_mode),
             max_pool2d_args(3, {{9, 7}, {3, 2}, {2, 1}, {1, 0}}, ceil_mode),
             max_pool2d_args(2, {{10, 13}, {4, 5}, {3, 2}, {2, 1}, {1, 2}}, ceil_mode),
             max_pool2d_args(2, {{12, 9}, {2, 3}, {2, 1}, {0, 1}, {5, 3}}, ceil_mode),
             max_pool2d_args(4, {{6, 8}, {1, 2}, {3, 5}}, ceil_mode),
             max_pool2d_args(1, {{33, 31}, {5, 3}, {1, 2}, {2, 1}}, ceil_mode),
             max_pool2d_args(2, {{65, 17}, {2, 2}, {2, 2}}, ceil_mode),
             max_pool2d_args(3, {{3, 66}, {2, 2}, {2, 2}}, ceil_mode),
             max_pool2d_args(3, {{4, 31}, {2, 2}, {2, 2}}, ceil_mode),
             max_pool2d_args(2, {{18, 21}, {17, 16}, {1, 2}, {3, 1}},
                             ceil_mode),  // 272 cells: wide positions
             max_pool2d_args(70'000, {{2, 3}, {2, 2}}, ceil_mode),
             max_pool2d_args(0, {{5, 4}, {2, 2}}, ceil_mode),
         }) {
      result.push_back(args);
    }
  }
  return result;
}

}  // namespace warpline::test
