#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"

using namespace warpline;
using namespace warpline::test;
using kernels::NllBackward;
using kernels::NllForward;

namespace {

const Offers offers{true, true};

constexpr std::array<Reduction, 3> kReductions{Reduction::None, Reduction::Sum, Reduction::Mean};

std::int64_t loss_size(const NllArgs& args) {
  return args.reduction == Reduction::None ? args.outer * args.inner : 1;
}

// What a call is given; class_weight may be empty: null.
template <class T>
struct Problem {
  NllArgs args;
  Guarded<T> log_probability;
  Guarded<std::int64_t> target;
  Guarded<T> class_weight;
  Guarded<T> dloss{};

  const T* weight() const { return class_weight.size() == 0 ? nullptr : class_weight.data(); }
};

// {loss.., total weight} of a forward launch.
template <class T>
std::vector<double> forward_values(const Launch<NllForward>& forward, const Problem<T>& p) {
  auto loss = unwritten<T>(loss_size(p.args)), total = unwritten<T>(1);
  TargetError error;
  forward(p.log_probability.data(), p.target.data(), p.weight(), loss.data(), total.data(), &error, p.args);
  CHECK(error.row == -1);
  return outputs(loss, total).values;
}

template <class T>
std::vector<double> backward_values(const Launch<NllBackward>& backward, const Problem<T>& p,
                                    T total_weight) {
  auto dx = unwritten<T>(p.log_probability.size());
  const Guarded<T> total{total_weight};
  backward(p.dloss.data(), p.target.data(), p.weight(), total.data(), dx.data(), p.args);
  CHECK(dx.intact());
  return outputs(dx).values;
}

// Checks loss, total weight and gradient of each row.
template <class T>
void check_rows(const Problem<T>& p, const std::vector<double>& loss_and_total,
                const std::vector<double>& gradient) {
  const double tolerance = sum_tolerance<T>(0, 8);
  for_each_row<NllForward>(dtype_of<T>, p.args, [&](const auto& forward) {
    CHECK(first_difference(forward_values(forward, p), loss_and_total, tolerance) == "");
  });
  for_each_row<NllBackward>(dtype_of<T>, p.args, [&](const auto& backward) {
    CHECK(first_difference(backward_values(backward, p, static_cast<T>(loss_and_total.back())), gradient,
                           tolerance) == "");
  });
}

}  // namespace

TEMPLATE_TEST_CASE("weighted losses and gradients are PyTorch's", "[nll]", float, double) {
  Problem<TestType> p{{3, 3, 1}, {-1, -2, -3, -.5, -.25, -4, -2, -1, -.125}, {2, 0, 1}, {.5, 2, .25}};
  SECTION("mean divides by the weights of the targets") {
    p.dloss = {3};
    check_rows(p, {1.0909090909090908, 2.75},
               {0, 0, -0.2727272727272727, -0.5454545454545454, 0, 0, 0, -2.1818181818181817, 0});
  }
  SECTION("sum") {
    p.args.reduction = Reduction::Sum;
    p.dloss = {3};
    check_rows(p, {3, 2.75}, {0, 0, -0.75, -1.5, 0, 0, 0, -6, 0});
  }
  SECTION("none") {
    p.args.reduction = Reduction::None;
    p.dloss = {1, 2, 3};
    check_rows(p, {0.75, 0.25, 2, 2.75}, {0, 0, -0.25, -1, 0, 0, 0, -6, 0});
  }
}

TEMPLATE_TEST_CASE("an ignored row adds 0 and gets a gradient of 0, whatever it holds", "[nll]", float,
                   double) {
  const TestType inf = kInfOf<TestType>, nan = kNaNOf<TestType>;
  for (const std::int64_t ignored :
       {std::int64_t{-100}, std::int64_t{1}, std::int64_t{-7}, std::int64_t{1} << 40}) {
    INFO("ignore_index " << ignored);
    Problem<TestType> p{{3, 2, 1, ignored}, {-inf, -inf, -1, -2, nan, -inf}, {ignored, 0, ignored}, {}, {2}};
    check_rows(p, {1, 1}, {0, 0, -2, 0, 0, 0});
    p.args.reduction = Reduction::None;
    p.dloss = {5, 2, 5};
    check_rows(p, {0, 1, 0, 1}, {0, 0, -2, 0, 0, 0});
  }
}

TEMPLATE_TEST_CASE("all rows ignored: mean is NaN, sum 0, none zeros, every gradient 0", "[nll]", float,
                   double) {
  for (const Reduction reduction : kReductions) {
    Problem<TestType> p{{2, 3, 1, -100, reduction}, {-1, -2, -3, -1, -2, -3}, {-100, -100}, {}, {1, 1}};
    const std::vector<double> zeros(6, 0.0);
    if (reduction == Reduction::Mean) check_rows(p, {kNaN, 0}, zeros);
    if (reduction == Reduction::Sum) check_rows(p, {0, 0}, zeros);
    if (reduction == Reduction::None) check_rows(p, {0, 0, 0}, zeros);
  }
}

TEMPLATE_TEST_CASE("an empty batch: mean is NaN, sum 0", "[nll]", float, double) {
  check_rows(Problem<TestType>{{0, 3, 1}, {}, {}, {}, {1}}, {kNaN, 0}, {});
  check_rows(Problem<TestType>{{0, 3, 1, -100, Reduction::Sum}, {}, {}, {}, {1}}, {0, 0}, {});
  check_rows(Problem<TestType>{{0, 3, 1, -100, Reduction::None}, {}, {}, {}, {1}}, {0}, {});
}

