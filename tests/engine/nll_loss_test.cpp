#include "engine/ops/nll_loss.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "engine/autograd.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/sum.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/not_finite.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};
// exp, log and sums of a few terms of magnitude up to 4, in float32.
constexpr double kTolerance = 32 * 1.2e-7;

struct Result {
  Shape shape;
  std::vector<double> loss, gradient;
};

using Loss = Tensor (*)(Context&, const Tensor&, const Tensor&, const Tensor&, const NllOptions&);

Result run(Loss loss, Context& context, const std::vector<double>& x, const Shape& shape,
           const std::vector<double>& target, const std::vector<double>& weight = {},
           const NllOptions& options = {}) {
  const Tensor input = make(context, x, shape).set_requires_grad();
  Shape target_shape = shape;
  target_shape.erase(target_shape.begin() + (shape.size() == 1 ? 0 : 1));
  const Tensor targets = make(context, target, target_shape, DType::Int64);
  const Tensor weights =
      weight.empty() ? Tensor() : make(context, weight, {static_cast<std::int64_t>(weight.size())});
  const Tensor y = loss(context, input, targets, weights, options);
  CHECK(y.shape() == nll_loss_shape(shape, target_shape, options));
  backward(context, {sum(context, y)}, {});
  return {y.shape(), values(y), values(input.grad())};
}

std::vector<double> halves(std::int64_t count) {
  std::vector<double> x = pattern(count, 1);
  for (double& value : x) value /= 2;
  return x;
}

const std::vector<double> kLogits = halves(12);

}  // namespace

// Numbers of PyTorch 1.13 for the same inputs.
TEST_CASE("cross_entropy and its gradient are PyTorch's", "[cross_entropy][op]") {
  on_each_device("cross_entropy literals", [](Context& context) {
    const Result mean = run(cross_entropy, context, kLogits, {4, 3}, {2, 0, 1, 2});
    CHECK(mean.shape.empty());
    CHECK(difference(mean.loss, {0.3163607355978899}, kTolerance) == "");
    CHECK(
        difference(mean.gradient,
                   {0.027791405575605284, 0.016856339558113234, -0.044647745133718525, -0.044647745133718525,
                    0.016856339558113234, 0.027791405575605284, 0.05780597440553726, -0.09286707019705939,
                    0.03506109579152212, 0.06118211776369941, 0.02250764329259511, -0.08368976105629455},
                   kTolerance) == "");

    const Result weighted = run(cross_entropy, context, kLogits, {4, 3}, {2, 0, 1, 2}, {.5, 1, 2});
    CHECK(difference(weighted.loss, {0.3220756282355906}, kTolerance) == "");
    CHECK(difference(weighted.gradient,
                     {0.04042386265542587, 0.02451831208452834, -0.06494217473995421, -0.016235543684988554,
                      0.006129578021132085, 0.010105965663856468, 0.042040708658572554, -0.0675396874160432,
                      0.025498978757470633, 0.08899217129265369, 0.0327383902437747, -0.12173056153642844},
                     kTolerance) == "");

    const Result none =
        run(cross_entropy, context, kLogits, {4, 3}, {2, 0, 1, 2}, {.5, 1, 2}, {Reduction::None, 0});
    CHECK(none.shape == Shape{4});
    CHECK(difference(none.loss, {0.39346819383923426, 0, 0.4643687841079449, 0.8152119288887608},
                     kTolerance) == "");
    CHECK(difference(none.gradient,
                     {0.22233124460484227, 0.13485071646490587, -0.3571819610697482, 0, 0, 0,
                      0.23122389762214904, -0.37146828078823757, 0.14024438316608848, 0.4894569421095953,
                      0.18006114634076087, -0.6695180884503564},
                     kTolerance) == "");

    const Result sum = run(cross_entropy, context, kLogits, {4, 3}, {2, 0, 1, 2}, {}, {Reduction::Sum, 2});
    CHECK(difference(sum.loss, {0.6611028810275621}, kTolerance) == "");
    CHECK(difference(sum.gradient,
                     {0, 0, 0, -0.1785909805348741, 0.06742535823245294, 0.11116562230242114,
                      0.23122389762214904, -0.37146828078823757, 0.14024438316608848, 0, 0, 0},
                     kTolerance) == "");

    const Result one = run(cross_entropy, context, {1, 2, 3}, {3}, {2});  // log(1 + 1/e + 1/e^2)
    CHECK(one.shape.empty());
    CHECK(difference(one.loss, {0.4076059644443803}, kTolerance) == "");
    CHECK(difference(one.gradient, {0.09003057317038046, 0.24472847105479767, -0.3347590442251782},
                     kTolerance) == "");

    const Result planes = run(cross_entropy, context, kLogits, {2, 3, 2}, {0, 2, 1, 1}, {.5, 1, 2});
    CHECK(difference(planes.loss, {1.8891777875951392}, kTolerance) == "");
    CHECK(difference(planes.gradient,
                     {-0.09875937529973097, 0.029966825881090186, 0.09126766882945843, 0.3650706753178337,
                      0.0074917064702725465, -0.3950375011989239, 0.08525594026456683, 0.04709812391490787,
                      -0.17051188052913363, -0.17512409830731435, 0.08525594026456683, 0.12802597439240646},
                     kTolerance) == "");
  });
}

