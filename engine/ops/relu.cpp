#include "engine/ops/relu.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "relu";

// Keeps the output only: the op after it often keeps the same tensor.
class ReluNode final : public Node {
 public:
  explicit ReluNode(const Tensor& output) : output_(output) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&output_}; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    if (!wanted[0]) return {Tensor()};
    const Tensor& output = output_.get(name());
    Tensor result = Tensor::empty(context, output.shape(), output.dtype());
    const kernels::CountArgs args{output.count()};
    if (args.count != 0) {
      kernels::kernel<kernels::ReluBackward>(context.device().kind, output.dtype(), args)(
          gradient.data(), output.data(), result.data(), args, context.stream());
    }
    return {result};
  }

 private:
  SavedTensor output_;
};

}  // namespace

Tensor relu(Context& context, const Tensor& input) {
  check_same_device(kName, context, {{"input", input}});
  const DType dtype = check_floating(kName, {{"input", input}});
  const kernels::CountArgs args{input.count()};
  const auto forward = kernels::kernel<kernels::ReluForward>(context.device().kind, dtype, args);
  Tensor output = Tensor::empty(context, input.shape(), dtype);
  if (args.count != 0) forward(input.data(), output.data(), args, context.stream());
  record<ReluNode>(context, output, {&input}, output);
  return output;
}

}  // namespace warpline
