#include "engine/ops/max.h"

#include <catch2/catch.hpp>

#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/not_finite.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {
const Offers offers{true, false};
}  // namespace

TEST_CASE("max and argmax take the first maximum; the first NaN wins", "[max][op]") {
  on_each_device("max", [](Context& context) {
    const Tensor x = make(context,
                          {1, 3, 3, 2,        //
                           5, kNaN, 9, kNaN,  //
                           -kInf, -kInf, -kInf, -kInf},
                          {3, 4});
    const MaxResult rows = max(context, x, 1);
    CHECK(rows.values.shape() == Shape{3});
    CHECK(difference(values(rows.values), {3, kNaN, -kInf}) == "");
    CHECK(rows.indices.dtype() == DType::Int64);
    CHECK(difference(values(rows.indices), {1, 1, 0}) == "");
    CHECK(difference(values(argmax(context, x, -1)), {1, 1, 0}) == "");
    CHECK(difference(values(argmax(context, x, 0)), {1, 1, 1, 1}) == "");
    CHECK(max(context, x, 0, true).values.shape() == Shape{1, 4});
    CHECK(max_shape({2, 3, 4}, 1) == Shape{2, 4});
    const Tensor planes = pattern(context, {2, 3, 5}, 1);
    CHECK(argmax(context, planes, 1).shape() == Shape{2, 5});
  });
}

TEST_CASE("max records nothing", "[max][op]") {
  on_each_device("max without gradient", [](Context& context) {
    const Tensor x = pattern(context, {2, 3}, 1).set_requires_grad();
    CHECK_FALSE(max(context, x, 1).values.requires_grad());
  });
}

TEST_CASE("max of nothing is an error only where a maximum is asked for", "[max][op][errors]") {
  on_each_device("max empty", [](Context& context) {
    CHECK(argmax(context, Tensor::zeros(context, {0, 2}), 1).shape() == Shape{0});
    CHECK(error_of<ShapeError>([&] {
            argmax(context, Tensor::zeros(context, {2, 0}), 1);
          }) == "[max] dim 1 must not be empty: shape [2, 0]");
    CHECK(error_of<ValueError>([&] {
            max(context, Tensor::zeros(context, {2, 0}), 2);
          }) == "[max] dim must lie between -2 and 1 for shape [2, 0]: it is 2");
    CHECK(difference(values(argmax(context, make(context, {4}, {}), 0)), {0}) == "");
  });
}