TEST_CASE("the mean divides by the weights of the counted targets", "[nll_loss][op]") {
  on_each_device("nll_loss weighted mean", [](Context& context) {
    const Result result = run(nll_loss, context, {-1, -2, -3, -4, -5, -6}, {3, 2}, {1, -100, 0}, {3, 1});
    CHECK(difference(result.loss, {(1 * 2 + 3 * 5) / 4.0}) == "");
    CHECK(difference(result.gradient, {0, -0.25, 0, 0, -0.75, 0}) == "");
  });
}

TEST_CASE("an ignored row adds 0 and gets gradient 0, whatever it holds", "[nll_loss][op]") {
  on_each_device("nll_loss ignored", [](Context& context) {
    for (const std::int64_t ignored : {std::int64_t{-100}, std::int64_t{1}, std::int64_t{1} << 40}) {
      for (const Reduction reduction : {Reduction::Mean, Reduction::Sum}) {
        const Result result = run(nll_loss, context, {-1, -2, -3, -kInf, -kInf, kNaN}, {2, 3},
                                  {0, static_cast<double>(ignored)}, {}, {reduction, ignored});
        CHECK(difference(result.loss, {1}) == "");
        CHECK(difference(result.gradient, {-1, 0, 0, 0, 0, 0}) == "");
      }
    }
    const std::vector<double> x{-1, -2, -3, -4};
    const std::vector<double> zeros(4, 0.0);
    const Result mean = run(nll_loss, context, x, {2, 2}, {-100, -100});
    CHECK(difference(mean.loss, {kNaN}) == "");
    CHECK(difference(mean.gradient, zeros) == "");
    const Result sum = run(nll_loss, context, x, {2, 2}, {-100, -100}, {}, {Reduction::Sum});
    CHECK(difference(sum.loss, {0}) == "");
    CHECK(difference(sum.gradient, zeros) == "");
    const Result none = run(nll_loss, context, x, {2, 2}, {-100, -100}, {}, {Reduction::None});
    CHECK(difference(none.loss, {0, 0}) == "");
    CHECK(difference(none.gradient, zeros) == "");
  });
}

TEST_CASE("a total weight of 0 makes the mean NaN, and the gradient at the targets", "[nll_loss][op]") {
  on_each_device("nll_loss weight 0", [](Context& context) {
    const Result result = run(nll_loss, context, {-1, -2, -3, -4, -5, -6}, {2, 3}, {0, 2}, {0, 1, 0});
    CHECK(difference(result.loss, {kNaN}) == "");
    CHECK(difference(result.gradient, {kNaN, 0, 0, 0, 0, kNaN}) == "");
    for (const Reduction reduction : {Reduction::Sum, Reduction::None}) {
      const Result infinite = run(nll_loss, context, {-kInf, 1}, {1, 2}, {0}, {0, 1}, {reduction});
      CHECK(difference(infinite.loss, {kNaN}) == "");
    }
  });
}

TEST_CASE("-inf off target never touches the loss", "[cross_entropy][op]") {
  on_each_device("cross_entropy -inf", [](Context& context) {
    const Result result =
        run(cross_entropy, context, {1, -kInf, 1, -kInf, 0, -kInf}, {2, 3}, {2, 1}, {}, {Reduction::Sum});
    CHECK(difference(result.loss, {std::log(2.0)}, kTolerance) == "");
    CHECK(difference(result.gradient, {0.5, 0, -0.5, 0, 0, 0}, kTolerance) == "");
  });
}

