#include "kernels/tolerance.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/options.h"
#include "tests/support/random_values.h"

using namespace warpline;
using namespace warpline::test;
using kernels::LogSoftmaxBackward;
using kernels::LogSoftmaxForward;

namespace {

const Offers offers{true, true};

// Results of size 1: eight roundings.
template <class T>
double few_roundings() {
  return sum_tolerance<T>(0, 1);
}

constexpr std::array<AxisArgs, 18> kShapes{{
    {0, 5, 1},
    {1, 1, 1},
    {3, 10, 1},
    {64, 10, 1},
    {7, 1000, 1},
    {2, 4097, 1},
    {70'000, 3, 1},
    {5, 7, 13},
    {2, 10, 49},
    {1, 17, 64},
    {3, 8, 65},
    {3, 4, 0},
    {1, 2, 70'000},
    {129, 33, 1},
    {3, 100, 7},
    {2, 1500, 3},
    {2, 1100, 40},
    {33'000, 32, 1},
}};

// Mostly mild rows, some of them with one entry far above or below: exp of it over- or underflows unless the
// maximum is taken off first.
template <class T>
Guarded<T> spiky(const AxisArgs& args, std::uint64_t seed) {
  auto x = random_values<T>(args.outer * args.classes * args.inner, Data::Reals, seed);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x[i] *= 5;
    if (i % 17 == 3) x[i] *= 200;
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("log-softmax does neither overflow nor underflow", "[log_softmax]", float, double) {
  const AxisArgs args{5, 2, 1};
  const TestType inf = kInfOf<TestType>;
  const Guarded<TestType> x{1e4F, 0, 3e38F, 3e38F, -inf, 1, 0, -2, -1e4F, -10002};
  for_each_row<LogSoftmaxForward>(dtype_of<TestType>, args, [&](const auto& log_softmax) {
    auto y = unwritten<TestType>(10);
    log_softmax(x.data(), y.data(), args);
    CHECK(first_difference(outputs(y).values,
                           {0, -1e4, -0.6931471805599453, -0.6931471805599453, -inf, 0, -0.1269280110429726,
                            -2.1269280110429727, -0.1269280110429726, -2.1269280110429727},
                           few_roundings<TestType>()) == "");
  });
}

TEMPLATE_TEST_CASE("a row of only -inf, or with +inf or NaN in it, is NaN throughout", "[log_softmax]", float,
                   double) {
  const TestType inf = kInfOf<TestType>, nan = kNaNOf<TestType>;
  const AxisArgs args{6, 3, 1};
  const Guarded<TestType> x{-inf, -inf, -inf, 1, inf, 2, 1, nan, 2, -inf, inf, 0, nan, -inf, inf, 1, 2, 3};
  for_each_row<LogSoftmaxForward>(dtype_of<TestType>, args, [&](const auto& log_softmax) {
    auto y = unwritten<TestType>(18);
    y[15] = y[16] = y[17] = 0;
    log_softmax(x.data(), y.data(), args);
    for (std::int64_t i = 0; i < 15; ++i) CHECK(std::isnan(y[i]));
    for (std::int64_t i = 15; i < 18; ++i) CHECK(std::isfinite(y[i]));  // the next row is not touched
  });
}

// The same corners in rows that a warp or a block shares: what is special stands in one thread's part only.
TEMPLATE_TEST_CASE("long rows do neither overflow nor underflow, and one NaN or inf spoils all of a row",
                   "[log_softmax]", float, double) {
  const TestType inf = kInfOf<TestType>, nan = kNaNOf<TestType>;
  for (const std::int64_t classes : {40, 1'100}) {
    const AxisArgs args{7, classes, 1};
    Guarded<TestType> x(7 * classes, -inf);
    auto expected = std::vector<double>(static_cast<std::size_t>(7 * classes), -inf);
    const auto row = [&](auto& values, std::int64_t r) { return values.begin() + r * classes; };
    const auto last = classes - 1;
    row(x, 0)[0] = row(x, 0)[last] = 3e38F;
    row(expected, 0)[0] = row(expected, 0)[last] = -0.6931471805599453;
    row(x, 1)[last] = 1e4F;
    row(x, 1)[35] = 0;
    row(expected, 1)[last] = 0;
    row(expected, 1)[35] = -1e4;
    row(x, 2)[last] = nan;
    row(x, 3)[last] = inf;
    row(x, 4)[33] = nan;
    row(x, 4)[34] = row(x, 4)[0] = 1;
    std::fill(row(expected, 2), row(expected, 6), kNaN);  // row 5: only -inf
    std::fill(row(x, 6), x.end(), TestType{2});
    std::fill(row(expected, 6), expected.end(), -std::log(static_cast<double>(classes)));
    for_each_row<LogSoftmaxForward>(dtype_of<TestType>, args, [&](const auto& log_softmax) {
      auto y = unwritten<TestType>(7 * classes);
      log_softmax(x.data(), y.data(), args);
      CHECK(first_difference(outputs(y).values, expected, sum_tolerance<TestType>(classes, 1)) == "");
    });
  }
}

TEMPLATE_TEST_CASE("the gradient of log-softmax is dy - exp(y) * sum(dy), finite at -inf", "[log_softmax]",
                   float, double) {
  const AxisArgs args{4, 2, 1};
  const Guarded<TestType> y{0,
                            -1e4F,
                            TestType(-0.6931471805599453),
                            TestType(-0.6931471805599453),
                            -kInfOf<TestType>,
                            0,
                            TestType(-0.1269280110429726),
                            TestType(-2.1269280110429727)};
  const Guarded<TestType> dy{1, 2, 3, -1, 0.5F, 1, 1, 0};
  for_each_row<LogSoftmaxBackward>(dtype_of<TestType>, args, [&](const auto& backward) {
    auto dx = unwritten<TestType>(8);
    backward(dy.data(), y.data(), dx.data(), args);
    CHECK(first_difference(outputs(dx).values,
                           {-2, 2, 2, -2, 0.5, -0.5, 0.11920292202211757, -0.11920292202211757},
                           few_roundings<TestType>()) == "");
  });
}

TEMPLATE_TEST_CASE("every row of log_softmax equals ref", "[log_softmax]", float, double) {
  Sweep<LogSoftmaxForward, TestType> forward;
  Sweep<LogSoftmaxBackward, TestType> backward;
  for (const AxisArgs& args : kShapes) {
    INFO(args.outer << " x " << args.classes << " x " << args.inner);
    const auto x = spiky<TestType>(args, 1);
    const std::int64_t size = x.size();
    auto y = unwritten<TestType>(size);
    kernels::kernel<LogSoftmaxForward>(DeviceKind::Ref, dtype_of<TestType>, args)(x.data(), y.data(), args,
                                                                                  {});
    double largest = 0;
    for (const TestType value : y) largest = std::max(largest, std::abs(double{value}));
    // log of a sum of `classes` terms relative to the largest, 1; then one rounding of the result.
    const double tolerance = sum_tolerance<TestType>(args.classes, 1) + sum_tolerance<TestType>(0, largest);
    forward.check(args, tolerance, [&](const auto& launch) {
      auto result = unwritten<TestType>(size);
      launch(x.data(), result.data(), args);
      return outputs(result);
    });
    const auto dy = random_values<TestType>(size, Data::Reals, 2);
    backward.check(args, sum_tolerance<TestType>(args.classes, 1), [&](const auto& launch) {
      auto dx = unwritten<TestType>(size);
      launch(dy.data(), y.data(), dx.data(), args);
      return outputs(dx);
    });
  }
  forward.report();
  backward.report();
}
