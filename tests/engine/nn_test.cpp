// Layers, Sequential, and how parameters start.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/autograd.h"
#include "engine/nn/conv2d.h"
#include "engine/nn/flatten.h"
#include "engine/nn/linear.h"
#include "engine/nn/log_softmax.h"
#include "engine/nn/max_pool2d.h"
#include "engine/nn/module.h"
#include "engine/nn/relu.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};

// The gradient of every parameter and of the input, by putting the values to check into the parameters.
std::string module_gradcheck(Module& module, const Shape& input, const std::vector<double>& x) {
  std::vector<GradcheckInput> inputs{{x, input}};
  std::int64_t salt = 2;
  for (const Parameter* parameter : module.parameters()) {
    inputs.push_back({noise(element_count(parameter->shape), salt++), parameter->shape});
  }
  return gradcheck(
      module.describe(),
      [&module](Context& context, const std::vector<Tensor>& in) {
        const std::vector<Parameter*> parameters = module.parameters();
        for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i]->value = in[i + 1];
        return module.forward(context, in[0]);
      },
      inputs);
}

Sequential make_small_net() {
  Sequential net;
  net.add("conv1", std::make_shared<Conv2d>(2, 3, Pair{3, 2}));
  net.add("pool1", std::make_shared<MaxPool2d>(MaxPool2dOptions{.kernel_size = {2, 1}}));
  net.add("relu1", std::make_shared<ReLU>());
  net.add("flatten", std::make_shared<Flatten>());
  net.add("fc1", std::make_shared<Linear>(18, 4));
  net.add("softmax", std::make_shared<LogSoftmax>(1));
  return net;
}

const Shape kInput{2, 2, 6, 4};

std::vector<std::string> names(Module& module) {
  std::vector<std::string> result;
  for (const Parameter* parameter : module.parameters()) result.push_back(parameter->name);
  return result;
}

}  // namespace

TEST_CASE("every layer tells its output shape and what it is without running", "[nn]") {
  CHECK(Conv2d(1, 20, {5, 5}).describe() == "Conv2d(1, 20, kernel 5x5)");
  CHECK(Conv2d(4, 6, {3, 2}, {{1, 2}, {0, 1}, {2, 3}, 2, false}, false).describe() ==
        "Conv2d(4, 6, kernel 3x2, stride 1x2, padding 0x1, dilation 2x3, groups 2, no bias)");
  CHECK(Conv2d(1, 2, {3, 3}, {.same = true}).describe() == "Conv2d(1, 2, kernel 3x3, padding same)");
  CHECK(MaxPool2d({.kernel_size = {2, 2}}).describe() == "MaxPool2d(kernel 2x2)");
  CHECK(
      MaxPool2d(
          {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .ceil_mode = true})
          .describe() == "MaxPool2d(kernel 3x2, stride 2x1, padding 1x0, dilation 1x2, ceil mode)");
  CHECK(Linear(800, 500).describe() == "Linear(800, 500)");
  CHECK(Linear(3, 2, false).describe() == "Linear(3, 2, no bias)");
  CHECK(ReLU().describe() == "ReLU()");
  CHECK(LogSoftmax(-1).describe() == "LogSoftmax(dim -1)");
  CHECK(Flatten().describe() == "Flatten()");
  CHECK(Flatten(0, 1).describe() == "Flatten(0, 1)");
  CHECK(Flatten(0, 1).output_shape({2, 3, 4}) == Shape{6, 4});
  CHECK(Flatten(-2).output_shape({2, 3, 4}) == Shape{2, 12});
  CHECK(Flatten().output_shape({0, 3, 2}) == Shape{0, 6});
  CHECK(Flatten(0).output_shape({}) == Shape{1});
  const Sequential net = make_small_net();
  CHECK(net.output_shape(kInput) == Shape{2, 4});
  CHECK(net.slice(0, 2).describe() ==
        "Sequential(conv1: Conv2d(2, 3, kernel 3x2), pool1: MaxPool2d(kernel 2x1))");
}