TEMPLATE_TEST_CASE("a mean of total weight 0 is NaN, its gradient NaN at the targets only", "[nll]", float,
                   double) {
  const double nan = kNaN;
  check_rows(Problem<TestType>{{3, 3, 1}, {-1, -2, -3, -1, -2, -3, -1, -2, -3}, {0, 2, -100}, {0, 0, 0}, {1}},
             {nan, 0}, {nan, 0, 0, 0, 0, nan, 0, 0, 0});
}

TEMPLATE_TEST_CASE("weight 0 times -inf is NaN, and -inf off target touches nothing", "[nll]", float,
                   double) {
  const TestType inf = kInfOf<TestType>;
  Problem<TestType> p{{1, 2, 1, -100, Reduction::Sum}, {-inf, -2}, {0}, {0, 1}, {1}};
  check_rows(p, {kNaN, 0}, {0, 0});
  p.target = {1};
  check_rows(p, {2, 1}, {0, -1});
  p.class_weight = {};
  p.target = {0};
  check_rows(p, {inf, 1}, {-1, 0});
}

TEMPLATE_TEST_CASE("a target out of range is reported, the first one, before anything is written", "[nll]",
                   float, double) {
  for (const std::int64_t bad :
       {std::int64_t{-1}, std::int64_t{3}, std::int64_t{-100}, std::int64_t{1} << 33}) {
    for (const Reduction reduction : kReductions) {
      const NllArgs args{330, 3, 2, -5, reduction};
      const Guarded<TestType> log_probability(1980, -1);
      Guarded<std::int64_t> target(660, 2);
      target[0] = -5;
      target[401] = bad;
      target[599] = 77;
      target[401 + 256] = 78;  // met by the same thread of a warp or block
      for_each_row<NllForward>(dtype_of<TestType>, args, [&](const auto& forward) {
        Guarded<TestType> loss(loss_size(args), 42), total(1, 42);
        TargetError error;
        forward(log_probability.data(), target.data(), nullptr, loss.data(), total.data(), &error, args);
        CHECK(error.row == 401);
        CHECK(error.target == bad);
        CHECK(loss.values() == std::vector<TestType>(static_cast<std::size_t>(loss.size()), 42));
        CHECK(total[0] == 42);
      });
    }
  }
}

TEMPLATE_TEST_CASE("every row of nll equals ref", "[nll]", float, double) {
  constexpr std::array<AxisArgs, 9> kShapes{{{1, 1, 1},
                                             {64, 10, 1},
                                             {61, 10, 1},
                                             {5, 7, 13},
                                             {2, 3, 65},
                                             {4097, 5, 1},
                                             {70'000, 2, 1},
                                             {3, 4, 0},
                                             {0, 4, 3}}};
  Sweep<NllForward, TestType> forward;
  Sweep<NllBackward, TestType> backward;
  for (const AxisArgs& shape : kShapes) {
    for (const Reduction reduction : kReductions) {
      for (const bool weighted : {false, true}) {
        INFO(shape.outer << " x " << shape.classes << " x " << shape.inner << " reduction "
                         << static_cast<int>(reduction) << (weighted ? " weighted" : ""));
        const NllArgs args{shape.outer, shape.classes, shape.inner, -100, reduction};
        const std::int64_t rows = shape.outer * shape.inner;
        const auto log_probability = random_values<TestType>(rows * shape.classes, Data::Reals, 1);
        auto weights = random_values<TestType>(shape.classes, Data::Reals, 2);
        // In eighths: their sums are exact, where terms of one sign would round to one side, in `ref` as
        // well.
        for (TestType& weight : weights) weight = std::round(std::abs(weight) * 8) / 8 + TestType{0.5};
        const auto dloss = random_values<TestType>(std::max<std::int64_t>(rows, 1), Data::Reals, 3);
        Guarded<std::int64_t> target(rows);
        const auto random = random_values<std::uint32_t>(rows, Data::Integers, 4);
        for (std::int64_t i = 0; i < rows; ++i) {
          target[i] = random[i] % 11 == 0 ? -100 : static_cast<std::int64_t>(random[i]) % shape.classes;
        }
        const TestType* const weight = weighted ? weights.data() : nullptr;
        Guarded<TestType> total{TestType{0}};
        forward.check(args, sum_tolerance<TestType>(rows, 1.5), [&](const auto& launch) {
          auto loss = unwritten<TestType>(loss_size(args)), total_weight = unwritten<TestType>(1);
          TargetError error;
          launch(log_probability.data(), target.data(), weight, loss.data(), total_weight.data(), &error,
                 args);
          if (launch.row().target == DeviceKind::Ref) total[0] = total_weight[0];
          return outputs(loss, total_weight);
        });
        backward.check(args, sum_tolerance<TestType>(0, 1.5), [&](const auto& launch) {
          auto dx = unwritten<TestType>(rows * shape.classes);
          launch(dloss.data(), target.data(), weight, total.data(), dx.data(), args);
          return outputs(dx);
        });
      }
    }
  }
  forward.report();
  backward.report();
}
