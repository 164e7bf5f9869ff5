#include "engine/ops/linear.h"

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/autograd.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};

struct Result {
  Shape shape;
  std::vector<double> output, input, weight, bias;
};

Result run(Context& context, const Shape& input, std::int64_t out) {
  const Tensor x = pattern(context, input, 1).set_requires_grad();
  const Tensor w = pattern(context, {out, input.back()}, 2).set_requires_grad();
  const Tensor b = pattern(context, {out}, 3).set_requires_grad();
  const Tensor y = linear(context, x, w, b);
  CHECK(y.shape() == linear_shape(x.shape(), w.shape()));
  backward(context, {y}, {pattern(context, y.shape(), 4)});
  CHECK(x.grad().shape() == x.shape());
  return {y.shape(), values(y), values(x.grad()), values(w.grad()), values(b.grad())};
}

}  // namespace

// Numbers of PyTorch 1.13 for the same inputs.
TEST_CASE("linear and its gradients are PyTorch's", "[linear][op]") {
  on_each_device("linear literals", [](Context& context) {
    const Result result = run(context, {2, 2, 3}, 4);
    CHECK(result.shape == Shape{2, 2, 4});
    CHECK(difference(result.output, {-13, 14, 0, 22, 15, -14, 4, 14, -19, -27, -7, -36, -27, -14, -11, -7}) ==
          "");
    CHECK(difference(result.input, {2, 16, -8, 13, 30, 24, 3, 8, 32, 27, -6, -6}) == "");
    CHECK(difference(result.weight, {10, -17, 21, 14, 1, 2, 6, 15, -12, -14, -19, -32}) == "");
    CHECK(difference(result.bias, {9, 6, -6, 6}) == "");
  });
}

TEST_CASE("linear gives the same exact sums on each target", "[linear][op]") {
  const std::vector<std::pair<Shape, std::int64_t>> cases{{{1, 1}, 1},    {{5, 3}, 7},     {{64, 33}, 17},
                                                          {{1, 800}, 50}, {{3, 2, 65}, 1}, {{9}, 4}};
  for (const auto& [input, out] : cases) {
    INFO("input " << to_string(input) << ", out " << out);
    check_against_ref([&input = input, out = out](Context& context) -> Lists {
      const Result result = run(context, input, out);
      return {result.output, result.input, result.weight, result.bias};
    });
  }
  fmt::print("linear: {} of {} shapes compared with ref\n", cases.size(), cases.size());
}

TEST_CASE("linear works where a size is 0", "[linear][op]") {
  on_each_device("linear empty", [](Context& context) {
    const Result rows = run(context, {0, 3}, 2);
    CHECK(rows.shape == Shape{0, 2});
    CHECK(difference(rows.weight, std::vector<double>(6, 0.0)) == "");
    CHECK(difference(rows.bias, {0, 0}) == "");
    const Result inner = run(context, {2, 0}, 3);  // what remains is the bias
    std::vector<double> twice = pattern(3, 3);
    twice.insert(twice.end(), twice.begin(), twice.begin() + 3);
    CHECK(difference(inner.output, twice) == "");
    CHECK(inner.weight.empty());
    const Result out = run(context, {2, 3}, 0);
    CHECK(out.shape == Shape{2, 0});
    CHECK(difference(out.input, std::vector<double>(6, 0.0)) == "");
  });
}

TEST_CASE("linear's gradients agree with central differences", "[linear][op][gradcheck]") {
  const auto f = [](Context& context, const std::vector<Tensor>& in) {
    return linear(context, in[0], in[1], in.size() == 3 ? in[2] : Tensor());
  };
  const GradcheckInput x{noise(30, 1), {2, 3, 5}}, w{noise(20, 2), {4, 5}}, b{noise(4, 3), {4}};
  CHECK(gradcheck("linear", f, {x, w, b}) == "");
  CHECK(gradcheck("linear without bias", f, {x, w}) == "");
  CHECK(gradcheck("linear of one row", f, {{noise(5, 4), {5}}, w, b}) == "");
}

TEST_CASE("linear computes and keeps only what is wanted", "[linear][op]") {
  on_each_device("linear wanted", [](Context& context) {
    const Tensor x = pattern(context, {2, 3}, 1);
    const Tensor w = pattern(context, {4, 3}, 2).set_requires_grad();
    const Tensor b = pattern(context, {4}, 3).set_requires_grad();
    const Tensor y = linear(context, x, w, b);
    CHECK(wanted_check(context, y) == "");
    CHECK(y.node()->saved().at(0)->defined());
    CHECK_FALSE(y.node()->saved().at(1)->defined());
    CHECK(wanted_check(context, linear(context, y, pattern(context, {2, 4}, 5).set_requires_grad(), {})) ==
          "");
  });
}

TEST_CASE("linear refuses sizes that differ, alike on each target", "[linear][op][errors]") {
  on_each_device("linear errors", [](Context& context) {
    const auto call = [&](const Shape& x, const Shape& w, const Shape& b) {
      return [&context, x, w, b] {
        linear(context, Tensor::zeros(context, x), Tensor::zeros(context, w), Tensor::zeros(context, b));
      };
    };
    CHECK(error_of<ShapeError>(call({2, 3}, {5, 4}, {5})) ==
          "[linear] the input's last axis must be the weight's 4: input [2, 3], weight [5, 4]");
    CHECK(error_of<ShapeError>(call({}, {5, 4}, {5})) ==
          "[linear] the input's last axis must be the weight's 4: input [], weight [5, 4]");
    CHECK(error_of<ShapeError>(call({2, 4}, {5}, {5})) ==
          "[linear] weight must be out, in: its shape is [5]");
    CHECK(error_of<ShapeError>(call({2, 4}, {5, 4}, {4})) == "[linear] bias must have shape [5]: it has [4]");
  });
}
