#include "engine/ops/nll_loss.h"

#include "engine/node.h"
#include "engine/ops/nll_forward.h"
#include "kernels/table.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "nll_loss";

class NllLossNode final : public Node {
 public:
  NllLossNode(const NllArgs& args, const Shape& input_shape, const Tensor& target, const Tensor& weight,
              const Tensor& total_weight)
      : args_(args),
        input_shape_(input_shape),
        target_(target),
        weight_(weight),
        total_weight_(total_weight) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&target_, &weight_, &total_weight_}; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    if (!wanted[0]) return {Tensor()};
    const Tensor& target = target_.get(name());
    const Tensor& weight = weight_.get(name());
    const Tensor& total_weight = total_weight_.get(name());
    Tensor result = Tensor::empty(context, input_shape_, gradient.dtype());
    if (result.count() != 0) {
      kernels::kernel<kernels::NllBackward>(context.device().kind, gradient.dtype(), args_)(
          gradient.data(), static_cast<const std::int64_t*>(target.data()),
          weight.defined() ? weight.data() : nullptr, total_weight.data(), result.data(), args_,
          context.stream());
    }
    return {result};
  }

 private:
  NllArgs args_;
  Shape input_shape_;
  SavedTensor target_, weight_, total_weight_;
};

}  // namespace

Shape nll_loss_shape(const Shape& input, const Shape& target, const NllOptions& options) {
  nll_args(input, target, options);
  return options.reduction == Reduction::None ? target : Shape{};
}

Tensor nll_loss(Context& context, const Tensor& input, const Tensor& target, const Tensor& weight,
                const NllOptions& options) {
  NllResult nll = nll_forward(context, input, target, weight, options);
  record<NllLossNode>(context, nll.loss, {&input}, nll.args, input.shape(), target, weight, nll.total_weight);
  return nll.loss;
}

}  // namespace warpline
