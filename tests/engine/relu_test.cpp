#include "engine/ops/relu.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "engine/autograd.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/not_finite.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {
const Offers offers{true, false};
}  // namespace

TEST_CASE("relu passes NaN and its gradient, and has gradient 0 at 0", "[relu][op]") {
  on_each_device("relu corners", [](Context& context) {
    const Tensor x = make(context, {-1, 0, -0.0, 2, kNaN, kInf, -kInf}, {7}).set_requires_grad();
    const Tensor y = relu(context, x);
    CHECK(difference(values(y), {0, 0, 0, 2, kNaN, kInf, 0}) == "");
    backward(context, {y}, {make(context, {1, 2, 3, 4, 5, 6, 7}, {7})});
    CHECK(difference(values(x.grad()), {0, 0, 0, 4, 5, 6, 0}) == "");
  });
}

TEST_CASE("relu's backward selects: NaN that arrives at a negative input becomes 0", "[relu][op]") {
  on_each_device("relu backward selects", [](Context& context) {
    const Tensor x = make(context, {-1, 0, 2}, {3}).set_requires_grad();
    backward(context, {relu(context, x)}, {make(context, {kNaN, kInf, kNaN}, {3})});
    CHECK(difference(values(x.grad()), {0, 0, kNaN}) == "");
  });
}

TEST_CASE("relu works on any length, and on none", "[relu][op]") {
  on_each_device("relu lengths", [](Context& context) {
    for (const std::int64_t length : {0, 1, 3, 8, 31, 1000, 100003}) {
      const std::vector<double> x = pattern(length, 1);
      std::vector<double> expected = x;
      for (double& value : expected) value = value > 0 ? value : 0;
      const Tensor input = make(context, x, {length}).set_requires_grad();
      const Tensor y = relu(context, input);
      CHECK(difference(values(y), expected) == "");
      backward(context, {y}, {make(context, x, {length})});
      CHECK(difference(values(input.grad()), expected) == "");
    }
    CHECK(relu(context, Tensor::zeros(context, {2, 0, 3})).shape() == Shape{2, 0, 3});
  });
}

TEST_CASE("relu's gradient agrees with central differences", "[relu][op][gradcheck]") {
  CHECK(gradcheck("relu",
                  [](Context& context, const std::vector<Tensor>& in) { return relu(context, in[0]); },
                  {{spread(15, 1), {3, 5}}}) == "");
}

TEST_CASE("relu refuses integers and tensors elsewhere", "[relu][op][errors]") {
  on_each_device("relu errors", [](Context& context) {
    CHECK(error_of<DTypeError>([&] { relu(context, Tensor::zeros(context, {2}, DType::Int64)); }) ==
          "[relu] input must be float32 or float64: it is int64");
    Context elsewhere({context.device().kind, 1});
    CHECK_THAT(error_of<DeviceError>([&] { relu(context, Tensor::zeros(elsewhere, {2})); }),
               Catch::Contains(to_string(elsewhere.device())));
    CHECK_THAT(error_of<AutogradError>([&] { relu(context, Tensor()); }), Catch::Contains("defined"));
  });
}