TEST_CASE("parameters start uniform in the bound, by seed and name alone", "[nn][random]") {
  on_each_device("initial values", [](Context& context) {
    Sequential net = make_small_net();
    CHECK(names(net) == std::vector<std::string>{"conv1.weight", "conv1.bias", "fc1.weight", "fc1.bias"});
    CHECK(net.parameter_count() == 3 * 2 * 3 * 2 + 3 + 18 * 4 + 4);
    net.materialise(context, 1);
    for (const Parameter* parameter : net.parameters()) {
      INFO(parameter->name);
      const double bound = 1 / std::sqrt(parameter->name.starts_with("conv1") ? 12.0 : 18.0);
      CHECK(parameter->init_bound == Approx(bound));
      const std::vector<double> x = values(parameter->value);
      CHECK(std::ranges::all_of(x, [&](double value) { return std::abs(value) <= bound * (1 + 1e-7); }));
      CHECK(std::ranges::any_of(x, [&](double value) { return std::abs(value) > bound / 2; }));
      CHECK(parameter->value.requires_grad());
      CHECK(parameter->value.name() == parameter->name);
    }
    Sequential grouped;
    grouped.add("conv", std::make_shared<Conv2d>(4, 6, Pair{3, 2}, Conv2dOptions{.groups = 2}));
    for (const Parameter* parameter : grouped.parameters()) {
      CHECK(parameter->init_bound == Approx(1 / std::sqrt(2.0 * 3 * 2)));
    }
    // Another rank that holds the last stage only has the same values there; another seed or name has not.
    Sequential other = make_small_net();
    Sequential stage = other.slice(4, 6);
    stage.materialise(context, 1);
    CHECK(names(stage) == std::vector<std::string>{"fc1.weight", "fc1.bias"});
    const std::vector<double> weight = values(net.parameters()[2]->value);
    CHECK(difference(values(stage.parameters()[0]->value), weight) == "");
    CHECK(other.parameters()[2]->value.same_as(stage.parameters()[0]->value));  // shared, not copied
    CHECK_FALSE(other.parameters()[0]->value.defined());
    stage.materialise(context, 2);
    CHECK(difference(values(stage.parameters()[0]->value), weight) != "");
    Sequential renamed;
    renamed.add("fc2", std::make_shared<Linear>(18, 4));
    renamed.materialise(context, 1);
    CHECK(difference(values(renamed.parameters()[0]->value), weight) != "");
  });
}

TEST_CASE("float32 parameters start as the float64 ones, rounded", "[nn][random]") {
  Context context({DeviceKind::Ref, 0});
  Linear single(5, 3), twice(5, 3);
  single.materialise(context, 7);
  twice.materialise(context, 7, DType::Float64);
  CHECK(twice.parameters()[0]->value.dtype() == DType::Float64);
  std::vector<double> rounded = values(twice.parameters()[0]->value);
  for (double& value : rounded) value = static_cast<float>(value);
  CHECK(difference(values(single.parameters()[0]->value), rounded) == "");
}

TEST_CASE("initial values fill their range evenly", "[nn][random]") {
  Context context({DeviceKind::Ref, 0});
  Linear layer(400, 100, false);
  layer.materialise(context, 3);
  // 40,000 draws on [-b, b]: the mean has a standard deviation of b / sqrt(3 n), the mean square, whose
  // expectation is b^2 / 3, one of b^2 sqrt(4 / 45 / n). Five of each.
  const double b = 0.05, n = 40000;
  double sum = 0, squares = 0;
  for (const double value : values(layer.parameters()[0]->value)) {
    sum += value;
    squares += value * value;
  }
  CHECK(std::abs(sum / n) < 5 * b / std::sqrt(3 * n));
  CHECK(std::abs(squares / n - b * b / 3) < 5 * b * b * std::sqrt(4.0 / 45 / n));
}

TEST_CASE("a net cut into slices computes what the whole does", "[nn]") {
  on_each_device("slices", [](Context& context) {
    Sequential net = make_small_net();
    net.materialise(context, 1);
    const Tensor x = pattern(context, kInput, 1);
    const Tensor whole = net.forward(context, x);
    CHECK(whole.shape() == Shape{2, 4});
    for (int cut = 0; cut <= net.size(); ++cut) {
      const Tensor between = net.slice(0, cut).forward(context, x);
      CHECK(difference(values(net.slice(cut, net.size()).forward(context, between)), values(whole)) == "");
    }
  });
}

