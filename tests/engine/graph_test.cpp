#include "engine/graph.h"

#include <vector>

#include <catch2/catch.hpp>

#include "engine/ops/views.h"
#include "tests/engine/toy_ops.h"

using namespace warpline;
using namespace warpline::test;

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
