#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"
#include "tests/support/sizes.h"

using namespace warpline;
using namespace warpline::test;
using kernels::CountArgs;
using kernels::ReluBackward;
using kernels::ReluForward;

namespace {
const Offers offers{true, true};
}

TEMPLATE_TEST_CASE("relu lets NaN and inf through and cuts the rest at 0", "[relu]", float, double) {
  const TestType nan = kNaNOf<TestType>, inf = kInfOf<TestType>;
  const Guarded<TestType> x{-1, nan, 0, -0.0F, 2, -inf, inf, -1e-30F, 1e-30F};
  const CountArgs args{x.size()};
  for_each_row<ReluForward>(dtype_of<TestType>, args, [&](const auto& relu) {
    auto y = unwritten<TestType>(x.size());
    relu(x.data(), y.data(), args);
    CHECK(first_difference(outputs(y).values, {0, nan, 0, 0, 2, 0, inf, 0, x[8]}, 0) == "");
  });
}

// The backward needs the output only: y of NaN is NaN, and !(y <= 0) holds for it.
TEMPLATE_TEST_CASE("the gradient of relu is selected, not multiplied", "[relu]", float, double) {
  const TestType nan = kNaNOf<TestType>, inf = kInfOf<TestType>;
  const Guarded<TestType> y{0, nan, 0, -0.0F, 2, 0, inf, 3};
  const Guarded<TestType> dy{nan, 3, 4, 5, 6, inf, 8, nan};
  const CountArgs args{y.size()};
  for_each_row<ReluBackward>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dx = unwritten<TestType>(y.size());
    backward(dy.data(), y.data(), dx.data(), args);
    CHECK(first_difference(outputs(dx).values, {0, 3, 0, 0, 6, 0, 8, nan}, 0) == "");
  });
}

TEMPLATE_TEST_CASE("every row of relu equals ref", "[relu]", float, double, std::uint32_t) {
  Sweep<ReluForward, TestType> forward;
  Sweep<ReluBackward, TestType> backward;
  for (const std::int64_t count : kSweepSizes) {
    INFO(count << " elements");
    const CountArgs args{count};
    const auto x = random_values<TestType>(count, Data::Integers, static_cast<std::uint64_t>(count));
    const auto dy = random_values<TestType>(count, Data::Reals, 2);
    forward.check(args, 0, [&](const auto& launch) {
      auto y = unwritten<TestType>(count);
      launch(x.data(), y.data(), args);
      return outputs(y);
    });
    backward.check(args, 0, [&](const auto& launch) {
      auto dx = unwritten<TestType>(count);
      launch(dy.data(), x.data(), dx.data(), args);
      return outputs(dx);
    });
  }
  forward.report();
  backward.report();
}
