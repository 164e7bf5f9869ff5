#include "engine/ops/add.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/ops/broadcast.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "add";

class AddNode final : public Node {
 public:
  AddNode(const Shape& a, const Shape& b) : a_(a), b_(b) {}
  std::string_view name() const override { return kName; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    std::vector<Tensor> gradients(2);
    if (wanted[0]) gradients[0] = sum_to_shape(context, gradient, a_);
    if (wanted[1]) gradients[1] = sum_to_shape(context, gradient, b_);
    return gradients;
  }

 private:
  Shape a_, b_;
};

}  // namespace

Tensor add(Context& context, const Tensor& input, const Tensor& other) {
  check_same_device(kName, context, {{"input", input}, {"other", other}});
  check_floating(kName, {{"input", input}, {"other", other}});
  Tensor output = broadcast_add(context, input, other, broadcast_shapes(input.shape(), other.shape()));
  record<AddNode>(context, output, {&input, &other}, input.shape(), other.shape());
  return output;
}

}  // namespace warpline
