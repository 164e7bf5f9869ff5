// Backward over the recorded graph: the "Autograd" rows of PyTorch's behaviour, and the faults that tapes
// usually have.
#include "engine/autograd.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <pthread.h>

#include "engine/graph.h"
#include "engine/ops/views.h"
#include "kernels/error.h"
#include "tests/engine/toy_ops.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

namespace {

std::vector<double> grad_of(const Tensor& tensor) { return tensor.grad().to_host<double>(); }

void backward_of(Context& context, const Tensor& output, BackwardOptions options = {}) {
  backward(context, {output}, {Tensor()}, options);
}

// Logs leaves by name and passes their gradients on.
struct LoggingSink final : GradientSink {
  std::vector<std::string> names;
  void accept(Context& context, const Tensor& leaf, Tensor gradient) override {
    names.push_back(leaf.name());
    calls().push_back("sink " + leaf.name());
    AccumulateGrad().accept(context, leaf, std::move(gradient));
  }
};

}  // namespace

TEST_CASE("a diamond b + b*b + b at a = 3, b = 2a has gradient 28", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor two = Tensor::full(context, {}, 2.0, DType::Float64);
  const Tensor b = mul(context, a, two);
  const Tensor y = add(context, add(context, b, mul(context, b, b)), b);
  calls().clear();
  backward_of(context, y);
  CHECK(grad_of(a) == std::vector<double>{28.0});
  // The shared node ran once, and last.
  CHECK(calls() == std::vector<std::string>{"add 11", "add 11", "mul 11", "mul 10"});
}

TEST_CASE("gradients accumulate over backward calls", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0, -1.0, 0.5});
  backward_of(context, sum(context, mul(context, a, a)));
  CHECK(grad_of(a) == std::vector<double>{6.0, -2.0, 1.0});
  backward_of(context, sum(context, a));
  CHECK(grad_of(a) == std::vector<double>{7.0, -1.0, 2.0});
}

TEST_CASE("two passes over a retained graph give exactly double, with no stale interior gradients",
          "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {0.1, 0.7, -1.3});
  const Tensor b = exp(context, a);
  const Tensor y = sum(context, add(context, mul(context, b, b), b));
  BackwardOptions options;
  options.retain_graph = true;
  backward_of(context, y, options);
  std::vector<double> doubled = grad_of(a);
  for (double& value : doubled) value *= 2.0;
  backward_of(context, y);
  CHECK(grad_of(a) == doubled);
  CHECK_THROWS_WITH(backward_of(context, y), Contains("second time"));
}

TEST_CASE("backward twice through freed saved tensors is an error that names the op", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor y = mul(context, a, a);
  backward_of(context, y);
  CHECK_THROWS_AS(backward_of(context, y), AutogradError);
  CHECK_THROWS_WITH(backward_of(context, y), Contains("mul") && Contains("second time"));
  CHECK(grad_of(a) == std::vector<double>{6.0});
}

TEST_CASE("backward twice is fine where nothing was saved", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor y = add(context, a, a);
  backward_of(context, y);
  backward_of(context, y);
  CHECK(grad_of(a) == std::vector<double>{4.0});
}

TEST_CASE("backward of a non-scalar without a gradient is an error", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {1.0, 2.0});
  CHECK_THROWS_WITH(backward_of(context, add(context, a, a)),
                    Contains("[2]") && Contains("needs a gradient"));
  const Tensor one = leaf(context, {2.0}, {1, 1});
  backward_of(context, mul(context, one, one));  // one element of any shape will do
  CHECK(grad_of(one) == std::vector<double>{4.0});
}

TEST_CASE("backward without a graph is an error", "[autograd]") {
  Context context(kRef);
  const Tensor plain = Tensor::zeros(context, {}, DType::Float64);
  CHECK_THROWS_WITH(backward_of(context, plain), Contains("no graph"));
  const Tensor a = leaf(context, {1.0});
  Tensor y;
  {
    const NoGrad no_grad(context);
    y = mul(context, a, a);
  }
  CHECK_FALSE(y.requires_grad());
  CHECK_THROWS_WITH(backward_of(context, y), Contains("NoGrad"));
  CHECK(mul(context, a, a).requires_grad());
}

