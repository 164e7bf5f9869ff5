#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"
#include "tests/support/sizes.h"

using namespace warpline;
using namespace warpline::test;
using kernels::Axpy;
using kernels::CountArgs;
using kernels::Fill;
using kernels::Scale;

namespace {
const Offers offers{true, true};
}

TEMPLATE_TEST_CASE("scale and axpy follow the arithmetic, also for a factor of 0", "[vector]", float,
                   double) {
  const TestType nan = kNaNOf<TestType>, inf = kInfOf<TestType>;
  const Guarded<TestType> x{2, nan, inf, -3};
  const CountArgs args{4, 0.0};
  for_each_row<Scale>(dtype_of<TestType>, args, [&](const auto& scale) {
    auto y = unwritten<TestType>(4);
    scale(x.data(), y.data(), args);
    CHECK(first_difference(outputs(y).values, {0, nan, nan, 0}, 0) == "");
  });
  for_each_row<Axpy>(dtype_of<TestType>, args, [&](const auto& axpy) {
    Guarded<TestType> y{5, 5, 5, 5};
    axpy(x.data(), y.data(), args);
    CHECK(first_difference(outputs(y).values, {5, nan, nan, 5}, 0) == "");
  });
}

TEMPLATE_TEST_CASE("every row of scale and axpy equals ref, scale in place too", "[vector]", float, double,
                   std::uint32_t) {
  Sweep<Scale, TestType> scale;
  Sweep<Axpy, TestType> axpy;
  for (const std::int64_t count : kSweepSizes) {
    for (const double alpha : {1.0, -3.0, 0.3}) {
      INFO(count << " elements, alpha " << alpha);
      const CountArgs args{count, alpha};
      const auto seed = static_cast<std::uint64_t>(count);
      const auto x = random_values<TestType>(count, Data::Reals, seed);
      const auto y = random_values<TestType>(count, Data::Reals, seed + 1);
      const double tolerance = sum_tolerance<TestType>(0, std::abs(alpha));
      scale.check(args, tolerance, [&](const auto& launch) {
        auto apart = unwritten<TestType>(count), in_place = x;
        launch(x.data(), apart.data(), args);
        launch(in_place.data(), in_place.data(), args);
        return outputs(apart, in_place);
      });
      axpy.check(args, tolerance, [&](const auto& launch) {
        auto result = y;
        launch(x.data(), result.data(), args);
        return outputs(result);
      });
    }
  }
  scale.report();
  axpy.report();
}

TEMPLATE_TEST_CASE("every row of fill equals ref", "[vector]", float, double, std::int64_t, std::int32_t,
                   std::uint8_t, std::uint32_t) {
  Sweep<Fill, TestType> sweep;
  for (const std::int64_t count : kSweepSizes) {
    INFO(count << " elements");
    for (const int value : {7, -1}) {  // -1 wraps in unsigned types
      const CountArgs args{count, static_cast<double>(value)};
      sweep.check(args, 0, [&](const auto& launch) {
        Guarded<TestType> y(count, 1, count % 2);
        launch(y.data(), args);
        CHECK(std::all_of(y.begin(), y.end(), [&](TestType v) { return v == static_cast<TestType>(value); }));
        return outputs(y);
      });
    }
  }
  sweep.report();
}
