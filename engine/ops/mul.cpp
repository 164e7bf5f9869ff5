#include "engine/ops/mul.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/ops/broadcast.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "mul";

class MulNode final : public Node {
 public:
  MulNode(const Tensor& a, const Tensor& b, const Tensor& saved_a, const Tensor& saved_b)
      : a_shape_(a.shape()), b_shape_(b.shape()), a_(saved_a), b_(saved_b) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&a_, &b_}; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    const Shape& shape = gradient.shape();
    std::vector<Tensor> gradients(2);
    if (wanted[0]) {
      gradients[0] = sum_to_shape(context, broadcast_mul(context, gradient, b_.get(name()), shape), a_shape_);
    }
    if (wanted[1]) {
      gradients[1] = sum_to_shape(context, broadcast_mul(context, gradient, a_.get(name()), shape), b_shape_);
    }
    return gradients;
  }

 private:
  Shape a_shape_, b_shape_;
  SavedTensor a_, b_;
};

}  // namespace

Tensor mul(Context& context, const Tensor& input, const Tensor& other) {
  check_same_device(kName, context, {{"input", input}, {"other", other}});
  check_floating(kName, {{"input", input}, {"other", other}});
  Tensor output = broadcast_mul(context, input, other, broadcast_shapes(input.shape(), other.shape()));
  record<MulNode>(context, output, {&input, &other}, input, other, save_if(other, input),
                  save_if(input, other));
  return output;
}

}  // namespace warpline
