// What an in-place change may not touch, and that a refused backward has done nothing.
#include <vector>

#include <catch2/catch.hpp>

#include "engine/inplace.h"
#include "engine/ops/views.h"
#include "kernels/error.h"
#include "tests/engine/toy_ops.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

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
