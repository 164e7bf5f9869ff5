// What a graph holds, when it lets go, and that no depth of it overruns a stack.
#include <exception>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <pthread.h>

#include "engine/autograd.h"
#include "kernels/emu/check/program.h"
#include "kernels/error.h"
#include "tests/engine/toy_ops.h"
#include "tests/support/sinks.h"

using namespace warpline;
using namespace warpline::test;

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
  FullSink sink;
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
  // Thread-local storage, the shared memory of emulated kernels, takes its place from the same bytes.
  const std::size_t thread_locals = emu::check::thread_local_block().bytes;
  REQUIRE(pthread_attr_setstacksize(&attributes, kSmallStack + thread_locals) == 0);
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
