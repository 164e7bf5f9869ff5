#include "engine/tensor.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/checks.h"
#include "engine/inplace.h"
#include "engine/transfer.h"
#include "kernels/error.h"
#include "tests/support/options.h"

using namespace warpline;
using Catch::Matchers::Contains;

namespace {
const test::Offers offers{true, false};
}

TEST_CASE("a tensor is made from host values and read back", "[tensor]") {
  for (const DeviceKind kind : test::device_kinds()) {
    Context context(Device{kind, 0});
    const Tensor x = Tensor::from_host(context, std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    CHECK(x.shape() == Shape{2, 3});
    CHECK(x.count() == 6);
    CHECK(x.bytes() == 24);
    CHECK(x.size(-1) == 3);
    CHECK(x.dtype() == DType::Float32);
    CHECK(x.device() == Device{kind, 0});
    CHECK(x.to_host<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(Tensor::zeros(context, {3}, DType::Int64).to_host<std::int64_t>() == std::vector<std::int64_t>(3));
    CHECK(Tensor::full(context, {2}, 0.5).to_host<float>() == std::vector<float>{0.5F, 0.5F});
    CHECK(Tensor::full(context, {}, -2.25, DType::Float64).item() == -2.25);
    const Tensor nothing = Tensor::empty(context, {0, 5});
    CHECK(nothing.to_host<float>().empty());
  }
}

TEST_CASE("item reads one element of any dtype", "[tensor]") {
  Context context;
  CHECK(Tensor::from_host(context, std::vector<float>{1.5F}, {1, 1}).item() == 1.5);
  CHECK(Tensor::from_host(context, std::vector<std::int64_t>{-7}, {}).item() == -7.0);
  CHECK(Tensor::from_host(context, std::vector<std::int32_t>{-8}, {}).item() == -8.0);
  CHECK(Tensor::from_host(context, std::vector<std::uint8_t>{200}, {}).item() == 200.0);
  CHECK(Tensor::from_host(context, std::vector<std::uint32_t>{4'000'000'000U}, {}).item() == 4e9);
  CHECK_THROWS_AS(Tensor::zeros(context, {2}).item(), ShapeError);
  CHECK_THROWS_AS(Tensor::empty(context, {0}).item(), ShapeError);
}

TEST_CASE("what does not fit is refused", "[tensor]") {
  Context context;
  CHECK_THROWS_AS(Tensor::from_host(context, std::vector<float>{1, 2}, {3}), ShapeError);
  CHECK_THROWS_AS(Tensor::empty(context, {2, -1}), ShapeError);
  CHECK_THROWS_AS(Tensor::empty(context, {std::numeric_limits<std::int64_t>::max()}), ShapeError);
  const Tensor x = Tensor::zeros(context, {2, 3});
  CHECK_THROWS_AS(x.to_host<double>(), DTypeError);
  CHECK_THROWS_AS(x.size(2), ShapeError);
  CHECK_THROWS_AS(x.size(-3), ShapeError);
  CHECK_THROWS_AS(Tensor::view_of(x, 4, {3}), ShapeError);
  CHECK_THROWS_AS(Tensor::view_of(x, -1, {1}), ShapeError);
}

TEST_CASE("an undefined tensor answers nothing but defined()", "[tensor]") {
  Context context;
  Tensor x;
  CHECK_FALSE(x.defined());
  CHECK_THROWS_AS(x.shape(), AutogradError);
  CHECK_THROWS_AS(x.data(), AutogradError);
  CHECK_THROWS_AS(x.set_requires_grad(), AutogradError);
  CHECK_THROWS_AS(x.detach(), AutogradError);
}

TEST_CASE("copying a tensor copies the handle", "[tensor]") {
  Context context;
  const Tensor x = Tensor::zeros(context, {2});
  Tensor y = x;
  CHECK(y.same_as(x));
  fill_(context, y, 3.0);
  CHECK(x.to_host<float>() == std::vector<float>{3, 3});
  CHECK_FALSE(x.detach().same_as(x));
  CHECK(x.detach().storage() == x.storage());
}

TEST_CASE("only floating leaves can require a gradient", "[tensor]") {
  Context context;
  Tensor labels = Tensor::zeros(context, {2}, DType::Int64);
  CHECK_THROWS_WITH(labels.set_requires_grad(), Contains("int64"));
  labels.set_requires_grad(false);
  Tensor x = Tensor::zeros(context, {2});
  CHECK_FALSE(x.requires_grad());
  CHECK(x.set_requires_grad().requires_grad());
  CHECK(x.is_leaf());
  CHECK_FALSE(x.detach().requires_grad());
}

TEST_CASE("a gradient has its tensor's shape, dtype and device", "[tensor]") {
  Context context, other(Device{DeviceKind::Cpu, 1});
  Tensor x = Tensor::zeros(context, {2, 3});
  CHECK_FALSE(x.grad().defined());
  CHECK_THROWS_AS(x.set_grad(Tensor::zeros(context, {3, 2})), ShapeError);
  CHECK_THROWS_AS(x.set_grad(Tensor::zeros(context, {2, 3}, DType::Float64)), DTypeError);
  CHECK_THROWS_WITH(x.set_grad(Tensor::zeros(other, {2, 3})), Contains("cpu:0") && Contains("cpu:1"));
  const Tensor gradient = Tensor::zeros(context, {2, 3});
  x.set_grad(gradient);
  CHECK(x.grad().same_as(gradient));
  x.set_grad({});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("in-place helpers change values and count the change once", "[tensor]") {
  for (const DeviceKind kind : test::device_kinds()) {
    Context context(Device{kind, 0});
    Tensor x = Tensor::from_host(context, std::vector<float>{1, 2, 3}, {3});
    const Tensor y = Tensor::from_host(context, std::vector<float>{10, 20, 30}, {3});
    add_into(context, x, y);
    CHECK(x.to_host<float>() == std::vector<float>{11, 22, 33});
    add_into(context, x, y, -0.5);
    CHECK(x.to_host<float>() == std::vector<float>{6, 12, 18});
    scale_(context, x, 0.5);
    CHECK(x.to_host<float>() == std::vector<float>{3, 6, 9});
    copy_into(context, x, y);
    CHECK(x.to_host<float>() == std::vector<float>{10, 20, 30});
    fill_(context, x, -1.0);
    CHECK(x.to_host<float>() == std::vector<float>{-1, -1, -1});
    CHECK(x.storage()->version() == 5);
    CHECK(y.storage()->version() == 0);
    CHECK(y.to_host<float>() == std::vector<float>{10, 20, 30});
    CHECK_THROWS_AS(add_into(context, x, Tensor::zeros(context, {1})), ShapeError);
    CHECK_THROWS_AS(copy_into(context, x, Tensor::zeros(context, {3}, DType::Float64)), DTypeError);
    CHECK(x.storage()->version() == 5);
  }
}

TEST_CASE("a tensor is copied between devices, without its gradient", "[tensor]") {
  Context context, other(Device{DeviceKind::Ref, 2});
  Tensor x = Tensor::from_host(context, std::vector<double>{1, 2}, {2});
  x.set_requires_grad();
  const Tensor copy = copy_to(other, x);
  CHECK(copy.device() == Device{DeviceKind::Ref, 2});
  CHECK(copy.to_host<double>() == std::vector<double>{1, 2});
  CHECK(copy.storage() != x.storage());
  CHECK_FALSE(copy.requires_grad());
}

TEST_CASE("operands on other devices are refused, both named", "[tensor]") {
  Context context, other(Device{DeviceKind::Cpu, 1}), reference(Device{DeviceKind::Ref, 0});
  const Tensor here = Tensor::zeros(context, {2}), there = Tensor::zeros(other, {2}),
               oracle = Tensor::zeros(reference, {2});
  check_same_device("conv2d", context, {{"input", here}, {"bias", Tensor()}});
  CHECK_THROWS_WITH(check_same_device("conv2d", context, {{"input", here}, {"weight", there}}),
                    Contains("[conv2d] weight") && Contains("cpu:1") && Contains("cpu:0"));
  CHECK_THROWS_WITH(check_same_device("conv2d", context, {{"input", oracle}}),
                    Contains("ref:0") && Contains("cpu:0"));
  Tensor target = here;
  CHECK_THROWS_AS(copy_into(context, target, there), DeviceError);
  CHECK_THROWS_AS(fill_(other, target, 1.0), DeviceError);
}

TEST_CASE("operands of other dtypes and shapes are refused", "[tensor]") {
  Context context;
  const Tensor single = Tensor::zeros(context, {2, 3}), labels = Tensor::zeros(context, {2}, DType::Int64),
               twice = Tensor::zeros(context, {2}, DType::Float64);
  CHECK(check_floating("linear", {{"input", single}, {"bias", Tensor()}}) == DType::Float32);
  CHECK_THROWS_WITH(check_floating("linear", {{"input", single}, {"weight", twice}}),
                    Contains("input is float32, weight is float64"));
  CHECK_THROWS_WITH(check_floating("linear", {{"input", labels}}), Contains("int64"));
  check_dtype("nll_loss", {"target", labels}, DType::Int64);
  CHECK_THROWS_WITH(check_dtype("nll_loss", {"target", single}, DType::Int64), Contains("must be int64"));
  CHECK_THROWS_WITH(check_shape("conv2d", {"bias", labels}, {3}), Contains("[3]") && Contains("[2]"));
}

TEST_CASE("contexts of one rank share memory, each with its own gradient mode", "[tensor]") {
  Context parent(Device{DeviceKind::Cpu, 3}, 2);
  parent.random.seed = 9;
  Context child(parent, 1);
  CHECK(child.device() == parent.device());
  CHECK(child.allocator() == parent.allocator());
  CHECK(child.threads() == 1);
  CHECK(child.random.seed == 9);
  {
    const NoGrad no_grad(child);
    const NoGrad nested(child);
    CHECK(parent.recording());
    CHECK_FALSE(child.recording());
  }
  CHECK(child.recording());
}
