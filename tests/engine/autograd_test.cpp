// Backward over the recorded graph: what PyTorch computes and what it refuses.
#include "engine/autograd.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/ops/views.h"
#include "kernels/error.h"
#include "tests/engine/toy_ops.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

TEST_CASE("a diamond b + b*b + b at a = 3, b = 2a has gradient 28", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor two = Tensor::full(context, {}, 2.0, DType::Float64);
  const Tensor b = mul(context, a, two);
  const Tensor y = add(context, add(context, b, mul(context, b, b)), b);
  calls().clear();
  backward_of(context, y);
  CHECK(grad_of(a) == std::vector<double>{28.0});
  // The shared node ran once, and last.
  CHECK(calls() == std::vector<std::string>{"add 11", "add 11", "mul 11", "mul 10"});
}

TEST_CASE("gradients accumulate over backward calls", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0, -1.0, 0.5});
  backward_of(context, sum(context, mul(context, a, a)));
  CHECK(grad_of(a) == std::vector<double>{6.0, -2.0, 1.0});
  backward_of(context, sum(context, a));
  CHECK(grad_of(a) == std::vector<double>{7.0, -1.0, 2.0});
}

TEST_CASE("two passes over a retained graph give exactly double, with no stale interior gradients",
          "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {0.1, 0.7, -1.3});
  const Tensor b = exp(context, a);
  const Tensor y = sum(context, add(context, mul(context, b, b), b));
  BackwardOptions options;
  options.retain_graph = true;
  backward_of(context, y, options);
  std::vector<double> doubled = grad_of(a);
  for (double& value : doubled) value *= 2.0;
  backward_of(context, y);
  CHECK(grad_of(a) == doubled);
  CHECK_THROWS_WITH(backward_of(context, y), Contains("second time"));
}

TEST_CASE("backward twice through freed saved tensors is an error that names the op", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor y = mul(context, a, a);
  backward_of(context, y);
  CHECK_THROWS_AS(backward_of(context, y), AutogradError);
  CHECK_THROWS_WITH(backward_of(context, y), Contains("mul") && Contains("second time"));
  CHECK(grad_of(a) == std::vector<double>{6.0});
}

TEST_CASE("backward twice is fine where nothing was saved", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor y = add(context, a, a);
  backward_of(context, y);
  backward_of(context, y);
  CHECK(grad_of(a) == std::vector<double>{4.0});
}

TEST_CASE("backward of a non-scalar without a gradient is an error", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {1.0, 2.0});
  CHECK_THROWS_WITH(backward_of(context, add(context, a, a)),
                    Contains("[2]") && Contains("needs a gradient"));
  const Tensor one = leaf(context, {2.0}, {1, 1});
  backward_of(context, mul(context, one, one));  // one element of any shape will do
  CHECK(grad_of(one) == std::vector<double>{4.0});
}

TEST_CASE("backward without a graph is an error", "[autograd]") {
  Context context(kRef);
  const Tensor plain = Tensor::zeros(context, {}, DType::Float64);
  CHECK_THROWS_WITH(backward_of(context, plain), Contains("no graph"));
  const Tensor a = leaf(context, {1.0});
  Tensor y;
  {
    const NoGrad no_grad(context);
    y = mul(context, a, a);
  }
  CHECK_FALSE(y.requires_grad());
  CHECK_THROWS_WITH(backward_of(context, y), Contains("NoGrad"));
  CHECK(mul(context, a, a).requires_grad());
}

TEST_CASE("several outputs: listed twice, one below another, or leaves themselves", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor h = mul(context, a, a);
  const Tensor y = mul(context, h, h);
  const auto constant = [&](double value) { return Tensor::full(context, {}, value, DType::Float64); };
  backward(context, {h, y, h, a}, {constant(1.0), constant(1.0), constant(10.0), constant(0.5)});
  // dy/dh = 18, so h gets 1 + 10 + 18, and a 29 * 6 + 0.5.
  CHECK(grad_of(a) == std::vector<double>{174.5});
  const Tensor alone = leaf(context, {3.0});
  backward(context, {alone}, {constant(0.5)});
  CHECK(grad_of(alone) == std::vector<double>{0.5});
}

TEST_CASE("outside gradients must fit their outputs", "[autograd]") {
  Context context(kRef), other(Device{DeviceKind::Ref, 1});
  const Tensor a = leaf(context, {1.0, 2.0});
  const Tensor y = add(context, a, a);
  CHECK_THROWS_AS(backward(context, {y}, {Tensor::zeros(context, {3}, DType::Float64)}), ShapeError);
  CHECK_THROWS_AS(backward(context, {y}, {Tensor::zeros(context, {2}, DType::Float32)}), DTypeError);
  CHECK_THROWS_AS(backward(context, {y}, {Tensor::zeros(other, {2}, DType::Float64)}), DeviceError);
  CHECK_THROWS_AS(backward(context, {y, y}, {Tensor::zeros(context, {2}, DType::Float64)}), AutogradError);
  CHECK_THROWS_WITH(backward(other, {y}, {}), Contains("ref:0") && Contains("ref:1"));
  CHECK_FALSE(a.grad().defined());
}

TEST_CASE("a node is asked only for gradients that somebody wants", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor constant = Tensor::full(context, {}, 2.0, DType::Float64);
  const Tensor y = mul(context, constant, a);
  CHECK(y.node()->saved()[1]->defined() == false);  // a is needed for the constant's gradient only
  calls().clear();
  backward_of(context, y);
  CHECK(calls() == std::vector<std::string>{"mul 01"});
}

TEST_CASE("history is not lost through zero-size tensors", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {}, {0, 3});
  const Tensor empty =
      mul(context, reshape(context, narrow(context, a, 0, 0), {3, 0}), reshape(context, a, {3, 0}));
  REQUIRE(empty.requires_grad());
  backward_of(context, sum(context, empty));
  REQUIRE(a.grad().defined());
  CHECK(a.grad().shape() == Shape{0, 3});
}

TEST_CASE("a node that returns a gradient of the wrong size is a named failure", "[autograd]") {
  struct Wrong final : Node {
    std::string_view name() const override { return "wrong"; }
    std::vector<Tensor> backward(Context& context, const Tensor&, const std::vector<bool>&) override {
      return {Tensor::zeros(context, {2}, DType::Float64)};
    }
  };
  Context context(kRef);
  const Tensor a = leaf(context, {0.5});
  Tensor y = Tensor::zeros(context, {}, DType::Float64);
  record<Wrong>(context, y, {&a});
  CHECK_THROWS_WITH(backward_of(context, y), Contains("[wrong]") && Contains("[2]"));
}
