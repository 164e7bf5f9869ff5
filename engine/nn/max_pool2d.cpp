#include "engine/nn/max_pool2d.h"

namespace warpline {

MaxPool2d::MaxPool2d(const MaxPool2dOptions& options) : options_(options) {
  check_max_pool2d_options(options);
  if (options_.stride == Pair{0, 0}) options_.stride = options_.kernel_size;
}

std::string MaxPool2d::describe() const {
  std::string text = "MaxPool2d(kernel " + to_string(options_.kernel_size);
  const MaxPool2dOptions defaults;
  if (options_.stride != options_.kernel_size) text += ", stride " + to_string(options_.stride);
  if (options_.padding != defaults.padding) text += ", padding " + to_string(options_.padding);
  if (options_.dilation != defaults.dilation) text += ", dilation " + to_string(options_.dilation);
  if (options_.ceil_mode) text += ", ceil mode";
  return text + ")";
}

}  // namespace warpline