TEST_CASE("in-place on a leaf that needs gradients is an error while ops are recorded", "[autograd]") {
  Context context(kRef);
  Tensor a = leaf(context, {1.0, 2.0});
  a.set_name("conv1.weight");
  const auto version = a.storage()->version();
  CHECK_THROWS_WITH(fill_(context, a, 0.0),
                    Contains("leaf that needs gradients") && Contains("conv1.weight"));
  CHECK_THROWS_AS(scale_(context, a, 2.0), AutogradError);
  CHECK_THROWS_AS(add_into(context, a, a.detach()), AutogradError);
  CHECK_THROWS_AS(copy_into(context, a, a.detach()), AutogradError);
  Tensor view = reshape(context, a, {2, 1});
  CHECK_THROWS_WITH(fill_(context, view, 0.0), Contains("has history"));
  CHECK(a.to_host<double>() == std::vector<double>{1.0, 2.0});
  CHECK(a.storage()->version() == version);
  const NoGrad no_grad(context);
  fill_(context, a, 5.0);
  CHECK(a.to_host<double>() == std::vector<double>{5.0, 5.0});
  CHECK(a.storage()->version() == version + 1);
}

TEST_CASE("in-place on a saved tensor is an error that names op and versions, through views both ways",
          "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {1.0, 2.0, 3.0, 4.0});
  const auto changed = [&](auto save, auto change) {
    Tensor base = mul(context, a, a);  // version 0
    const Tensor y = save(base);
    {
      const NoGrad no_grad(context);
      change(base);
      change(base);
    }
    return y;
  };
  // Catch2 matchers refer to their operands, which must outlive the expression.
  const auto op = Contains("mul"), saved = Contains("version 0 was saved"),
             found = Contains("version 2 found");
  const auto expect = op && saved && found;
  const auto save_base = [&](Tensor& base) { return sum(context, mul(context, base, base)); };
  const auto save_view = [&](Tensor& base) {
    const Tensor view = narrow(context, base, 0, 2);
    return sum(context, mul(context, view, view));
  };
  const auto change_base = [&](Tensor& base) { fill_(context, base, 7.0); };
  const auto change_view = [&](Tensor& base) {
    Tensor view = narrow(context, base, 3, 1);
    scale_(context, view, 2.0);
  };
  CHECK_THROWS_WITH(backward_of(context, changed(save_base, change_base)), expect);
  CHECK_THROWS_WITH(backward_of(context, changed(save_base, change_view)), expect);
  CHECK_THROWS_WITH(backward_of(context, changed(save_view, change_base)), expect);
  CHECK_THROWS_WITH(backward_of(context, changed(save_view, change_view)), expect);
  CHECK_FALSE(a.grad().defined());
  // Nodes that saved nothing do not mind.
  backward_of(context, changed([&](Tensor& base) { return sum(context, base); }, [](Tensor&) {}));
  CHECK(grad_of(a) == std::vector<double>{2.0, 4.0, 6.0, 8.0});
}

TEST_CASE("a refused backward has delivered nothing", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {2.0}), b = leaf(context, {5.0});
  const Tensor inner = mul(context, a, a);
  Tensor outer = mul(context, inner, b);
  {
    const NoGrad no_grad(context);
    Tensor alias = a.detach();
    fill_(context, alias, 3.0);  // the deepest node's input
  }
  CHECK_THROWS_AS(backward_of(context, outer), AutogradError);
  CHECK_FALSE(a.grad().defined());
  CHECK_FALSE(b.grad().defined());
}

