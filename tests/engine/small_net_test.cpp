// Layers, loss, backward and optimiser together: the same training on each target, and no leak.
#include <cmath>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "engine/autograd.h"
#include "engine/nn/conv2d.h"
#include "engine/nn/flatten.h"
#include "engine/nn/linear.h"
#include "engine/nn/log_softmax.h"
#include "engine/nn/max_pool2d.h"
#include "engine/nn/module.h"
#include "engine/nn/relu.h"
#include "engine/ops/nll_loss.h"
#include "engine/optim/adam.h"
#include "engine/optim/sgd.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};
constexpr std::int64_t kBatch = 7, kClasses = 5;
constexpr int kSteps = 40;

Sequential make_net() {
  Sequential net;
  net.add("conv1", std::make_shared<Conv2d>(1, 6, Pair{3, 3}))
      .add("pool1", std::make_shared<MaxPool2d>(MaxPool2dOptions{.kernel_size = {2, 2}}))
      .add("relu1", std::make_shared<ReLU>())
      .add("conv2", std::make_shared<Conv2d>(6, 8, Pair{3, 2}, Conv2dOptions{.padding = {1, 0}}))
      .add("relu2", std::make_shared<ReLU>())
      .add("flatten", std::make_shared<Flatten>())
      .add("fc1", std::make_shared<Linear>(8 * 4 * 4, 16))
      .add("relu3", std::make_shared<ReLU>())
      .add("fc2", std::make_shared<Linear>(16, kClasses))
      .add("softmax", std::make_shared<LogSoftmax>(1));
  return net;
}

struct Training {
  std::vector<double> losses;
  std::vector<std::int64_t> system_allocations, live_nodes, live_storages, live_bytes;
};

Training train(Context& context, DType dtype, bool adam) {
  Training result;
  Sequential net = make_net();
  net.materialise(context, 1, dtype);
  std::unique_ptr<Optimizer> optimizer;
  if (adam) {
    optimizer = std::make_unique<Adam>(net.parameters(), AdamOptions{.lr = 0.01});
  } else {
    optimizer = std::make_unique<Sgd>(net.parameters(), SgdOptions{.lr = 0.1, .momentum = 0.9});
  }
  const Shape shape{kBatch, 1, 11, 12};
  const Tensor x = make(context, noise(element_count(shape), 3), shape, dtype);
  const Tensor target = make(context, {0, 1, 2, 3, 4, 1, 3}, {kBatch}, DType::Int64);
  for (int step = 0; step < kSteps; ++step) {
    optimizer->zero_grad();
    {
      const Tensor loss = nll_loss(context, net.forward(context, x), target);
      backward(context, {loss}, {});
      result.losses.push_back(loss.item());
    }
    optimizer->step(context);
    result.system_allocations.push_back(context.allocator()->stats().system_allocations);
    result.live_bytes.push_back(context.allocator()->stats().live_bytes);
    result.live_nodes.push_back(Node::live());
    result.live_storages.push_back(Storage::live());
  }
  return result;
}

}  // namespace

TEST_CASE("a small net learns, with the losses of float64 on every target", "[nn][training]") {
  for (const bool adam : {false, true}) {
    Context reference({DeviceKind::Ref, 0});
    const std::vector<double> exact = train(reference, DType::Float64, adam).losses;
    CHECK(exact.back() < exact.front() / 4);
    on_each_device(adam ? "training with Adam" : "training with SGD", [&](Context& context) {
      const std::vector<double> losses = train(context, DType::Float32, adam).losses;
      // The first loss differs by rounding only: sums of up to 128 terms through four layers. A step of a
      // training that does not diverge passes the error on, at most doubled; below 0.1 % in any case.
      double bound = 4 * std::sqrt(128.0) * 1.2e-7 * exact.front();
      double worst = 0;
      for (std::size_t step = 0; step < losses.size(); ++step) {
        INFO("step " << step << ": " << losses[step] << ", float64 " << exact[step]);
        CHECK(std::abs(losses[step] - exact[step]) <= std::min(bound, 0.001 * exact.front()));
        worst = std::max(worst, std::abs(losses[step] - exact[step]));
        bound *= 2;
      }
      fmt::print("  {}: loss {:.4f} to {:.4f}, largest difference from float64 {:.1e}\n",
                 to_string(context.device().kind), losses.front(), losses.back(), worst);
    });
  }
}

TEST_CASE("a training step in steady state asks the system for no memory and leaves nothing behind",
          "[nn][training][memory]") {
  for (const bool adam : {false, true}) {
    on_each_device(adam ? "memory with Adam" : "memory with SGD", [&](Context& context) {
      const std::int64_t nodes = Node::live(), storages = Storage::live();
      const std::int64_t bytes = context.allocator()->stats().live_bytes;
      {
        const Training training = train(context, DType::Float32, adam);
        for (std::size_t step = 2; step < training.losses.size(); ++step) {
          INFO("step " << step);
          CHECK(training.system_allocations[step] == training.system_allocations[1]);
          CHECK(training.live_bytes[step] == training.live_bytes[1]);
          CHECK(training.live_storages[step] == training.live_storages[1]);
          CHECK(training.live_nodes[step] == nodes);
        }
      }
      CHECK(Node::live() == nodes);
      CHECK(Storage::live() == storages);
      CHECK(context.allocator()->stats().live_bytes == bytes);
    });
  }
}

TEST_CASE("the same training gives the same bits, whatever the number of threads", "[nn][training]") {
  for (const DeviceKind kind : device_kinds()) {
    INFO("on " << to_string(kind));
    Context one({kind, 0}, 1), three({kind, 0}, 3);
    CHECK(difference(train(three, DType::Float32, false).losses, train(one, DType::Float32, false).losses) ==
          "");
  }
}
