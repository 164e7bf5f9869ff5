// add and mul, and the broadcasting below them.
#include "engine/ops/broadcast.h"

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/autograd.h"
#include "engine/ops/add.h"
#include "engine/ops/mul.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};

const std::vector<std::pair<Shape, Shape>> kShapes{
    {{2, 3}, {2, 3}},
    {{2, 3}, {3}},
    {{3}, {2, 3}},
    {{2, 3, 4}, {3, 1}},
    {{2, 1, 4}, {3, 1}},
    {{1}, {5}},
    {{}, {2, 2}},
    {{4, 1, 3}, {1, 2, 1}},
    {{2, 3, 1, 5}, {3, 4, 1}},
    {{1, 1, 6}, {2, 3, 1}},
    {{}, {}},
};

// The flat index into `from` of element `index` of `shape`, to which it is broadcast.
std::size_t source(const Shape& from, const Shape& shape, std::int64_t index) {
  std::int64_t offset = 0, step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {  // from the last axis
    const std::int64_t size = shape[shape.size() - 1 - i], at = index % size;
    index /= size;
    if (i < from.size()) {
      const std::int64_t own = from[from.size() - 1 - i];
      if (own != 1) offset += at * step;
      step *= own;
    }
  }
  return static_cast<std::size_t>(offset);
}

}  // namespace

TEST_CASE("add and mul broadcast as NumPy and sum gradients back", "[add][mul][op]") {
  on_each_device("broadcast shapes", [](Context& context) {
    for (const auto& [a_shape, b_shape] : kShapes) {
      INFO(to_string(a_shape) << " and " << to_string(b_shape));
      const Shape shape = broadcast_shapes(a_shape, b_shape);
      const std::vector<double> a = pattern(element_count(a_shape), 1),
                                b = pattern(element_count(b_shape), 2), g = pattern(element_count(shape), 3);
      std::vector<double> sum, product;
      std::vector<double> da_sum(a.size()), db_sum(b.size()), da_product(a.size()), db_product(b.size());
      for (std::int64_t i = 0; i < element_count(shape); ++i) {
        const std::size_t at_a = source(a_shape, shape, i), at_b = source(b_shape, shape, i);
        const double gradient = g[static_cast<std::size_t>(i)];
        sum.push_back(a[at_a] + b[at_b]);
        product.push_back(a[at_a] * b[at_b]);
        da_sum[at_a] += gradient;
        db_sum[at_b] += gradient;
        da_product[at_a] += gradient * b[at_b];
        db_product[at_b] += gradient * a[at_a];
      }
      const Tensor x = make(context, a, a_shape).set_requires_grad();
      const Tensor y = make(context, b, b_shape).set_requires_grad();
      const Tensor added = add(context, x, y);
      CHECK(added.shape() == shape);
      CHECK(difference(values(added), sum) == "");
      backward(context, {added}, {make(context, g, shape)});
      CHECK(x.grad().shape() == a_shape);
      CHECK(difference(values(x.grad()), da_sum) == "");
      CHECK(difference(values(y.grad()), db_sum) == "");

      const Tensor u = make(context, a, a_shape).set_requires_grad();
      const Tensor v = make(context, b, b_shape).set_requires_grad();
      const Tensor multiplied = mul(context, u, v);
      CHECK(difference(values(multiplied), product) == "");
      CHECK(wanted_check(context, multiplied) == "");
      backward(context, {multiplied}, {make(context, g, shape)});
      CHECK(difference(values(u.grad()), da_product) == "");
      CHECK(difference(values(v.grad()), db_product) == "");
    }
  });
}

