#include "engine/ops/views.h"

#include <vector>

#include <catch2/catch.hpp>

#include "engine/autograd.h"
#include "kernels/error.h"
#include "tests/engine/toy_ops.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

TEST_CASE("reshape infers one size and keeps the elements", "[views]") {
  CHECK(reshape_shape({2, 3, 4}, {4, -1}) == Shape{4, 6});
  CHECK(reshape_shape({6}, {2, 3}) == Shape{2, 3});
  CHECK(reshape_shape({}, {1, -1}) == Shape{1, 1});
  CHECK(reshape_shape({0, 5}, {-1, 5}) == Shape{0, 5});
  CHECK_THROWS_AS(reshape_shape({0, 5}, {-1, 0}), ShapeError);
  CHECK_THROWS_AS(reshape_shape({6}, {-1, -1}), ShapeError);
  CHECK_THROWS_WITH(reshape_shape({6}, {4, -1}), Contains("[6]") && Contains("[4, -1]"));
  CHECK_THROWS_AS(reshape_shape({6}, {-2, -3}), ShapeError);
  CHECK_THROWS_AS(reshape_shape({6}, {5}), ShapeError);
}

TEST_CASE("flatten joins the axes from one on", "[views]") {
  CHECK(flatten_shape({2, 3, 4, 5}) == Shape{2, 60});
  CHECK(flatten_shape({2, 3, 4, 5}, 0) == Shape{120});
  CHECK(flatten_shape({2, 3, 4, 5}, -2) == Shape{2, 3, 20});
  CHECK(flatten_shape({0, 3, 4}) == Shape{0, 12});
  CHECK(flatten_shape({}, 0) == Shape{1});
  CHECK_THROWS_AS(flatten_shape({7}), ShapeError);
  CHECK_THROWS_AS(flatten_shape({}, 1), ShapeError);
  CHECK_THROWS_AS(flatten_shape({2, 3}, -3), ShapeError);
}

TEST_CASE("views share storage", "[views]") {
  Context context(kRef);
  const Tensor x =
      Tensor::from_host(context, std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {4, 3});
  const Tensor rows = narrow(context, x, 1, 2);
  CHECK(rows.storage() == x.storage());
  CHECK(rows.to_host<double>() == std::vector<double>{3, 4, 5, 6, 7, 8});
  Tensor last = narrow(context, reshape(context, rows, {6}), 5, 1);
  fill_(context, last, -1.0);
  CHECK(x.to_host<double>()[8] == -1.0);
  CHECK(x.storage()->version() == 1);
  CHECK(narrow(context, x, 4, 0).shape() == Shape{0, 3});
}

TEST_CASE("rows outside the input are refused", "[views]") {
  Context context(kRef);
  const Tensor x = Tensor::zeros(context, {4, 3});
  CHECK_THROWS_WITH(narrow(context, x, 3, 2), Contains("2 rows from row 3"));
  CHECK_THROWS_AS(narrow(context, x, -1, 2), ShapeError);
  CHECK_THROWS_AS(narrow(context, x, 1, -1), ShapeError);
  CHECK_THROWS_AS(narrow(context, x, 5, 0), ShapeError);
  CHECK_THROWS_AS(narrow(context, x, 1, INT64_MAX), ShapeError);
  CHECK_THROWS_AS(narrow(context, Tensor::zeros(context, {}), 0, 0), ShapeError);
}

TEST_CASE("views of another device are refused", "[views]") {
  Context context(kRef), other(Device{DeviceKind::Ref, 1});
  CHECK_THROWS_AS(flatten(other, Tensor::zeros(context, {4, 3})), DeviceError);
}

TEST_CASE("narrow pads its gradient with zeros, overlapping windows add", "[views]") {
  Context context(kRef);
  const Tensor x = leaf(context, {1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  const Tensor a = narrow(context, x, 0, 2), b = narrow(context, x, 1, 2);
  backward(context, {sum(context, mul(context, a, b))}, {});
  CHECK(grad_of(x) == std::vector<double>{3, 4, 1 + 5, 2 + 6, 3, 4, 0, 0});
}

TEST_CASE("the gradient of a reshape has the input's shape and memory of its own", "[views]") {
  Context context(kRef);
  const Tensor x = leaf(context, {1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor outside = Tensor::from_host(context, std::vector<double>{1, 2, 3, 4, 5, 6}, {3, 2});
  backward(context, {reshape(context, x, {3, 2})}, {outside});
  CHECK(x.grad().shape() == Shape{2, 3});
  CHECK(grad_of(x) == outside.to_host<double>());
  CHECK(x.grad().storage() != outside.storage());
}
