#include "engine/ops/linear.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/gemm.h"
#include "kernels/error.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "linear";

// Rows of the input seen as a matrix: the product of all axes but the last.
std::int64_t row_count(const Shape& input) { return element_count(Shape(input.begin(), input.end() - 1)); }

class LinearNode final : public Node {
 public:
  LinearNode(const Tensor& input, const Tensor& weight, const Tensor& saved_input, const Tensor& saved_weight)
      : input_shape_(input.shape()),
        weight_shape_(weight.shape()),
        input_(saved_input),
        weight_(saved_weight) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&input_, &weight_}; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    const std::int64_t rows = row_count(input_shape_), out = weight_shape_[0], in = weight_shape_[1];
    std::vector<Tensor> gradients(3);
    if (wanted[0]) {
      gradients[0] = gemm(context, gradient, false, weight_.get(name()), false, rows, in, out, input_shape_);
    }
    if (wanted[1]) {
      gradients[1] = gemm(context, gradient, true, input_.get(name()), false, out, in, rows, weight_shape_);
    }
    if (wanted[2]) gradients[2] = sum_to_shape(context, gradient, {out});
    return gradients;
  }

 private:
  Shape input_shape_, weight_shape_;
  SavedTensor input_, weight_;
};

}  // namespace

Shape linear_shape(const Shape& input, const Shape& weight) {
  if (weight.size() != 2) {
    fail<ShapeError>(kName, "weight must be out, in: its shape is {}", to_string(weight));
  }
  if (input.empty() || input.back() != weight[1]) {
    fail<ShapeError>(kName, "the input's last axis must be the weight's {}: input {}, weight {}", weight[1],
                     to_string(input), to_string(weight));
  }
  Shape shape = input;
  shape.back() = weight[0];
  element_count(shape);  // throws where the product leaves int64
  return shape;
}

Tensor linear(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_same_device(kName, context, {{"input", input}, {"weight", weight}, {"bias", bias}});
  check_floating(kName, {{"input", input}, {"weight", weight}, {"bias", bias}});
  const Shape shape = linear_shape(input.shape(), weight.shape());
  const std::int64_t out = weight.size(0), in = weight.size(1);
  check_shape(kName, {"bias", bias}, {out});
  Tensor output = gemm(context, input, false, weight, true, row_count(input.shape()), out, in, shape);
  if (bias.defined()) output = broadcast_add(context, output, bias, shape);
  record<LinearNode>(context, output, {&input, &weight, &bias}, input, weight, save_if(weight, input),
                     save_if(input, weight));
  return output;
}

}  // namespace warpline
