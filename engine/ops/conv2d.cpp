#include "engine/ops/conv2d.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/ops/broadcast.h"
#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "conv2d";

// Checks shapes and options.
Conv2dArgs conv2d_args(const Shape& input, const Shape& weight, const Conv2dOptions& options) {
  if (input.size() != 3 && input.size() != 4) {
    fail<ShapeError>(kName, "input must be N, C, H, W or C, H, W: its shape is {}", to_string(input));
  }
  if (weight.size() != 4) {
    fail<ShapeError>(kName, "weight must be K, C / groups, R, S: its shape is {}", to_string(weight));
  }
  const std::size_t c = input.size() - 3;
  Conv2dArgs args;
  args.batch = c == 0 ? 1 : input[0];
  args.channels = input[c];
  args.height = input[c + 1];
  args.width = input[c + 2];
  args.filters = weight[0];
  args.kernel_h = weight[2];
  args.kernel_w = weight[3];
  args.stride_h = options.stride[0];
  args.stride_w = options.stride[1];
  args.dilation_h = options.dilation[0];
  args.dilation_w = options.dilation[1];
  args.groups = options.groups;

  check_conv2d_options({args.kernel_h, args.kernel_w}, options);
  if (args.filters <= 0 || args.filters % args.groups != 0) {
    fail<ShapeError>(kName, "output channels must be a positive multiple of groups: {} with {} groups",
                     args.filters, args.groups);
  }
  if (args.channels % args.groups != 0 || weight[1] != args.channels / args.groups) {
    fail<ShapeError>(kName,
                     "input channels must be groups times the weight's: input {} has {}, weight {} with {} "
                     "groups takes {} x {}",
                     to_string(input), args.channels, to_string(weight), args.groups, args.groups, weight[1]);
  }
  if (args.height <= 0 || args.width <= 0) {
    fail<ShapeError>(kName, "height and width must not be 0: input is {}", to_string(input));
  }

  WindowAxis rows{args.height,     args.kernel_h,      args.stride_h,
                  args.dilation_h, options.padding[0], options.padding[0]};
  WindowAxis columns{args.width,      args.kernel_w,      args.stride_w,
                     args.dilation_w, options.padding[1], options.padding[1]};
  if (options.same) {
    for (WindowAxis* axis : {&rows, &columns}) {
      std::int64_t total = 0;
      if (__builtin_mul_overflow(axis->dilation, axis->kernel - 1, &total)) {
        fail<ShapeError>(kName, "sizes must fit int64: kernel {} with dilation {} does not", axis->kernel,
                         axis->dilation);
      }
      axis->pad_before = total / 2;
      axis->pad_after = total - total / 2;
    }
  }
  args.pad_h = rows.pad_before;
  args.pad_w = columns.pad_before;
  args.out_h = window_count(kName, "height", rows);
  args.out_w = window_count(kName, "width", columns);
  // A kernel may copy the padded image.
  byte_count({args.channels, rows.padded(), columns.padded()}, DType::Float64);
  return args;
}

Shape output_shape(const Shape& input, const Conv2dArgs& args) {
  Shape shape{args.filters, args.out_h, args.out_w};
  if (input.size() == 4) shape.insert(shape.begin(), args.batch);
  element_count(shape);  // throws where the product leaves int64
  return shape;
}

class Conv2dNode final : public Node {
 public:
  Conv2dNode(const Conv2dArgs& args, const Tensor& input, const Tensor& weight, const Tensor& saved_input,
             const Tensor& saved_weight)
      : args_(args),
        input_shape_(input.shape()),
        weight_shape_(weight.shape()),
        input_(saved_input),
        weight_(saved_weight) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&input_, &weight_}; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    std::vector<Tensor> gradients(3);
    if (wanted[0]) gradients[0] = input_gradient(context, gradient);
    if (wanted[1]) gradients[1] = weight_gradient(context, gradient);
    if (wanted[2]) gradients[2] = bias_gradient(context, gradient);
    return gradients;
  }

 private:
  Tensor input_gradient(Context& context, const Tensor& gradient) {
    const Tensor& weight = weight_.get(name());
    Tensor result = Tensor::empty(context, input_shape_, gradient.dtype());
    if (result.count() != 0) {
      kernels::kernel<kernels::Conv2dBackwardInput>(context.device().kind, gradient.dtype(), args_)(
          gradient.data(), weight.data(), result.data(), args_, context.stream());
    }
    return result;
  }

  Tensor weight_gradient(Context& context, const Tensor& gradient) {
    const Tensor& input = input_.get(name());
    if (args_.batch == 0) return Tensor::zeros(context, weight_shape_, gradient.dtype());
    Tensor result = Tensor::empty(context, weight_shape_, gradient.dtype());
    if (result.count() != 0) {
      kernels::kernel<kernels::Conv2dBackwardWeight>(context.device().kind, gradient.dtype(), args_)(
          gradient.data(), input.data(), result.data(), args_, context.stream());
    }
    return result;
  }

  Tensor bias_gradient(Context& context, const Tensor& gradient) {
    if (args_.batch == 0) return Tensor::zeros(context, {args_.filters}, gradient.dtype());
    Tensor result = Tensor::empty(context, {args_.filters}, gradient.dtype());
    kernels::kernel<kernels::Conv2dBackwardBias>(context.device().kind, gradient.dtype(), args_)(
        gradient.data(), result.data(), args_, context.stream());
    return result;
  }

  Conv2dArgs args_;
  Shape input_shape_, weight_shape_;
  SavedTensor input_, weight_;
};

}  // namespace

void check_conv2d_options(const Pair& kernel, const Conv2dOptions& options) {
  check_window(kName, kernel, options.stride, options.padding, options.dilation);
  if (options.groups <= 0) fail<ValueError>(kName, "groups must be positive: it is {}", options.groups);
  if (options.same && (options.stride != Pair{1, 1} || options.padding != Pair{0, 0})) {
    fail<ValueError>(kName, "padding \"same\" takes stride 1 and no other padding: stride {}, padding {}",
                     to_string(options.stride), to_string(options.padding));
  }
}

Shape conv2d_shape(const Shape& input, const Shape& weight, const Conv2dOptions& options) {
  return output_shape(input, conv2d_args(input, weight, options));
}

Tensor conv2d(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options) {
  check_same_device(kName, context, {{"input", input}, {"weight", weight}, {"bias", bias}});
  const DType dtype = check_floating(kName, {{"input", input}, {"weight", weight}, {"bias", bias}});
  const Conv2dArgs args = conv2d_args(input.shape(), weight.shape(), options);
  check_shape(kName, {"bias", bias}, {args.filters});
  const auto forward = kernels::kernel<kernels::Conv2dForward>(context.device().kind, dtype, args);

  const Shape shape = output_shape(input.shape(), args);
  Tensor output;
  if (args.channels == 0) {  // an empty sum: what remains is the bias
    output = bias.defined() ? expand(context, Tensor::view_of(bias, 0, {args.filters, 1, 1}), shape)
                            : Tensor::zeros(context, shape, dtype);
  } else {
    output = Tensor::empty(context, shape, dtype);
    if (output.count() != 0) {
      forward(input.data(), weight.data(), bias.defined() ? bias.data() : nullptr, output.data(), args,
              context.stream());
    }
  }
  record<Conv2dNode>(context, output, {&input, &weight, &bias}, args, input, weight, save_if(weight, input),
                     save_if(input, weight));
  return output;
}

}  // namespace warpline