TEST_CASE("gradients of add and mul agree with central differences", "[add][mul][op][gradcheck]") {
  for (const auto& [a, b] : kShapes) {
    const GradcheckInput x{noise(element_count(a), 1), a}, y{noise(element_count(b), 2), b};
    const std::string shapes = to_string(a) + " " + to_string(b);
    CHECK(
        gradcheck("add " + shapes,
                  [](Context& context, const std::vector<Tensor>& in) { return add(context, in[0], in[1]); },
                  {x, y}) == "");
    CHECK(
        gradcheck("mul " + shapes,
                  [](Context& context, const std::vector<Tensor>& in) { return mul(context, in[0], in[1]); },
                  {x, y}) == "");
  }
}

TEST_CASE("mul keeps an operand only for the other's gradient", "[mul][op]") {
  on_each_device("mul saves", [](Context& context) {
    const Tensor a = pattern(context, {2, 3}, 1).set_requires_grad(), b = pattern(context, {3}, 2);
    const Tensor c = mul(context, a, b);
    CHECK_FALSE(c.node()->saved().at(0)->defined());
    CHECK(c.node()->saved().at(1)->defined());
    CHECK(wanted_check(context, c) == "");
    CHECK(add(context, a, b).node()->saved().empty());
  });
}

TEST_CASE("add and mul of empty tensors", "[add][mul][op]") {
  on_each_device("broadcast empty", [](Context& context) {
    const Tensor a = Tensor::zeros(context, {2, 0, 3}).set_requires_grad();
    const Tensor b = pattern(context, {2, 1, 1}, 1).set_requires_grad();
    for (const Tensor& y : {add(context, a, b), mul(context, a, b)}) {
      CHECK(y.shape() == Shape{2, 0, 3});
      backward(context, {y}, {Tensor::zeros(context, {2, 0, 3})});
      CHECK(a.grad().shape() == a.shape());
      CHECK(difference(values(b.grad()), {0, 0}) == "");
    }
    CHECK(add(context, Tensor::zeros(context, {0, 4}), Tensor::zeros(context, {1, 4})).shape() ==
          Shape{0, 4});
    CHECK(mul(context, Tensor::zeros(context, {0, std::int64_t{1} << 62, 4}), make(context, {2}, {1}))
              .shape() == Shape{0, std::int64_t{1} << 62, 4});
  });
}

TEST_CASE("axes that repeat alike are merged, so that many fit a kernel", "[broadcast][op]") {
  const BroadcastArgs same = broadcast_args({2, 3, 4}, {2, 3, 4}, {2, 3, 4});
  CHECK(same.dims == 1);
  CHECK(same.shape[0] == 24);
  const BroadcastArgs bias = broadcast_args({8, 5, 6, 7}, {5, 1, 1}, {8, 5, 6, 7});
  CHECK(bias.dims == 3);
  CHECK(bias.shape[2] == 42);
  CHECK(bias.stride_b[0] == 0);
  CHECK(bias.stride_b[1] == 1);
  CHECK(bias.stride_b[2] == 0);
  const Shape many(12, 2);
  CHECK(broadcast_args(many, {2}, many).dims == 2);
}

TEST_CASE("add and mul refuse what does not broadcast, alike on each target", "[add][mul][op][errors]") {
  on_each_device("broadcast errors", [](Context& context) {
    const Tensor a = Tensor::zeros(context, {2, 3}), b = Tensor::zeros(context, {2, 4});
    for (const auto op : {add, mul}) {
      CHECK_THAT(error_of<ShapeError>([&] { op(context, a, b); }),
                 Catch::Contains("[2, 3]") && Catch::Contains("[2, 4]"));
    }
    CHECK(error_of<DTypeError>([&] { add(context, a, Tensor::zeros(context, {3}, DType::Float64)); }) ==
          "[add] operands must have one dtype: input is float32, other is float64");
    Shape left(10, 2), right(10, 2);
    for (std::size_t i = 0; i < 10; ++i) (i % 2 == 0 ? left : right)[i] = 1;
    CHECK_THAT(error_of<ShapeError>(
                   [&] { mul(context, Tensor::zeros(context, left), Tensor::zeros(context, right)); }),
               Catch::Contains("at most 8 axes"));
  });
}
