#include "engine/nn/conv2d.h"

#include "kernels/error.h"

namespace warpline {

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size,
               const Conv2dOptions& options, bool bias)
    : options_(options), has_bias_(bias) {
  check_conv2d_options(kernel_size, options);
  if (in_channels < 0 || out_channels <= 0 || in_channels % options.groups != 0 ||
      out_channels % options.groups != 0) {
    fail<ValueError>("Conv2d",
                     "channels must be multiples of groups, those out positive: in {}, out {}, groups {}",
                     in_channels, out_channels, options.groups);
  }
  const Shape shape{out_channels, in_channels / options.groups, kernel_size[0], kernel_size[1]};
  element_count(shape);  // throws where the product leaves int64
  const double bound = default_init_bound(element_count({shape[1], shape[2], shape[3]}));
  weight_ = {"weight", shape, bound, {}};
  bias_ = {"bias", {out_channels}, bound, {}};
}

std::string Conv2d::describe() const {
  const std::int64_t in_channels = weight_.shape[1] * options_.groups;
  std::string text = fmt::format("Conv2d({}, {}, kernel {}", in_channels, weight_.shape[0],
                                 to_string(Pair{weight_.shape[2], weight_.shape[3]}));
  const Conv2dOptions defaults;
  if (options_.stride != defaults.stride) text += ", stride " + to_string(options_.stride);
  if (options_.same) text += ", padding same";
  if (options_.padding != defaults.padding) text += ", padding " + to_string(options_.padding);
  if (options_.dilation != defaults.dilation) text += ", dilation " + to_string(options_.dilation);
  if (options_.groups != defaults.groups) text += fmt::format(", groups {}", options_.groups);
  if (!has_bias_) text += ", no bias";
  return text + ")";
}

Shape Conv2d::output_shape(const Shape& input) const { return conv2d_shape(input, weight_.shape, options_); }

Tensor Conv2d::forward(Context& context, const Tensor& x) const {
  const Tensor& weight = materialised(weight_);
  return conv2d(context, x, weight, has_bias_ ? materialised(bias_) : Tensor(), options_);
}

std::vector<Parameter*> Conv2d::parameters() {
  if (!has_bias_) return {&weight_};
  return {&weight_, &bias_};
}

}  // namespace warpline
