#include "engine/ops/scale.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "scale";

Tensor scaled(Context& context, const Tensor& input, double alpha) {
  const kernels::CountArgs args{input.count(), alpha};
  const auto run = kernels::kernel<kernels::Scale>(context.device().kind, input.dtype(), args);
  Tensor output = Tensor::empty(context, input.shape(), input.dtype());
  if (args.count != 0) run(input.data(), output.data(), args, context.stream());
  return output;
}

class ScaleNode final : public Node {
 public:
  explicit ScaleNode(double alpha) : alpha_(alpha) {}
  std::string_view name() const override { return kName; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    return {wanted[0] ? scaled(context, gradient, alpha_) : Tensor()};
  }

 private:
  double alpha_;
};

}  // namespace

Tensor scale(Context& context, const Tensor& input, double alpha) {
  check_same_device(kName, context, {{"input", input}});
  check_floating(kName, {{"input", input}});
  Tensor output = scaled(context, input, alpha);
  record<ScaleNode>(context, output, {&input}, alpha);
  return output;
}

}  // namespace warpline