TEST_CASE("a leaf goes to the sink once, after its last contribution and no later", "[autograd]") {
  Context context(kRef);
  Tensor w = leaf(context, {2.0}), v = leaf(context, {3.0}), x = leaf(context, {5.0});
  w.set_name("w");
  v.set_name("v");
  x.set_name("x");
  const Tensor first = mul(context, mul(context, x, w), w);
  const Tensor y = mul(context, first, v);
  LoggingSink sink;
  BackwardOptions options;
  options.sink = &sink;
  calls().clear();
  backward_of(context, y, options);
  CHECK(calls() == std::vector<std::string>{"mul 11", "sink v", "mul 11", "mul 11", "sink x", "sink w"});
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
  LoggingSink sink;
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
  CHECK(sink.names == std::vector<std::string>{"w"});
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

TEST_CASE("several outputs: listed twice, one below another, or leaves themselves", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor h = mul(context, a, a);
  const Tensor y = mul(context, h, h);
  const auto constant = [&](double value) { return Tensor::full(context, {}, value, DType::Float64); };
  backward(context, {h, y, h, a}, {constant(1.0), constant(1.0), constant(10.0), constant(0.5)});
  // dy/dh = 18, so h gets 1 + 10 + 18, and a 29 * 6 + 0.5.
  CHECK(grad_of(a) == std::vector<double>{174.5});
}

TEST_CASE("outside gradients must fit their outputs", "[autograd]") {
  Context context(kRef), other(Device{DeviceKind::Ref, 1});
  const Tensor a = leaf(context, {1.0, 2.0});
  const Tensor y = add(context, a, a);
  CHECK_THROWS_AS(backward(context, {y}, {Tensor::zeros(context, {3}, DType::Float64)}), ShapeError);
  CHECK_THROWS_AS(backward(context, {y}, {Tensor::zeros(context, {2}, DType::Float32)}), DTypeError);
  CHECK_THROWS_AS(backward(context, {y}, {Tensor::zeros(other, {2}, DType::Float64)}), DeviceError);
  CHECK_THROWS_AS(backward(context, {y, y}, {Tensor::zeros(context, {2}, DType::Float64)}), AutogradError);
  CHECK_THROWS_WITH(backward(other, {y}, {}), Contains("ref:0") && Contains("ref:1"));
  CHECK_FALSE(a.grad().defined());
}

TEST_CASE("a node is asked only for gradients that somebody wants", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {3.0});
  const Tensor constant = Tensor::full(context, {}, 2.0, DType::Float64);
  const Tensor y = mul(context, constant, a);
  CHECK(y.node()->saved()[1]->defined() == false);  // a is needed for the constant's gradient only
  calls().clear();
  backward_of(context, y);
  CHECK(calls() == std::vector<std::string>{"mul 01"});
}

TEST_CASE("history is not lost through zero-size tensors", "[autograd]") {
  Context context(kRef);
  const Tensor a = leaf(context, {}, {0, 3});
  const Tensor empty =
      mul(context, reshape(context, narrow(context, a, 0, 0), {3, 0}), reshape(context, a, {3, 0}));
  REQUIRE(empty.requires_grad());
  backward_of(context, sum(context, empty));
  REQUIRE(a.grad().defined());
  CHECK(a.grad().shape() == Shape{0, 3});
}

TEST_CASE("nodes and storages are all gone after a step, also of a node that saves its own output",
          "[autograd]") {
  const auto nodes = Node::live(), storages = Storage::live();
  {
    Context context(kRef);
    const Tensor a = leaf(context, {0.5, 0.25});
    {
      const Tensor h = exp(context, a);
      CHECK(Node::live() == nodes + 1);
    }
    CHECK(Node::live() == nodes);  // a graph that never ran backward
    const auto before = Storage::live();
    {
      const Tensor loss = sum(context, mul(context, exp(context, a), a));
      backward_of(context, loss);
      // Whoever keeps the loss keeps no activation.
      CHECK(Storage::live() == before + 2);  // the loss and a's gradient
    }
    CHECK(Storage::live() == before + 1);
    CHECK(Node::live() == nodes);
  }
  CHECK(Storage::live() == storages);
}

