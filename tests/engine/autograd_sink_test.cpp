// Where gradients of leaves go: to the sink, once and without sharing memory, or back to the caller of a
// boundary.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/autograd.h"
#include "tests/engine/toy_ops.h"
#include "tests/support/sinks.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

TEST_CASE("a leaf goes to the sink once, after its last contribution and no later", "[autograd]") {
  Context context(kRef);
  Tensor w = leaf(context, {2.0}), v = leaf(context, {3.0}), x = leaf(context, {5.0});
  w.set_name("w");
  v.set_name("v");
  x.set_name("x");
  const Tensor first = mul(context, mul(context, x, w), w);
  const Tensor y = mul(context, first, v);
  LoggingSink sink(calls());
  BackwardOptions options;
  options.sink = &sink;
  calls().clear();
  backward_of(context, y, options);
  CHECK(calls() == std::vector<std::string>{"mul 11", "v", "mul 11", "mul 11", "x", "w"});
  CHECK(grad_of(w) == std::vector<double>{60.0});
  CHECK(grad_of(v) == std::vector<double>{20.0});
  CHECK(grad_of(x) == std::vector<double>{12.0});
}

TEST_CASE("a sink that edits a gradient in place does not alter a sibling branch", "[autograd]") {
  struct Editing final : GradientSink {
    void accept(Context& context, const Tensor& leaf, Tensor gradient) override {
      scale_(context, gradient, 100.0);
      AccumulateGrad().accept(context, leaf, std::move(gradient));
    }
  } sink;
  BackwardOptions options;
  options.sink = &sink;
  Context context(kRef);
  const Tensor a = leaf(context, {1.0, 1.0}), b = leaf(context, {1.0, 1.0}), c = leaf(context, {3.0, 3.0});
  const Tensor y = add(context, add(context, a, b), mul(context, c, c));
  const Tensor outside = Tensor::full(context, {2}, 1.0, DType::Float64);
  backward(context, {y}, {outside}, options);
  CHECK(grad_of(a) == std::vector<double>{100.0, 100.0});
  CHECK(grad_of(b) == std::vector<double>{100.0, 100.0});
  CHECK(grad_of(c) == std::vector<double>{600.0, 600.0});
  CHECK(outside.to_host<double>() == std::vector<double>{1.0, 1.0});
}

TEST_CASE("adding up one branch does not alter a sibling that got the same tensor", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {1.0}), b = leaf(context, {1.0});
  const Tensor p = exp(context, a), q = exp(context, b);
  const Tensor r = add(context, p, q);  // hands one tensor to both
  const Tensor y = add(context, add(context, r, p), q);
  const Tensor outside = Tensor::full(context, {}, 1.0, DType::Float64);
  backward(context, {y}, {outside});
  CHECK(grad_of(a)[0] == 2.0 * p.item());
  CHECK(grad_of(b)[0] == 2.0 * q.item());
  CHECK(outside.item() == 1.0);
  // Leaf gradients that came from one tensor are two tensors.
  CHECK(a.grad().storage() != b.grad().storage());
}

TEST_CASE("boundary leaves are returned in order and do not reach the sink", "[autograd]") {
  Context context(kRef);
  Tensor x = leaf(context, {2.0}), skip = leaf(context, {7.0}), w = leaf(context, {3.0});
  w.set_name("w");
  const Tensor integers = Tensor::from_host(context, std::vector<std::int64_t>{1}, {1});
  const Tensor unused = leaf(context, {1.0});
  const Tensor y = add(context, mul(context, x, w), skip);
  std::vector<std::string> names;
  LoggingSink sink(names);
  BackwardOptions options;
  options.boundary = {skip, integers, x, unused, Tensor()};
  options.sink = &sink;
  const Tensor outside = Tensor::full(context, {}, 0.5, DType::Float64);
  const std::vector<Tensor> gradients = backward(context, {y}, {outside}, options);
  REQUIRE(gradients.size() == 5);
  CHECK(gradients[0].item() == 0.5);
  CHECK_FALSE(gradients[1].defined());
  CHECK(gradients[2].item() == 1.5);
  CHECK_FALSE(gradients[3].defined());
  CHECK_FALSE(gradients[4].defined());
  CHECK(names == std::vector<std::string>{"w"});
  CHECK_FALSE(x.grad().defined());
  CHECK(gradients[0].storage() != outside.storage());
}

TEST_CASE("a boundary that is not a leaf, or listed twice, is refused", "[autograd]") {
  Context context(kRef);
  const Tensor x = leaf(context, {2.0});
  const Tensor h = mul(context, x, x);
  BackwardOptions options;
  options.boundary = {h};
  CHECK_THROWS_WITH(backward_of(context, exp(context, h), options), Contains("mul") && Contains("detach()"));
  options.boundary = {x, x};
  CHECK_THROWS_WITH(backward_of(context, exp(context, h), options), Contains("twice"));
}
