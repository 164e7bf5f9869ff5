// Split backward: input gradients first, parameter gradients later, as zero-bubble schedules want it. Whole
// and split passes must agree to the last bit.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/autograd.h"
#include "engine/graph.h"
#include "engine/ops/views.h"
#include "kernels/error.h"
#include "tests/engine/toy_ops.h"
#include "tests/support/sinks.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

namespace {

// A stage: x is its boundary input; w is used twice, v only on a branch that x does not reach.
struct Stage {
  Context context{kRef};
  Tensor x, w, v, output, outside;

  Stage() {
    x = leaf(context, {0.1, 3e-7, -12.7});
    w = leaf(context, {1.0 / 3.0, 1e5, 0.7});
    v = leaf(context, {0.3, 1e-9, 5.1});
    x.set_name("x");
    w.set_name("w");
    v.set_name("v");
    outside = Tensor::from_host(context, std::vector<double>{0.9, -1e3, 1e-3}, {3});
  }
  void forward() {
    const Tensor h = exp(context, mul(context, x, w));
    const Tensor scale = exp(context, mul(context, v, w));
    const Tensor square = mul(context, h, h);
    output = add(context, mul(context, mul(context, h, w), scale), square);
  }
};

}  // namespace

TEST_CASE("a weight used twice has the same gradient with split and with whole backward, bit for bit",
          "[autograd]") {
  Stage whole, split;
  whole.forward();
  split.forward();
  BackwardOptions options;
  options.boundary = {whole.x};
  const auto expected = backward(whole.context, {whole.output}, {whole.outside}, options);
  PendingWeights pending;
  std::vector<std::string> names;
  LoggingSink sink(names);
  const auto found = backward_input(split.context, {split.output}, {split.outside}, {split.x}, pending);
  CHECK_FALSE(split.w.grad().defined());
  CHECK_FALSE(split.v.grad().defined());
  pending.run(split.context, &sink);
  CHECK(found[0].to_host<double>() == expected[0].to_host<double>());
  CHECK(grad_of(split.w) == grad_of(whole.w));
  CHECK(grad_of(split.v) == grad_of(whole.v));
  CHECK_FALSE(split.x.grad().defined());
  CHECK(names == std::vector<std::string>{"v", "w"});
}

TEST_CASE("the first half asks only for what leads to the boundary, the second for the rest", "[autograd]") {
  Context context(kRef);
  const Tensor x = leaf(context, {2.0}), w = leaf(context, {3.0}), v = leaf(context, {5.0});
  // x * w, and a branch v * v that only leads to a parameter
  const Tensor product = mul(context, x, w);
  const Tensor square = mul(context, v, v);
  const Tensor y = add(context, product, exp(context, square));
  PendingWeights pending;
  calls().clear();
  const auto gradients = backward_input(context, {y}, {Tensor()}, {x}, pending);
  CHECK(calls() == std::vector<std::string>{"add 10", "mul 10"});
  CHECK(gradients[0].item() == 3.0);
  calls().clear();
  pending.run(context);
  CHECK(calls() == std::vector<std::string>{"add 01", "exp 1", "mul 11", "mul 01"});
  CHECK(w.grad().item() == 2.0);
}

TEST_CASE("after the second half the micro-batch holds no memory", "[autograd]") {
  Context context(kRef);
  const Tensor w = leaf(context, std::vector<double>(50, 1.1));
  const auto nodes = Node::live(), storages = Storage::live();
  const auto bytes = context.allocator()->stats().live_bytes;
  PendingWeights pending;
  {
    const Tensor x = leaf(context, std::vector<double>(50, 0.5));
    const Tensor y = sum(context, exp(context, mul(context, mul(context, exp(context, x), w), w)));
    backward_input(context, {y}, {Tensor()}, {x}, pending);
    // exp needs nothing later: its output is gone. Each product keeps its other factor and its gradient.
    CHECK(retained_bytes(y) == 0);
  }
  CHECK(Node::live() == nodes + 3);  // the products, and the empty exp below them
  CHECK(context.allocator()->stats().live_bytes - bytes == 4 * 400);
  pending.run(context);
  CHECK(Node::live() == nodes);
  CHECK(Storage::live() == storages + 1);  // w's gradient
  CHECK(context.allocator()->stats().live_bytes - bytes == 400);
}

TEST_CASE("what is given up without the second half holds no memory either", "[autograd]") {
  Stage stage;
  const auto nodes = Node::live(), storages = Storage::live();
  {
    PendingWeights pending;
    stage.forward();
    backward_input(stage.context, {stage.output}, {stage.outside}, {stage.x}, pending);
    stage.output = Tensor();
    CHECK(Node::live() > nodes);
  }
  CHECK(Node::live() == nodes);
  CHECK(Storage::live() == storages);

  FullSink sink;
  PendingWeights pending;
  stage.forward();
  backward_input(stage.context, {stage.output}, {stage.outside}, {stage.x}, pending);
  stage.output = Tensor();
  CHECK_THROWS_AS(pending.run(stage.context, &sink), Failure);
  CHECK(Node::live() == nodes);
  CHECK(Storage::live() == storages);
}

TEST_CASE("pending weights run once, and are not overwritten", "[autograd]") {
  Stage stage;
  PendingWeights pending;
  CHECK_THROWS_WITH(pending.run(stage.context), Contains("no weight gradients are pending"));
  stage.forward();
  backward_input(stage.context, {stage.output}, {stage.outside}, {stage.x}, pending);
  const Tensor first = stage.output;
  stage.forward();
  CHECK_THROWS_WITH(backward_input(stage.context, {stage.output}, {stage.outside}, {stage.x}, pending),
                    Contains("still pending"));
  PendingWeights moved = std::move(pending);
  moved.run(stage.context);
  CHECK_THROWS_AS(moved.run(stage.context), AutogradError);
  CHECK_THROWS_WITH(backward(stage.context, {first}, {stage.outside}), Contains("second time"));
}

TEST_CASE("a change between the halves of what the second still needs is an error", "[autograd]") {
  Context context(kRef);
  const Tensor x = leaf(context, {2.0}), w = leaf(context, {3.0});
  const Tensor y = mul(context, x, w);
  PendingWeights pending;
  backward_input(context, {y}, {Tensor()}, {x}, pending);
  Tensor alias = x.detach();
  fill_(context, alias, 9.0);
  CHECK_THROWS_WITH(pending.run(context), Contains("mul") && Contains("changed in place"));
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("an empty boundary leaves everything to the second half", "[autograd]") {
  Stage whole, split;
  whole.forward();
  split.forward();
  backward(whole.context, {whole.output}, {whole.outside});
  PendingWeights pending;
  calls().clear();
  CHECK(backward_input(split.context, {split.output}, {split.outside}, {}, pending).empty());
  CHECK(calls().empty());
  pending.run(split.context);
  for (const auto& [a, b] : {std::pair{whole.x, split.x}, {whole.w, split.w}, {whole.v, split.v}}) {
    CHECK(grad_of(a) == grad_of(b));
  }
}

TEST_CASE("outputs that are leaves are split as well", "[autograd]") {
  Context context(kRef);
  const Tensor x = leaf(context, {2.0}), w = leaf(context, {3.0});
  const Tensor y = mul(context, x, w);
  PendingWeights pending;
  const auto gradients = backward_input(context, {x, w, y}, {}, {x}, pending);
  CHECK(gradients[0].item() == 4.0);
  pending.run(context);
  CHECK(w.grad().item() == 3.0);
}
