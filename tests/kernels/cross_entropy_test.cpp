// The gradient of cross-entropy by the logits in one kernel equals that of log-softmax after that of NLL.
#include <array>
#include <cmath>

#include <catch2/catch.hpp>

#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"

using namespace warpline;
using namespace warpline::test;
using kernels::CrossEntropyBackward;

namespace {

const Offers offers{true, true};

constexpr std::array<Reduction, 3> kReductions{Reduction::None, Reduction::Sum, Reduction::Mean};

// Of each row of the table, for one loss gradient.
template <class T>
void check_rows(const NllArgs& args, const Guarded<T>& log_probability, const Guarded<std::int64_t>& target,
                const Guarded<T>& class_weight, T total_weight, const std::vector<double>& expected) {
  const Guarded<T> dloss(std::max<std::int64_t>(args.outer * args.inner, 1), T{1}), total{total_weight};
  for_each_row<CrossEntropyBackward>(dtype_of<T>, args, [&](const auto& launch) {
    auto dx = unwritten<T>(log_probability.size());
    launch(dloss.data(), log_probability.data(), target.data(),
           class_weight.size() == 0 ? nullptr : class_weight.data(), total.data(), dx.data(), args);
    CHECK(dx.intact());
    CHECK(first_difference(outputs(dx).values, expected, sum_tolerance<T>(0, 2)) == "");
  });
}

}  // namespace

TEMPLATE_TEST_CASE("softmax less one hot, weighted", "[cross_entropy]", float, double) {
  const auto half = static_cast<TestType>(-std::log(2.0)), quarter = 2 * half;
  const Guarded<TestType> y{half, quarter, quarter, quarter, half, quarter};
  check_rows<TestType>({2, 3, 1, -100, Reduction::Sum}, y, {0, 2}, {}, 2,
                       {-0.5, 0.25, 0.25, 0.25, 0.5, -0.75});
  check_rows<TestType>({2, 3, 1, -100, Reduction::Mean}, y, {0, 2}, {4, 1, 2}, 8,
                       {-0.25, 0.125, 0.125, 0.0625, 0.125, -0.1875});
}

TEMPLATE_TEST_CASE("an ignored row and a target out of range get 0, whatever the row holds",
                   "[cross_entropy]", float, double) {
  const TestType inf = kInfOf<TestType>, nan = kNaNOf<TestType>, half = static_cast<TestType>(-std::log(2.0));
  for (const std::int64_t unused :
       {std::int64_t{-7}, std::int64_t{-1}, std::int64_t{2}, std::int64_t{1} << 40}) {
    INFO("target " << unused);
    check_rows<TestType>({3, 2, 1, -7, Reduction::Sum}, {nan, -inf, half, half, nan, nan},
                         {unused, 1, unused}, {3, 1}, 1, {0, 0, 0.5, -0.5, 0, 0});
  }
  check_rows<TestType>({1, 2, 1, 1, Reduction::Sum}, {half, half}, {1}, {}, 1,
                       {0, 0});  // a class may be ignored
}

TEMPLATE_TEST_CASE("-inf off target gets 0; a mean of total weight 0 is NaN in its rows", "[cross_entropy]",
                   float, double) {
  const TestType inf = kInfOf<TestType>, half = static_cast<TestType>(-std::log(2.0));
  check_rows<TestType>({1, 2, 1, -100, Reduction::Sum}, {0, -inf}, {0}, {}, 1, {0, 0});
  check_rows<TestType>({2, 2, 1, -100, Reduction::Mean}, {half, half, half, half}, {0, -100}, {0, 0}, 0,
                       {kNaN, kNaN, 0, 0});
}

TEMPLATE_TEST_CASE("every row of cross_entropy equals ref, and the two gradients that it joins",
                   "[cross_entropy]", float, double) {
  constexpr std::array<AxisArgs, 8> kShapes{
      {{1, 1, 1}, {64, 10, 1}, {61, 10, 1}, {5, 7, 13}, {2, 3, 65}, {70'000, 2, 1}, {3, 4, 0}, {0, 4, 3}}};
  Sweep<CrossEntropyBackward, TestType> sweep;
  for (const AxisArgs& shape : kShapes) {
    for (const Reduction reduction : kReductions) {
      for (const bool weighted : {false, true}) {
        INFO(shape.outer << " x " << shape.classes << " x " << shape.inner << " reduction "
                         << static_cast<int>(reduction) << (weighted ? " weighted" : ""));
        const NllArgs args{shape.outer, shape.classes, shape.inner, -100, reduction};
        const std::int64_t rows = shape.outer * shape.inner, count = rows * shape.classes;
        const Stream& host = stream_of(DeviceKind::Ref, 1);
        const auto x = random_values<TestType>(count, Data::Reals, 1);
        Guarded<TestType> y(count);
        const auto softmax =
            kernels::kernel<kernels::LogSoftmaxForward>(DeviceKind::Ref, dtype_of<TestType>, shape);
        softmax(x.data(), y.data(), shape, host);
        auto weights = random_values<TestType>(shape.classes, Data::Reals, 2);
        for (TestType& weight : weights) weight = std::abs(weight);
        const TestType* const weight = weighted ? weights.data() : nullptr;
        const auto dloss = random_values<TestType>(std::max<std::int64_t>(rows, 1), Data::Reals, 3);
        const Guarded<TestType> total{TestType{3}};
        Guarded<std::int64_t> target(rows);
        const auto random = random_values<std::uint32_t>(rows, Data::Integers, 4);
        for (std::int64_t i = 0; i < rows; ++i) {
          target[i] = random[i] % 11 == 0 ? -100 : static_cast<std::int64_t>(random[i]) % shape.classes;
        }
        Outputs fused;
        sweep.check(args, sum_tolerance<TestType>(0, 3), [&](const auto& launch) {
          auto dx = unwritten<TestType>(count);
          launch(dloss.data(), y.data(), target.data(), weight, total.data(), dx.data(), args);
          if (launch.row().target == DeviceKind::Ref) fused = outputs(dx);
          return outputs(dx);
        });
        Guarded<TestType> dy(count), dx(count);
        kernels::kernel<kernels::NllBackward>(DeviceKind::Ref, dtype_of<TestType>, args)(
            dloss.data(), target.data(), weight, total.data(), dy.data(), args, host);
        kernels::kernel<kernels::LogSoftmaxBackward>(DeviceKind::Ref, dtype_of<TestType>, shape)(
            dy.data(), y.data(), dx.data(), shape, host);
        CHECK(first_difference(fused.values, outputs(dx).values, sum_tolerance<TestType>(0, 4)) == "");
      }
    }
  }
  sweep.report();
}
