// The networks: layers, shapes and parameters as their descriptions say, and able to learn.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "engine/autograd.h"
#include "engine/optim/sgd.h"
#include "kernels/error.h"
#include "models/digits.h"
#include "models/loader.h"
#include "models/model.h"
#include "tests/support/errors.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

namespace {

std::string names(const Model& model) {
  std::vector<std::string> names;
  for (int i = 0; i < model.layers.size(); ++i) names.push_back(model.layers.name(i));
  return fmt::format("{}", fmt::join(names, " "));
}

Shape batch_of(const Model& model, std::int64_t count) {
  Shape shape = model.sample_shape;
  shape.insert(shape.begin(), count);
  return shape;
}

}  // namespace

TEST_CASE("net is the network of the introductions", "[models]") {
  Model net = make_model("net");
  CHECK(names(net) == "conv1 pool1 relu1 conv2 pool2 relu2 flatten fc1 relu3 fc2 log_softmax");
  CHECK(net.layers.parameter_count() == 431080);
  std::map<std::string, Shape> shapes;
  for (const Parameter* parameter : net.layers.parameters()) shapes[parameter->name] = parameter->shape;
  CHECK(shapes == std::map<std::string, Shape>{{"conv1.weight", {20, 1, 5, 5}},
                                               {"conv1.bias", {20}},
                                               {"conv2.weight", {50, 20, 5, 5}},
                                               {"conv2.bias", {50}},
                                               {"fc1.weight", {500, 800}},
                                               {"fc1.bias", {500}},
                                               {"fc2.weight", {10, 500}},
                                               {"fc2.bias", {10}}});
  CHECK(net.layers.slice(0, 7).output_shape({3, 1, 28, 28}) == Shape{3, 800});
  CHECK(!net.colour);
}

TEST_CASE("mlp is three dense layers that end in logits", "[models]") {
  Model mlp = make_model("mlp");
  CHECK(names(mlp) == "flatten fc1 relu1 fc2 relu2 fc3");
  CHECK(mlp.layers.parameter_count() == 784 * 128 + 128 + 128 * 64 + 64 + 64 * 10 + 10);
}

TEST_CASE("vgg has as many layers to cut as its depth says", "[models]") {
  for (int depth = 2; depth <= 24; ++depth) {
    Model vgg = make_model("vgg", depth);
    CHECK(vgg.layers.size() == depth);
    CHECK(vgg.layers.output_shape({5, 3, 32, 32}) == Shape{5, 10});
  }
  CHECK(make_model("vgg").layers.size() == 8);
  CHECK(make_model("vgg").colour);
  CHECK(names(make_model("vgg", 4)) == "block1 block2 block3 classifier");
  CHECK(make_model("vgg").layers.parameters()[2]->name == "block2.conv.weight");
  for (const int depth : {-1, 0, 1, 25}) {
    CHECK_THAT(error_of<ValueError>([&] { make_model("vgg", depth); }),
               Contains("2 to 24") && Contains(std::to_string(depth)));
  }
}

TEST_CASE("an unknown model is refused with those that exist", "[models]") {
  for (const char* name : {"", "Net", "lenet"}) {
    CHECK_THAT(error_of<ValueError>([&] { make_model(name); }), Contains("net, mlp, vgg"));
  }
}

TEST_CASE("every model gives ten outputs a sample and a loss that is a sum", "[models]") {
  Context context;
  for (const char* name : {"net", "mlp", "vgg"}) {
    INFO(name);
    Model model = make_model(name);
    model.layers.materialise(context, 1);
    const auto data = builtin_digits(model.colour ? DigitStyle::Colour : DigitStyle::Grey);
    CHECK(data->sample_shape == model.sample_shape);
    CHECK(model.layers.output_shape(batch_of(model, 6)) == Shape{6, data->classes});
    const auto loss = [&](std::int64_t begin, std::int64_t end) {
      const parallel::Batch batch = read_samples(context, *data, data->test, {begin, end}, true, true);
      const Tensor output = model.layers.forward(context, batch.input);
      CHECK(output.shape() == Shape{end - begin, data->classes});
      return model.loss(context, output, batch.target).item();
    };
    const double whole = loss(0, 6);
    CHECK(whole == Approx(loss(0, 2) + loss(2, 6)).epsilon(1e-5));
    // Untrained, hardly better or worse than a guess.
    CHECK(whole / 6 == Approx(std::log(10.0)).margin(1.5));
  }
}

TEST_CASE("every model learns a few images by heart", "[models]") {
  for (const char* name : {"net", "mlp", "vgg"}) {
    INFO(name);
    constexpr std::int64_t kImages = 4;
    Context context;
    Model model = make_model(name);
    model.layers.materialise(context, 1);
    const auto data = builtin_digits(model.colour ? DigitStyle::Colour : DigitStyle::Grey);
    const parallel::Batch batch = read_samples(context, *data, data->train, {0, kImages}, true, true);
    Sgd optimizer(model.layers.parameters(), {.lr = 0.01, .momentum = 0.9});
    double first = 0, last = 0;
    for (int step = 0; step < 60; ++step) {
      const Tensor loss = model.loss(context, model.layers.forward(context, batch.input), batch.target);
      last = loss.item() / kImages;
      if (step == 0) first = last;
      optimizer.zero_grad();
      backward(context, {loss}, {Tensor::full(context, {}, 1.0 / kImages)});
      optimizer.step(context);
    }
    fmt::print("{}: loss {:.3f}, after 60 steps on the same {} images {:.4f}\n", name, first, kImages, last);
    CHECK(last < 0.1);
  }
}
