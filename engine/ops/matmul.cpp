#include "engine/ops/matmul.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/ops/gemm.h"
#include "kernels/error.h"

namespace warpline {
namespace {

constexpr std::string_view kName = "matmul";

// With A and B as stored and C = op(A) op(B): op(A) has the gradient dC op(B)^T, op(B) has op(A)^T dC; where
// a flag is set the transpose of that is what belongs to the stored matrix.
class MatmulNode final : public Node {
 public:
  MatmulNode(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b, const Tensor& saved_a,
             const Tensor& saved_b)
      : a_shape_(a.shape()),
        b_shape_(b.shape()),
        transpose_a_(transpose_a),
        transpose_b_(transpose_b),
        a_(saved_a),
        b_(saved_b) {}
  std::string_view name() const override { return kName; }
  std::vector<SavedTensor*> saved() override { return {&a_, &b_}; }

  std::vector<Tensor> backward(Context& context, const Tensor& gradient,
                               const std::vector<bool>& wanted) override {
    const std::int64_t m = gradient.size(0), n = gradient.size(1), k = a_shape_[transpose_a_ ? 0 : 1];
    std::vector<Tensor> gradients(2);
    if (wanted[0]) {
      const Tensor& b = b_.get(name());
      gradients[0] = transpose_a_ ? gemm(context, b, transpose_b_, gradient, true, k, m, n, a_shape_)
                                  : gemm(context, gradient, false, b, !transpose_b_, m, k, n, a_shape_);
    }
    if (wanted[1]) {
      const Tensor& a = a_.get(name());
      gradients[1] = transpose_b_ ? gemm(context, gradient, true, a, transpose_a_, n, k, m, b_shape_)
                                  : gemm(context, a, !transpose_a_, gradient, false, k, n, m, b_shape_);
    }
    return gradients;
  }

 private:
  Shape a_shape_, b_shape_;
  bool transpose_a_, transpose_b_;
  SavedTensor a_, b_;
};

}  // namespace

Shape matmul_shape(const Shape& input, const Shape& other, bool transpose_a, bool transpose_b) {
  if (input.size() != 2 || other.size() != 2) {
    fail<ShapeError>(kName, "both operands must have two axes: {} and {}", to_string(input),
                     to_string(other));
  }
  const std::int64_t inner_a = input[transpose_a ? 0 : 1], inner_b = other[transpose_b ? 1 : 0];
  if (inner_a != inner_b) {
    fail<ShapeError>(kName, "inner sizes must agree: {}{} has {}, {}{} has {}", to_string(input),
                     transpose_a ? " transposed" : "", inner_a, to_string(other),
                     transpose_b ? " transposed" : "", inner_b);
  }
  Shape shape{input[transpose_a ? 1 : 0], other[transpose_b ? 0 : 1]};
  element_count(shape);  // throws where the product leaves int64
  return shape;
}

Tensor matmul(Context& context, const Tensor& input, const Tensor& other, bool transpose_a,
              bool transpose_b) {
  check_same_device(kName, context, {{"input", input}, {"other", other}});
  check_floating(kName, {{"input", input}, {"other", other}});
  const Shape shape = matmul_shape(input.shape(), other.shape(), transpose_a, transpose_b);
  Tensor output = gemm(context, input, transpose_a, other, transpose_b, shape[0], shape[1],
                       input.size(transpose_a ? 0 : 1), shape);
  record<MatmulNode>(context, output, {&input, &other}, input, other, transpose_a, transpose_b,
                     save_if(other, input), save_if(input, other));
  return output;
}

}  // namespace warpline
