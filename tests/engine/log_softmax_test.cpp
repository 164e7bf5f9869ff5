#include "engine/ops/log_softmax.h"

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
// exp, log and a sum of a few terms, each right to a few float32 epsilons, on results of magnitude up to 8.
constexpr double kTolerance = 32 * 1.2e-7;

std::vector<double> row(Context& context, const std::vector<double>& x) {
  return values(log_softmax(context, make(context, x, {1, static_cast<std::int64_t>(x.size())}), 1));
}
}  // namespace

// Numbers of PyTorch 1.13 for the same inputs.
TEST_CASE("log_softmax and its gradient are PyTorch's", "[log_softmax][op]") {
  on_each_device("log_softmax literals", [](Context& context) {
    std::vector<double> x = pattern(12, 1);
    for (double& value : x) value /= 2;
    const Tensor input = make(context, x, {2, 3, 2}).set_requires_grad();
    const Tensor y = log_softmax(context, input, -2);
    CHECK(difference(values(y),
                     {-2.196734096919617, -2.696734096919617, -0.19673409691961713, -0.19673409691961713,
                      -2.696734096919617, -2.196734096919617, -0.9580200879470336, -1.551444713932051,
                      -1.4580200879470335, -1.551444713932051, -0.9580200879470336, -0.5514447139320511},
                     kTolerance) == "");
    backward(context, {y}, {pattern(context, {2, 3, 2}, 4)});
    CHECK(difference(values(input.grad()),
                     {3.5553375107903156, 2.7302985670701885, -6.285636077860504, -6.285636077860504,
                      2.7302985670701885, 3.5553375107903156, 0.38365173119055074, 0.3044675390633165,
                      -0.7673034623811014, 0.3044675390633165, 0.38365173119055074, -0.608935078126633},
                     kTolerance) == "");
  });
}

TEST_CASE("log_softmax neither overflows nor loses -inf", "[log_softmax][op]") {
  on_each_device("log_softmax spikes", [](Context& context) {
    CHECK(difference(row(context, {1e4, 0}), {0, -1e4}) == "");
    CHECK(difference(row(context, {3e38, 3e38}), {-std::log(2.0), -std::log(2.0)}, kTolerance) == "");
    CHECK(difference(row(context, {-kInf, -kInf}), {kNaN, kNaN}) == "");
    CHECK(difference(row(context, {1, kInf, 0}), {kNaN, kNaN, kNaN}) == "");
    CHECK(difference(row(context, {1, kNaN, 0}), {kNaN, kNaN, kNaN}) == "");

    const Tensor x = make(context, {1, -kInf, -2}, {1, 3}).set_requires_grad();
    const Tensor y = log_softmax(context, x, 1);
    const double log_sum = std::log(std::exp(1.0) + std::exp(-2.0));
    CHECK(difference(values(y), {1 - log_sum, -kInf, -2 - log_sum}, kTolerance) == "");
    backward(context, {y}, {make(context, {1, 0, 2}, {1, 3})});
    CHECK(difference(values(x.grad()), {1 - 3 * std::exp(1 - log_sum), 0, 2 - 3 * std::exp(-2 - log_sum)},
                     kTolerance) == "");
  });
}

TEST_CASE("log_softmax leaves other rows alone when one is NaN", "[log_softmax][op]") {
  on_each_device("log_softmax rows", [](Context& context) {
    const Tensor y = log_softmax(context, make(context, {kNaN, 0, 5, 5, kInf, 1}, {3, 2}), 1);
    CHECK(difference(values(y), {kNaN, kNaN, -std::log(2.0), -std::log(2.0), kNaN, kNaN}, kTolerance) == "");
  });
}

TEST_CASE("log_softmax's gradient agrees with central differences", "[log_softmax][op][gradcheck]") {
  for (const int dim : {0, 1, 2, -1}) {
    CHECK(gradcheck(fmt::format("log_softmax dim {}", dim),
                    [dim](Context& context, const std::vector<Tensor>& in) {
                      return log_softmax(context, in[0], dim);
                    },
                    {{noise(42, 1), {2, 3, 7}}}) == "");
  }
}

TEST_CASE("log_softmax of empty tensors, scalars and single classes", "[log_softmax][op]") {
  on_each_device("log_softmax empty", [](Context& context) {
    for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 4}}) {
      const Tensor x = Tensor::zeros(context, shape).set_requires_grad();
      const Tensor y = log_softmax(context, x, 1);
      CHECK(y.shape() == shape);
      backward(context, {y}, {Tensor::zeros(context, shape)});
      CHECK(x.grad().shape() == shape);
    }
    CHECK(difference(values(log_softmax(context, make(context, {7}, {}), 0)), {0}) == "");
    CHECK(difference(values(log_softmax(context, make(context, {7, 8}, {2, 1}), -1)), {0, 0}) == "");
  });
}

TEST_CASE("log_softmax refuses a dim that does not exist", "[log_softmax][op][errors]") {
  on_each_device("log_softmax errors", [](Context& context) {
    const Tensor x = Tensor::zeros(context, {2, 3});
    CHECK(error_of<ValueError>([&] { log_softmax(context, x, 2); }) ==
          "[log_softmax] dim must lie between -2 and 1 for shape [2, 3]: it is 2");
    CHECK(error_of<ValueError>([&] { log_softmax(context, x, -3); }) ==
          "[log_softmax] dim must lie between -2 and 1 for shape [2, 3]: it is -3");
    CHECK(error_of<ValueError>([&] {
            log_softmax_shape({2, 3}, 2);
          }) == "[log_softmax] dim must lie between -2 and 1 for shape [2, 3]: it is 2");
    CHECK(error_of<DTypeError>([&] { log_softmax(context, Tensor::zeros(context, {2}, DType::Int64), 0); }) ==
          "[log_softmax] input must be float32 or float64: it is int64");
  });
}