TEST_CASE("nll_loss of nothing: mean NaN, sum 0", "[nll_loss][op]") {
  on_each_device("nll_loss empty", [](Context& context) {
    for (const Shape& shape : {Shape{0, 3}, Shape{2, 3, 0}, Shape{0, 3, 4}}) {
      CHECK(difference(run(nll_loss, context, {}, shape, {}).loss, {kNaN}) == "");
      CHECK(difference(run(cross_entropy, context, {}, shape, {}).loss, {kNaN}) == "");
      CHECK(difference(run(nll_loss, context, {}, shape, {}, {}, {Reduction::Sum}).loss, {0}) == "");
      CHECK(run(nll_loss, context, {}, shape, {}, {}, {Reduction::None}).loss.empty());
    }
    CHECK(difference(run(nll_loss, context, {}, {2, 0}, {-100, -100}, {}, {Reduction::Sum}).loss, {0}) == "");
    const Result single = run(nll_loss, context, {-1, -2, -3}, {3}, {1}, {}, {Reduction::None});
    CHECK(single.shape.empty());
    CHECK(difference(single.loss, {2}) == "");
    CHECK(difference(single.gradient, {0, -1, 0}) == "");
  });
}

TEST_CASE("gradients of both losses agree with central differences", "[nll_loss][op][gradcheck]") {
  const std::vector<double> target{0, 2, 3, -100, 1, 1}, weight{0.5, 2, 1, 3};
  for (const Loss loss : {Loss{nll_loss}, Loss{cross_entropy}}) {
    for (const Reduction reduction : {Reduction::None, Reduction::Sum, Reduction::Mean}) {
      CHECK(gradcheck(fmt::format("{} reduction {}", loss == Loss{nll_loss} ? "nll_loss" : "cross_entropy",
                                  static_cast<int>(reduction)),
                      [&](Context& context, const std::vector<Tensor>& in) {
                        return loss(context, in[0], make(context, target, {2, 3}, DType::Int64),
                                    make(context, weight, {4}, DType::Float64), {reduction});
                      },
                      {{noise(24, 1), {2, 4, 3}}}) == "");
    }
  }
}

TEST_CASE("a bad target is refused by row, target and class count", "[nll_loss][op][errors]") {
  on_each_device("nll_loss bad targets", [](Context& context) {
    for (const Reduction reduction : {Reduction::None, Reduction::Sum, Reduction::Mean}) {
      const auto call = [&](Loss loss, const Shape& shape, const std::vector<double>& target) {
        return [&context, reduction, loss, shape, target] {
          Shape target_shape = shape;
          target_shape.erase(target_shape.begin() + 1);
          loss(context, Tensor::zeros(context, shape), make(context, target, target_shape, DType::Int64), {},
               {reduction, 7});
          context.synchronize();  // a device tells then
        };
      };
      CHECK(error_of<ValueError>(call(nll_loss, {3, 4}, {0, 4, 9})) ==
            "[nll_loss] a target must lie in 0..3 or be the ignored 7: row 1 holds 4, for 4 classes");
      CHECK(error_of<ValueError>(call(cross_entropy, {2, 4, 3}, {0, 7, 1, 2, -1, 3})) ==
            "[nll_loss] a target must lie in 0..3 or be the ignored 7: row 4 holds -1, for 4 classes");
      CHECK(error_of<ValueError>(call(nll_loss, {1, 0}, {0})) ==
            "[nll_loss] a target must lie in 0..-1 or be the ignored 7: row 0 holds 0, for 0 classes");
    }
  });
}

TEST_CASE("nll_loss refuses bad shapes and types, alike on each target", "[nll_loss][op][errors]") {
  on_each_device("nll_loss errors", [](Context& context) {
    const auto call = [&](const Shape& x, const Tensor& target, const Tensor& weight = {}) {
      return [&context, x, target, weight] { nll_loss(context, Tensor::zeros(context, x), target, weight); };
    };
    const Tensor two = Tensor::zeros(context, {2}, DType::Int64);
    CHECK(error_of<ShapeError>(call({3, 4}, two)) ==
          "[nll_loss] input [3, 4] takes a target of shape [3]: it is [2]");
    CHECK(error_of<ShapeError>(call({2, 4, 5}, two)) ==
          "[nll_loss] input [2, 4, 5] takes a target of shape [2, 5]: it is [2]");
    CHECK(error_of<ShapeError>(call({}, two)) ==
          "[nll_loss] input must be C, N, C or N, C, d1, ..: it is a scalar");
    CHECK(error_of<ShapeError>(call({2, 4}, two, Tensor::zeros(context, {3}))) ==
          "[nll_loss] weight must have shape [4]: it has [3]");
    CHECK(error_of<DTypeError>(call({2, 4}, Tensor::zeros(context, {2}))) ==
          "[nll_loss] target must be int64: it is float32");
    CHECK_THAT(error_of<AutogradError>(call({2, 4}, two, Tensor::zeros(context, {4}).set_requires_grad())),
               Catch::Contains("weight gets no gradient"));
  });
}
