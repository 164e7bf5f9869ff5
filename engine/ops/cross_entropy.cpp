#include "engine/ops/cross_entropy.h"

#include "engine/node.h"
#include "engine/ops/log_softmax.h"
#include "engine/ops/nll_forward.h"
#include "kernels/table.h"

namespace warpline {
namespace {

class CrossEntropyNode final : public Node {
 public:
  CrossEntropyNode(const NllArgs& args, const Tensor& log_probability, const Tensor& target,
                   const Tensor& weight, const Tensor& total_weight)
      : args_(args),
        log_probability_(log_probability),
        target_(target),
        weight_(weight),
        total_weight_(total_weight) {}
  std::string_view name() const override { return "cross_entropy"; }
  std::vector<SavedTensor*> saved() override {
    return {&log_probability_, &target_, &weight_, &total_weight_};
  }

  // weight * gradient * (softmax - one hot)
  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    if (!wanted[0]) return {Tensor()};
    const Tensor& log_probability = log_probability_.get(name());
    const Tensor& target = target_.get(name());
    const Tensor& weight = weight_.get(name());
    const Tensor& total_weight = total_weight_.get(name());
    Tensor result = Tensor::empty(context, log_probability.shape(), gradient.dtype());
    if (result.count() != 0) {
      kernels::kernel<kernels::CrossEntropyBackward>(context.device().kind, gradient.dtype(), args_)(
          gradient.data(), log_probability.data(), static_cast<const std::int64_t*>(target.data()),
          weight.defined() ? weight.data() : nullptr, total_weight.data(), result.data(), args_,
          context.stream());
    }
    return {result};
  }

 private:
  NllArgs args_;
  SavedTensor log_probability_, target_, weight_, total_weight_;
};

}  // namespace

Tensor cross_entropy(Context& context, const Tensor& input, const Tensor& target, const Tensor& weight,
                     const NllOptions& options) {
  const Tensor log_probability = log_softmax(context, input.detach(), class_axis(input.shape()));
  NllResult nll = nll_forward(context, log_probability, target, weight, options);
  record<CrossEntropyNode>(context, nll.loss, {&input}, nll.args, log_probability, target, weight,
                           nll.total_weight);
  return nll.loss;
}

}  // namespace warpline
