// sum, mean and scale.
#include "engine/ops/reduce.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "engine/autograd.h"
#include "engine/ops/mean.h"
#include "engine/ops/scale.h"
#include "engine/ops/sum.h"
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
const Shape kShape{3, 4, 2, 5};

// Every subset of the axes of kShape; the empty one stands for all.
std::vector<std::vector<int>> subsets() {
  std::vector<std::vector<int>> result;
  for (unsigned mask = 0; mask < 16; ++mask) {
    std::vector<int> dims;
    for (int axis = 0; axis < 4; ++axis) {
      if ((mask >> axis) & 1) dims.push_back(axis % 2 == 0 ? axis : axis - 4);  // also from the end
    }
    result.push_back(dims);
  }
  return result;
}

// Where each element of kShape goes in the sum over `dims`.
std::vector<std::size_t> targets(const std::vector<int>& dims) {
  const std::vector<bool> reduced = reduced_axes("test", kShape, dims);
  std::vector<std::size_t> result;
  for (std::int64_t i = 0; i < element_count(kShape); ++i) {
    std::int64_t rest = i, offset = 0, step = 1;
    for (std::size_t axis = 4; axis-- > 0;) {
      const std::int64_t at = rest % kShape[axis];
      rest /= kShape[axis];
      if (reduced[axis]) continue;
      offset += at * step;
      step *= kShape[axis];
    }
    result.push_back(static_cast<std::size_t>(offset));
  }
  return result;
}

}  // namespace

TEST_CASE("sum and mean over every subset of axes, both ways", "[sum][mean][op]") {
  on_each_device("sum and mean", [](Context& context) {
    for (const std::vector<int>& dims : subsets()) {
      for (const bool keepdim : {false, true}) {
        INFO("dims " << fmt::format("{}", fmt::join(dims, ",")) << ", keepdim " << keepdim);
        const Shape shape = sum_shape(kShape, dims, keepdim);
        CHECK(shape.size() == (keepdim ? 4 : dims.empty() ? 0 : 4 - dims.size()));
        CHECK(mean_shape(kShape, dims, keepdim) == shape);
        const std::int64_t outputs = element_count(shape), terms = element_count(kShape) / outputs;
        const std::vector<double> x = pattern(120, 1), g = pattern(outputs, 2);
        std::vector<double> total(static_cast<std::size_t>(outputs)), spread_back, averaged, spread_mean;
        const std::vector<std::size_t> to = targets(dims);
        for (std::size_t i = 0; i < to.size(); ++i) {
          total[to[i]] += x[i];
          spread_back.push_back(g[to[i]]);
          spread_mean.push_back(g[to[i]] / static_cast<double>(terms));
        }
        for (const double value : total) averaged.push_back(value / static_cast<double>(terms));

        const Tensor a = make(context, x, kShape).set_requires_grad();
        const Tensor summed = sum(context, a, dims, keepdim);
        CHECK(summed.shape() == shape);
        CHECK(difference(values(summed), total) == "");
        backward(context, {summed}, {make(context, g, shape)});
        CHECK(difference(values(a.grad()), spread_back) == "");

        // One rounding of the product with 1 / terms, of values up to 5 terms / terms.
        const Tensor b = make(context, x, kShape).set_requires_grad();
        const Tensor mean_of = mean(context, b, dims, keepdim);
        CHECK(difference(values(mean_of), averaged, 5 * 1.2e-7) == "");
        backward(context, {mean_of}, {make(context, g, shape)});
        CHECK(difference(values(b.grad()), spread_mean, 5 * 1.2e-7) == "");
      }
    }
  });
}

TEST_CASE("sums are long and exact", "[sum][op]") {
  on_each_device("long sums", [](Context& context) {
    const std::vector<double> x = pattern(100003, 1);
    double expected = 0;
    for (const double value : x) expected += value;
    CHECK(sum(context, make(context, x, {100003})).item() == expected);
  });
}

TEST_CASE("sum and mean of nothing", "[sum][mean][op]") {
  on_each_device("empty reductions", [](Context& context) {
    const Tensor empty = Tensor::zeros(context, {2, 0}).set_requires_grad();
    CHECK(difference(values(sum(context, empty)), {0}) == "");
    CHECK(difference(values(mean(context, empty)), {kNaN}) == "");
    CHECK(difference(values(sum(context, empty, {1})), {0, 0}) == "");
    CHECK(difference(values(mean(context, empty, {1}, true)), {kNaN, kNaN}) == "");
    CHECK(sum(context, empty, {0}).shape() == Shape{0});
    CHECK(mean(context, empty, {0}).shape() == Shape{0});
    backward(context, {mean(context, empty)}, {});
    CHECK(empty.grad().shape() == empty.shape());
    CHECK(difference(values(sum(context, make(context, {3}, {}), {0})), {3}) == "");
    CHECK(difference(values(mean(context, make(context, {3}, {}))), {3}) == "");
  });
}

TEST_CASE("scale multiplies both ways", "[scale][op]") {
  on_each_device("scale", [](Context& context) {
    const Tensor x = make(context, {1, -2, 3}, {3}).set_requires_grad();
    const Tensor y = scale(context, x, -0.5);
    CHECK(difference(values(y), {-0.5, 1, -1.5}) == "");
    CHECK(wanted_check(context, y) == "");
    backward(context, {y}, {make(context, {2, 4, 8}, {3})});
    CHECK(difference(values(x.grad()), {-1, -2, -4}) == "");
    CHECK(scale(context, Tensor::zeros(context, {0, 3}), 2).shape() == Shape{0, 3});
  });
}

TEST_CASE("gradients of sum, mean and scale agree with central differences",
          "[sum][mean][scale][gradcheck]") {
  const GradcheckInput x{noise(24, 1), {2, 3, 4}};
  for (const std::vector<int>& dims : {std::vector<int>{}, {0}, {1}, {-1}, {0, 2}, {1, 2}, {0, 1, 2}}) {
    const std::string name = fmt::format("dims {}", fmt::join(dims, ","));
    CHECK(
        gradcheck("sum " + name,
                  [&](Context& context, const std::vector<Tensor>& in) { return sum(context, in[0], dims); },
                  {x}) == "");
    CHECK(gradcheck("mean " + name,
                    [&](Context& context, const std::vector<Tensor>& in) {
                      return mean(context, in[0], dims, true);
                    },
                    {x}) == "");
  }
  CHECK(
      gradcheck("scale",
                [](Context& context, const std::vector<Tensor>& in) { return scale(context, in[0], -1.75); },
                {x}) == "");
}

TEST_CASE("sum and mean refuse bad axes, alike on each target", "[sum][mean][op][errors]") {
  on_each_device("reduction errors", [](Context& context) {
    const Tensor x = Tensor::zeros(context, {2, 3});
    CHECK(error_of<ValueError>([&] { sum(context, x, {2}); }) ==
          "[sum] dim must lie between -2 and 1 for shape [2, 3]: it is 2");
    CHECK(error_of<ValueError>([&] { mean(context, x, {-3}); }) ==
          "[mean] dim must lie between -2 and 1 for shape [2, 3]: it is -3");
    CHECK(error_of<ValueError>([&] {
            mean(context, x, {1, -1});
          }) == "[mean] each dim may be named once: 1 of shape [2, 3]");
    CHECK(error_of<DTypeError>([&] { sum(context, Tensor::zeros(context, {2}, DType::Int64)); }) ==
          "[sum] input must be float32 or float64: it is int64");
  });
}