TEST_CASE("a backward that throws leaks nothing", "[autograd]") {
  struct Throwing final : GradientSink {
    void accept(Context&, const Tensor&, Tensor) override { fail<Failure>("test", "the sink is full"); }
  } sink;
  Context context(kRef);
  const auto nodes = Node::live();
  const Tensor a = leaf(context, {0.5}), b = leaf(context, {0.5});
  const auto storages = Storage::live();
  {
    BackwardOptions options;
    options.sink = &sink;
    const Tensor y = mul(context, mul(context, a, b), b);
    CHECK_THROWS_AS(backward_of(context, y, options), Failure);
    CHECK(context.recording());
  }
  CHECK(Node::live() == nodes);
  CHECK(Storage::live() == storages);
}

TEST_CASE("a node that returns a gradient of the wrong size is a named failure", "[autograd]") {
  struct Wrong final : Node {
    std::string_view name() const override { return "wrong"; }
    std::vector<Tensor> backward(Context& context, const Tensor&, const std::vector<bool>&) override {
      return {Tensor::zeros(context, {2}, DType::Float64)};
    }
  };
  Context context(kRef);
  const Tensor a = leaf(context, {0.5});
  Tensor y = Tensor::zeros(context, {}, DType::Float64);
  record<Wrong>(context, y, {&a});
  CHECK_THROWS_WITH(backward_of(context, y), Contains("[wrong]") && Contains("[2]"));
}

namespace {

constexpr std::size_t kSmallStack = 128 * 1024;
constexpr int kChain = 1'000'000;

struct SmallStackResult {
  double gradient = 0.0;
  std::string error;
};

// A million ops: y = ((x + 0) * 1 + 0) * 1 ...: half of them save a tensor.
void* million_ops(void* argument) {
  auto& result = *static_cast<SmallStackResult*>(argument);
  try {
    Context context(kRef);
    const Tensor x = leaf(context, {1.0});
    const Tensor zero = Tensor::zeros(context, {}, DType::Float64);
    const Tensor one = Tensor::full(context, {}, 1.0, DType::Float64);
    for (int pass = 0; pass < 2; ++pass) {  // destroyed with its saved tensors, then after backward
      Tensor y = x;
      for (int i = 0; i < kChain; ++i) y = i % 2 == 0 ? add(context, y, zero) : mul(context, y, one);
      if (pass == 1) backward_of(context, y);
    }
    result.gradient = x.grad().item();
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a chain of a million ops builds, runs backward and is destroyed on a small stack", "[autograd]") {
  calls().clear();
  const auto nodes = Node::live(), storages = Storage::live();
  SmallStackResult result;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, kSmallStack) == 0);
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &attributes, million_ops, &result) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  CHECK(result.error.empty());
  CHECK(result.gradient == 1.0);
  CHECK(Node::live() == nodes);
  CHECK(Storage::live() == storages);
  calls() = {};
}

TEST_CASE("a graph prints one line a node in backward order", "[autograd]") {
  Context context(kRef);
  Tensor x = leaf(context, std::vector<double>(256, 1.0), {4, 64}),
         w = leaf(context, std::vector<double>(256));
  w.set_name("fc1.weight");
  const Tensor loss = sum(context, mul(context, flatten(context, x, 0), w));
  CHECK(print_graph(loss) ==
        "#3 sum <- #2; saves 0.0 KiB\n"
        "#2 mul <- #1, fc1.weight; saves 4.0 KiB\n"
        "#1 flatten <- tensor [4, 64]; saves 0.0 KiB\n");
}

TEST_CASE("retained bytes count a storage once", "[autograd]") {
  Context context(kRef);
  const Tensor x = leaf(context, std::vector<double>(10, 1.0));
  CHECK(retained_bytes(mul(context, x, x)) == 80);
  const Tensor half = narrow(context, x, 5, 5);
  CHECK(retained_bytes(mul(context, half, half)) == 80);  // the view keeps the whole storage
  const Tensor y = exp(context, x);
  CHECK(retained_bytes(mul(context, mul(context, y, y), x)) == 3 * 80);
  const Tensor loss = sum(context, mul(context, y, x));
  backward_of(context, loss);
  CHECK(retained_bytes(loss) == 0);
}
