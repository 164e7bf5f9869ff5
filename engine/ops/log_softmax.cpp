#include "engine/ops/log_softmax.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/ops/axis.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "log_softmax";

class LogSoftmaxNode final : public Node {
 public:
  LogSoftmaxNode(const AxisArgs& args, const Tensor& output) : args_(args), output_(output) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&output_}; }

  // gradient - exp(output) * sum(gradient)
  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    if (!wanted[0]) return {Tensor()};
    const Tensor& output = output_.get(name());
    Tensor result = Tensor::empty(context, output.shape(), output.dtype());
    if (result.count() != 0) {
      kernels::kernel<kernels::LogSoftmaxBackward>(context.device().kind, output.dtype(), args_)(
          gradient.data(), output.data(), result.data(), args_, context.stream());
    }
    return {result};
  }

 private:
  AxisArgs args_;
  SavedTensor output_;
};

}  // namespace

Shape log_softmax_shape(const Shape& input, int dim) {
  normalise_axis(kName, dim, input);
  return input;
}

Tensor log_softmax(Context& context, const Tensor& input, int dim) {
  check_same_device(kName, context, {{"input", input}});
  const DType dtype = check_floating(kName, {{"input", input}});
  const AxisArgs args = axis_args(input.shape(), normalise_axis(kName, dim, input.shape()));
  const auto forward = kernels::kernel<kernels::LogSoftmaxForward>(context.device().kind, dtype, args);
  Tensor output = Tensor::empty(context, input.shape(), dtype);
  if (output.count() != 0) forward(input.data(), output.data(), args, context.stream());
  record<LogSoftmaxNode>(context, output, {&input}, args, output);
  return output;
}

}  // namespace warpline