TEST_CASE("gradients of every module agree with central differences", "[nn][gradcheck]") {
  Conv2d conv(4, 6, {3, 2}, {{1, 2}, {0, 1}, {2, 3}, 2, false});
  CHECK(module_gradcheck(conv, {2, 4, 7, 6}, noise(336, 1)) == "");
  Conv2d same(2, 3, {2, 3}, {.dilation = {1, 2}, .same = true}, false);
  CHECK(module_gradcheck(same, {2, 5, 6}, noise(60, 1)) == "");
  MaxPool2d pool({.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 1}, .ceil_mode = true});
  CHECK(module_gradcheck(pool, {2, 2, 6, 5}, spread(120, 1)) == "");
  Linear linear(5, 3), plain(4, 2, false);
  CHECK(module_gradcheck(linear, {3, 5}, noise(15, 1)) == "");
  CHECK(module_gradcheck(plain, {2, 3, 4}, noise(24, 1)) == "");
  ReLU relu;
  CHECK(module_gradcheck(relu, {3, 7}, spread(21, 1)) == "");
  LogSoftmax softmax(1);
  CHECK(module_gradcheck(softmax, {2, 5, 3}, noise(30, 1)) == "");
  Flatten flatten(1, 2);
  CHECK(module_gradcheck(flatten, {2, 3, 2, 2}, noise(24, 1)) == "");
  Sequential net = make_small_net();
  CHECK(module_gradcheck(net, kInput, noise(96, 5)) == "");
}

TEST_CASE("layers refuse what cannot be built", "[nn][errors]") {
  CHECK(error_of<ValueError>([] { Linear(-1, 3); }) ==
        "[Linear] features must not be negative: in -1, out 3");
  CHECK(error_of<ValueError>([] {
          Conv2d(3, 4, {2, 2}, {.groups = 2});
        }) == "[Conv2d] channels must be multiples of groups, those out positive: in 3, out 4, groups 2");
  CHECK(error_of<ValueError>([] {
          Conv2d(2, 0, {2, 2});
        }) == "[Conv2d] channels must be multiples of groups, those out positive: in 2, out 0, groups 1");
  CHECK(error_of<ValueError>([] {
          Conv2d(2, 4, {2, 0});
        }) == "[conv2d] kernel size must be positive: it is 2x0");
  CHECK(error_of<ValueError>([] {
          MaxPool2d({.kernel_size = {2, 2}, .padding = {2, 0}});
        }) == "[max_pool2d] padding must be at most half of the kernel: padding 2x0, kernel 2x2");
  CHECK(error_of<ValueError>([] {
          Flatten(2, 1).output_shape({1, 2, 3});
        }) == "[Flatten] the end must not come before the start: dims 2 to 1 of shape [1, 2, 3]");
  Sequential net = make_small_net();
  CHECK(error_of<ValueError>([&] { net.add("fc1", std::make_shared<ReLU>()); }) ==
        "[Sequential] names must differ: fc1 is taken by Linear(18, 4)");
  CHECK(error_of<ValueError>([&] { net.add("a.b", std::make_shared<ReLU>()); }) ==
        "[Sequential] a layer's name must not be empty or hold a dot: \"a.b\"");
  CHECK(error_of<ValueError>([&] { net.add("none", nullptr); }) == "[Sequential] layer none is null");
  CHECK(error_of<ValueError>([&] { net.slice(2, 7); }) ==
        "[Sequential] a slice lies within the 6 layers: [2, 7)");
  CHECK(error_of<ValueError>([&] { net.slice(3, 2); }) ==
        "[Sequential] a slice lies within the 6 layers: [3, 2)");
  const auto shared = std::make_shared<Linear>(4, 4);
  net.add("fc2", shared);
  CHECK(error_of<ValueError>([&] { net.add("fc3", shared); }) ==
        "[Sequential] a layer with parameters has one name: fc3 is fc2 already");
}

TEST_CASE("a layer that does not fit is named", "[nn][errors]") {
  on_each_device("layer errors", [](Context& context) {
    Sequential net = make_small_net();
    const std::string expected =
        "layer fc1: [linear] the input's last axis must be the weight's 18: input [2, 24], weight [4, 18]";
    CHECK(error_of<ShapeError>([&] { net.output_shape({2, 2, 6, 5}); }) == expected);
    Sequential flat;
    flat.add("flat", std::make_shared<Flatten>());
    CHECK_THAT(error_of<ValueError>([&] { flat.output_shape({7}); }), Catch::StartsWith("layer flat: "));
    CHECK_THAT(error_of<AutogradError>([&] { net.forward(context, pattern(context, kInput, 1)); }),
               Catch::Contains("conv1.weight has no value"));
    net.materialise(context, 1);
    CHECK(error_of<ShapeError>([&] { net.forward(context, pattern(context, {2, 2, 6, 5}, 1)); }) == expected);
  });
}
