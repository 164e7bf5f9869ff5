#include "engine/ops/max_pool2d.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "max_pool2d";

Pair stride_of(const MaxPool2dOptions& options) {
  return options.stride == Pair{0, 0} ? options.kernel_size : options.stride;
}

// A dilated window that begins in the padding may step over a short input altogether; it has no maximum. With
// padding of at most half the kernel and a kernel that fits, that is window 0 of two cells, one on each side.
void check_windows_meet_input(std::string_view axis, const WindowAxis& w) {
  if (w.pad_before == 0 || w.length >= w.dilation) return;
  fail<ShapeError>(kName,
                   "each window must meet the input: along the {}, window 0 of kernel {}, dilation {} and "
                   "padding {} steps over all {} cells",
                   axis, w.kernel, w.dilation, w.pad_before, w.length);
}

MaxPool2dArgs max_pool2d_args(const Shape& input, const MaxPool2dOptions& options) {
  if (input.size() != 3 && input.size() != 4) {
    fail<ShapeError>(kName, "input must be N, C, H, W or C, H, W: its shape is {}", to_string(input));
  }
  const std::size_t c = input.size() - 3;
  if (input[c] == 0 || input[c + 1] == 0 || input[c + 2] == 0) {
    fail<ShapeError>(kName, "channels, height and width must not be 0: input is {}", to_string(input));
  }
  check_max_pool2d_options(options);
  const Pair& kernel = options.kernel_size;
  const Pair stride = stride_of(options);
  const WindowAxis rows{input[c + 1],        kernel[0],          stride[0],
                        options.dilation[0], options.padding[0], options.padding[0]};
  const WindowAxis columns{input[c + 2],        kernel[1],          stride[1],
                           options.dilation[1], options.padding[1], options.padding[1]};
  MaxPool2dArgs args;
  args.out_h = window_count(kName, "height", rows, options.ceil_mode);
  args.out_w = window_count(kName, "width", columns, options.ceil_mode);
  check_windows_meet_input("height", rows);
  check_windows_meet_input("width", columns);
  args.planes = c == 0 ? input[0] : element_count({input[0], input[1]});
  args.height = rows.length;
  args.width = columns.length;
  args.kernel_h = kernel[0];
  args.kernel_w = kernel[1];
  args.stride_h = stride[0];
  args.stride_w = stride[1];
  args.pad_h = options.padding[0];
  args.pad_w = options.padding[1];
  args.dilation_h = options.dilation[0];
  args.dilation_w = options.dilation[1];
  return args;
}

Shape output_shape(const Shape& input, const MaxPool2dArgs& args) {
  Shape shape = input;
  shape[shape.size() - 2] = args.out_h;
  shape[shape.size() - 1] = args.out_w;
  element_count(shape);  // throws where the product leaves int64
  return shape;
}

class MaxPool2dNode final : public Node {
 public:
  MaxPool2dNode(const MaxPool2dArgs& args, const Shape& input_shape, const Tensor& positions)
      : args_(args), input_shape_(input_shape), positions_(positions) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&positions_}; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    if (!wanted[0]) return {Tensor()};
    const Tensor& positions = positions_.get(name());
    Tensor result = Tensor::empty(context, input_shape_, gradient.dtype());
    if (args_.planes != 0) {
      kernels::kernel<kernels::MaxPool2dBackward>(context.device().kind, gradient.dtype(), args_)(
          gradient.data(), positions.data(), result.data(), args_, context.stream());
    }
    return {result};
  }

 private:
  MaxPool2dArgs args_;
  Shape input_shape_;
  SavedTensor positions_;
};

MaxPool2dResult pool(Context& context, const Tensor& input, const MaxPool2dOptions& options,
                     bool with_indices) {
  check_same_device(kName, context, {{"input", input}});
  const DType dtype = check_floating(kName, {{"input", input}});
  const MaxPool2dArgs args = max_pool2d_args(input.shape(), options);
  const DeviceKind kind = context.device().kind;
  const auto forward = kernels::kernel<kernels::MaxPool2dForward>(kind, dtype, args);

  const Shape shape = output_shape(input.shape(), args);
  MaxPool2dResult result;
  result.output = Tensor::empty(context, shape, dtype);
  const Tensor positions = Tensor::empty(context, shape, args.wide_positions() ? DType::Int32 : DType::UInt8);
  if (with_indices) result.indices = Tensor::empty(context, shape, DType::Int64);
  if (args.planes != 0) {
    forward(input.data(), result.output.data(), positions.data(), args, context.stream());
    if (with_indices) {
      kernels::kernel<kernels::MaxPool2dIndices>(kind, DType::Int64, args)(
          positions.data(), result.indices.data(), args, context.stream());
    }
  }
  record<MaxPool2dNode>(context, result.output, {&input}, args, input.shape(), positions);
  return result;
}

}  // namespace

void check_max_pool2d_options(const MaxPool2dOptions& options) {
  const Pair &kernel = options.kernel_size, &padding = options.padding;
  check_window(kName, kernel, stride_of(options), padding, options.dilation);
  if (padding[0] > kernel[0] / 2 || padding[1] > kernel[1] / 2) {
    fail<ValueError>(kName, "padding must be at most half of the kernel: padding {}, kernel {}",
                     to_string(padding), to_string(kernel));
  }
  std::int32_t cells = 0;  // a position within the window is an int32
  if (__builtin_mul_overflow(kernel[0], kernel[1], &cells)) {
    fail<ValueError>(kName, "the kernel must have fewer than 2^31 cells: it is {}", to_string(kernel));
  }
}

Shape max_pool2d_shape(const Shape& input, const MaxPool2dOptions& options) {
  return output_shape(input, max_pool2d_args(input, options));
}

Tensor max_pool2d(Context& context, const Tensor& input, const MaxPool2dOptions& options) {
  return pool(context, input, options, false).output;
}

MaxPool2dResult max_pool2d_with_indices(Context& context, const Tensor& input,
                                        const MaxPool2dOptions& options) {
  return pool(context, input, options, true);
}

}  // namespace warpline
